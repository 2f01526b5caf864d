"""Messages of Agno as ours, and ours as its own."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from om_api.context import Context
from om_api.domain.vendors.ours import Part, attachment, data_url
from om_api.integrations.importing import importing
from om_api.integrations.turn import HeldItems, ModelView, kept_as

with importing("agno", "agno"):
    from agno.media import Image
    from agno.models.message import Message

_SYSTEM = ("system", "developer")


def held(message: Message) -> HeldItems:
    """A message, by its id; instructions, and what helps a model once, are shown and not kept."""
    if message.role in _SYSTEM or message.temporary:
        return HeldItems((message,))
    return HeldItems((message,), (kept_as(_given(message), message.id),))


def _given(message: Message) -> dict[str, Any]:
    content = message.content if isinstance(message.content, list) else message.get_content_string()
    if message.role == "tool":
        result = {"tool_call_id": message.tool_call_id, "name": message.tool_name, "result": content}
        return {
            "role": "tool",
            "content": [{"type": "tool-result", **result, "is_error": bool(message.tool_call_error)}],
        }
    if message.role == "assistant":
        return {"role": "assistant", "content": content, "tool_calls": message.tool_calls}
    attached = [*_media("image", message.images), *_media("file", message.files), *_media("file", message.audio)]
    said = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    return {"role": "user", "content": [*said, *attached] if attached else content, "name": message.name}


def _media(kind: str, found: Sequence[Any] | None) -> list[Part]:
    return [attachment(kind, url=_url(each), mime=each.mime_type) for each in found or ()]


def _url(media: Any) -> str | None:
    """Where a picture or file is, with its data if it holds them; one on this machine's disk is named alone."""
    if isinstance(media.content, bytes):
        return data_url(media.mime_type, b64encode(media.content).decode())
    return media.url or (str(media.filepath) if media.filepath else None)


def with_notes(view: ModelView) -> list[Message]:
    """What a model reads, with the notes behind the agent's own system message."""
    if not view.system:
        return view.items
    own = next((n for n, each in enumerate(view.items) if each.role in _SYSTEM), None)
    if own is None:
        return [Message(role="system", content=view.system), *view.items]
    first = view.items[own]
    told = first.model_copy(update={"content": view.behind(first.get_content_string())})
    return [*view.items[:own], told, *view.items[own + 1 :]]


def rendered(context: Context) -> list[Any]:
    """What a context holds, as Agno's messages."""
    names: dict[str, str] = {}
    return [_message(each, names) for each in context.as_openai(plain=True)]


def _message(given: dict[str, Any], names: dict[str, str]) -> Message:
    """A message of a chat; `names` of tools, by the ids of their calls."""
    role, content = given["role"], given["content"]
    if role == "tool":
        name = given["tool_call_id"]
        return Message(role="tool", content=content, tool_call_id=name, tool_name=names[name])
    calls = given.get("tool_calls")
    names |= {each["id"]: each["function"]["name"] for each in calls or ()}
    if isinstance(content, list):
        images = [Image(url=part["image_url"]["url"]) for part in content if part["type"] == "image_url"]
        text = "\n".join(part["text"] for part in content if part["type"] == "text")
        return Message(role=role, content=text, images=images or None)
    return Message(role=role, content=content, tool_calls=calls)
