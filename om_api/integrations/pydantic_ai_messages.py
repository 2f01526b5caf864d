"""Messages of Pydantic AI as ours, and ours as its own."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from om_api.context import Context
from om_api.domain.messages import Message
from om_api.domain.vendors.ours import Part, arguments, attachment, kind_of, text, tool_call, tool_result
from om_api.integrations.importing import importing
from om_api.integrations.turn import HeldItems, kept_as

with importing("pydantic-ai-slim", "pydantic-ai"):
    from pydantic_ai.messages import (
        BinaryContent,
        CachePoint,
        ImageUrl,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )


def held(message: ModelMessage) -> Iterator[HeldItems]:
    """A response as one, and each part of a request by itself; what is nobody's words is shown and not kept."""
    if isinstance(message, ModelResponse):
        parts = [part for each in message.parts for part in _parts(each)]
        kept = message.state != "suspended" and (parts or not message.parts)
        yield HeldItems(
            (message,), (_kept("assistant", parts, message.timestamp if message.run_id else None),) if kept else ()
        )
        return
    for each in message.parts:
        item = message if len(message.parts) == 1 else replace(message, parts=[each])
        parts = _parts(each)
        role = "tool" if parts and parts[0]["type"] == "tool-result" else "user"
        at = getattr(each, "timestamp", None) if message.run_id else None
        yield HeldItems((item,), (_kept(role, parts, at),) if parts else ())


def _kept(role: str, parts: list[Part], at: Any) -> Message:
    """By when it was said and what it says, or which call it answers: both are in a history that was stored and read again."""
    says = parts[0].get("tool_call_id") if role == "tool" else parts
    name = msgspec.json.encode([role, at.timestamp(), says]).decode() if at else None
    only = len(parts) == 1 and parts[0].keys() == {"type", "text"} and parts[0]["type"] == "text"
    return kept_as({"role": role, "content": parts[0]["text"] if only else parts}, name)


def _parts(part: Any) -> list[Part]:
    """A part of a request or response, as we keep it; nothing of what is an instruction, or a framework's own note."""
    return _KINDS.get(part.part_kind, lambda _: [])(part)


def _call(part: Any) -> list[Part]:
    return [tool_call(part.tool_name, arguments(part.args), part.tool_call_id)]


def _return(part: Any) -> list[Part]:
    said = part.content_items(mode="str", wrap_if_error=False)
    return [_result(part, said, failed=part.outcome in ("failed", "retried"))]


def _retry(part: Any) -> list[Part]:
    said = part.model_response()
    return [_result(part, [said], failed=True)] if getattr(part, "tool_name", None) else [text(said)]


def _prompt(part: Any) -> list[Part]:
    said = [part.content] if isinstance(part.content, str) else part.content
    return [_said(each) for each in said if not isinstance(each, CachePoint)]


def _result(part: Any, said: list[Any], *, failed: bool) -> Part:
    whole = "\n".join(said) if all(isinstance(each, str) for each in said) else [*map(_said, said)]
    return tool_result(whole, part.tool_call_id, part.tool_name, failed=failed)


def _said(said: Any) -> Part:
    """A text, or a file that is shown or named."""
    if isinstance(said, str):
        return text(said)
    if hasattr(said, "content"):
        return text(said.content)
    if isinstance(said, BinaryContent):
        return attachment(kind_of(said.media_type), url=said.data_uri, mime=said.media_type)
    if hasattr(said, "file_id"):
        return attachment("file", file_id=said.file_id)
    return attachment("image" if isinstance(said, ImageUrl) else "file", url=said.url)


_KINDS: dict[str, Callable[[Any], list[Part]]] = {
    "text": lambda part: [text(part.content)],
    "speech": lambda part: [text(part.content)],
    "thinking": lambda part: [{"type": "reasoning", "text": part.content}] if part.content else [],
    "file": lambda part: [_said(part.content)],
    "tool-call": _call,
    "builtin-tool-call": _call,
    "tool-return": _return,
    "builtin-tool-return": _return,
    "retry-prompt": _retry,
    "retry-feedback": _retry,
    "user-prompt": _prompt,
}


def rendered(context: Context) -> list[Any]:
    """What a context holds, as requests and responses."""
    names: dict[str, str] = {}
    return [_message(each, names) for each in context.as_openai(plain=True)]


def _message(given: dict[str, Any], names: dict[str, str]) -> ModelMessage:
    """A message of a chat as a request or response; `names` of tools, by the ids of their calls."""
    role, content = given["role"], given["content"]
    if role == "assistant":
        calls = [(each["id"], each["function"]) for each in given.get("tool_calls", ())]
        names |= {name: function["name"] for name, function in calls}
        said = [TextPart(content)] if content else []
        return ModelResponse([*said, *(ToolCallPart(each["name"], each["arguments"], name) for name, each in calls)])
    if role == "tool":
        name = given["tool_call_id"]
        return ModelRequest([ToolReturnPart(names[name], content, name)])
    if role == "system":
        return ModelRequest([SystemPromptPart(content)])
    return ModelRequest([UserPromptPart(content if isinstance(content, str) else [*map(_shown, content)])])


def _shown(part: dict[str, Any]) -> Any:
    if part["type"] == "text":
        return part["text"]
    url = part["image_url"]["url"]
    return BinaryContent.from_data_uri(url) if url.startswith("data:") else ImageUrl(url)
