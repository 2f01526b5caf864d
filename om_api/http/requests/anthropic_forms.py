"""What a context gives to Anthropic, as OpenAPI is told of it."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType


class AnthropicCache(msgspec.Struct, tag_field="type", tag="ephemeral"):
    """A breakpoint of Anthropic's prompt cache, behind the block that has it."""


class _AnthropicBlock(msgspec.Struct, tag_field="type", kw_only=True):
    cache_control: AnthropicCache | UnsetType = UNSET


class AnthropicText(_AnthropicBlock, tag="text", kw_only=True):
    """Words."""

    text: str


class AnthropicInline(msgspec.Struct, tag_field="type", tag="base64"):
    """An image itself."""

    media_type: str
    data: str


class AnthropicAddress(msgspec.Struct, tag_field="type", tag="url"):
    """Where an image is."""

    url: str


class AnthropicImage(_AnthropicBlock, tag="image", kw_only=True):
    """An image."""

    source: AnthropicInline | AnthropicAddress


class AnthropicToolUse(_AnthropicBlock, tag="tool_use", kw_only=True):
    """A call of a tool."""

    id: str
    name: str
    input: dict[str, Any]


class AnthropicToolResult(_AnthropicBlock, tag="tool_result", kw_only=True):
    """What a tool gave for a call."""

    tool_use_id: str
    content: str
    is_error: bool | UnsetType = UNSET


class AnthropicThinking(_AnthropicBlock, tag="thinking", kw_only=True):
    """What Anthropic's model thought before it called a tool, word for word."""

    thinking: str
    signature: str


class AnthropicRedactedThinking(_AnthropicBlock, tag="redacted_thinking", kw_only=True):
    """What it thought where Anthropic does not show it, encrypted."""

    data: str


AnthropicBlock = (
    AnthropicText
    | AnthropicImage
    | AnthropicToolUse
    | AnthropicToolResult
    | AnthropicThinking
    | AnthropicRedactedThinking
)


class AnthropicMessage(msgspec.Struct):
    """One of the `messages` of a request to Anthropic."""

    role: Literal["user", "assistant"]
    content: list[AnthropicBlock]


class AnthropicRequest(msgspec.Struct):
    """The `system` and `messages` of a request to Anthropic."""

    system: list[AnthropicText]
    messages: list[AnthropicMessage]
