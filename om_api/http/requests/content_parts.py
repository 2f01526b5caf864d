"""The parts of a message, as OpenAPI is told of them; whether one can be accepted is said where messages are checked."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from om_api.http.requests.replies import KINDS, reference


class TextPart(msgspec.Struct, tag_field="type", tag="text", kw_only=True):
    """Words."""

    text: str


class ToolCallPart(msgspec.Struct, tag_field="type", tag="tool-call", kw_only=True):
    """A call of a tool; `tool_call_id` is what its result refers to, without one they are paired by name, in order."""

    name: str
    args: Any = {}
    tool_call_id: str | UnsetType = UNSET


class ToolResultPart(msgspec.Struct, tag_field="type", tag="tool-result", kw_only=True):
    """What a tool gave."""

    result: Any
    name: str | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET
    is_error: bool | UnsetType = UNSET


class _Attachment(msgspec.Struct, tag_field="type", kw_only=True):
    """`url` may be a `data:` URL; `tokens` is what it weighs in a prompt, where its writer knows."""

    url: str
    mime: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    tokens: int | UnsetType = UNSET


class ImagePart(_Attachment, tag="image"):
    """An image; `url` may be a `data:` URL."""

    detail: Literal["auto", "low", "high"] | UnsetType = UNSET


class FilePart(_Attachment, tag="file"):
    """A file; `url` may be a `data:` URL."""


ContentPart = TextPart | ToolCallPart | ToolResultPart | ImagePart | FilePart
_VENDORS = {
    "title": "VendorPart",
    "type": "object",
    "additionalProperties": True,
    "description": "a part as OpenAI, Anthropic or Gemini write it; one that nobody knows is kept, and shown by its name",
}
_PARTS = {"type": "array", "items": {"anyOf": [reference(ContentPart), _VENDORS, {"type": "string"}]}}
CONTENT: dict[str, Any] = {"anyOf": [{"type": "string"}, _PARTS, {"type": "null"}]}
KINDS.append(ContentPart)
