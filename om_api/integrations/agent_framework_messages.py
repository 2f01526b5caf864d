"""Messages of Microsoft Agent Framework as ours, and ours as its own."""

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from typing import Any
from uuid import uuid4

from om_api.context import Context
from om_api.domain.vendors.ours import Part, arguments, attachment, kind_of, text, tool_call, tool_result
from om_api.integrations.importing import importing
from om_api.integrations.turn import HeldItems, kept_as

with importing("agent-framework-core", "agent-framework"):
    from agent_framework import Content, Message

_REPLIES = ("assistant", "tool")
_NAME = "cortex_om_id"  # in the properties of a message, which stay within the framework and its stored histories


def named(messages: Sequence[Message]) -> list[Message]:
    """What a run is given, with names that a history keeps; a whole history that its caller sends is known by its words."""
    if any(each.role == "assistant" for each in messages):
        return [*messages]
    copies = [copy(each) for each in messages]
    for each in copies:
        each.additional_properties = {_NAME: uuid4().hex, **each.additional_properties}
    return copies


def held_of(messages: Sequence[Message], foreign: Collection[str] = ()) -> list[HeldItems]:
    """Messages, each as one; what is nobody's words is shown and not kept, nor what comes from the sources named `foreign`.

    What follows a message with a name is named after it: in the run as in the history that has it later.
    """
    held, before, n = list[HeldItems](), "", 0
    for each in messages:
        parts = [*_parts(each)] if each.role != "system" and _source(each) not in foreign else []
        own = each.additional_properties.get(_NAME)
        before, n = (own, 0) if own else (before, n + 1) if each.role in _REPLIES else ("", 0) if parts else (before, n)
        only = parts[0]["text"] if len(parts) == 1 and parts[0].keys() == {"type", "text"} else parts
        name = f"{before}.{n}" if before else None
        said = {"role": each.role, "content": only, "name": each.author_name}
        held.append(HeldItems((each,), (kept_as(said, name),) if parts else ()))
    return held


def _source(message: Message) -> str | None:
    found: str | None = message.additional_properties.get("_attribution", {}).get("source_id")
    return found


def _parts(message: Message) -> Iterator[Part]:
    """What a message says, as we keep it: nothing of usage, approvals, or what a service's own tools did."""
    for each in message.contents:
        match each.type:
            case "text":
                yield text(each.text)
            case "text_reasoning" if each.text:
                yield {"type": "reasoning", "text": each.text}
            case "function_call":
                yield tool_call(each.name, arguments(each.arguments), each.call_id)
            case "function_result":
                yield tool_result(each.result, each.call_id, failed=bool(each.exception))
            case "data" | "uri":
                yield attachment(kind_of(each.media_type), url=each.uri, mime=each.media_type)
            case "hosted_file":
                yield attachment("file", file_id=each.file_id)


def rendered(context: Context) -> list[Any]:
    """What a context holds, as the framework's messages."""
    return [_message(each) for each in context.as_openai(plain=True)]


def _message(given: dict[str, Any]) -> Message:
    role, content = given["role"], given["content"]
    if role == "tool":
        return Message("tool", [Content.from_function_result(given["tool_call_id"], result=content)])
    said = [content] if isinstance(content, str) else [*map(_shown, content or ())]
    calls = [(each["id"], each["function"]) for each in given.get("tool_calls", ())]
    asked = [Content.from_function_call(name, made["name"], arguments=made["arguments"]) for name, made in calls]
    return Message(role, [*said, *asked])


def _shown(part: dict[str, Any]) -> Content | str:
    if part["type"] == "text":
        return str(part["text"])
    return Content.from_uri(part["image_url"]["url"], media_type=_media_type(part["image_url"]["url"]))


def _media_type(url: str) -> str:
    return url[5:].partition(";")[0] if url.startswith("data:") else "image/*"
