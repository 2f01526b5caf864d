"""What a context gives to OpenAI, and to whoever speaks its protocol, as OpenAPI is told of it."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType


class OpenAIText(msgspec.Struct, tag_field="type", tag="text"):
    """Words."""

    text: str


class OpenAIImageUrl(msgspec.Struct):
    """Where an image is, and how closely it is to be looked at."""

    url: str
    detail: str | UnsetType = UNSET


class OpenAIImage(msgspec.Struct, tag_field="type", tag="image_url"):
    """An image."""

    image_url: OpenAIImageUrl


class OpenAIFunction(msgspec.Struct):
    """What is called; `arguments` are JSON."""

    name: str
    arguments: str


class OpenAIToolCall(msgspec.Struct, tag_field="type", tag="function"):
    """A call of a tool."""

    id: str
    function: OpenAIFunction


class OpenAIMessage(msgspec.Struct):
    """One of the `messages` of a request for a chat completion."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[OpenAIText | OpenAIImage] | None
    tool_calls: list[OpenAIToolCall] | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET


class InputText(msgspec.Struct, tag_field="type", tag="input_text"):
    """Words."""

    text: str


class InputImage(msgspec.Struct, tag_field="type", tag="input_image"):
    """An image, and how closely it is to be looked at."""

    image_url: str
    detail: str


class MessageItem(msgspec.Struct, tag_field="type", tag="message"):
    """A message among the `input` of a request to OpenAI's Responses API."""

    role: Literal["system", "user", "assistant"]
    content: str | list[InputText | InputImage]


class FunctionCallItem(msgspec.Struct, tag_field="type", tag="function_call"):
    """A call of a tool; `arguments` are JSON."""

    call_id: str
    name: str
    arguments: str


class FunctionCallOutputItem(msgspec.Struct, tag_field="type", tag="function_call_output"):
    """What a tool gave for a call."""

    call_id: str
    output: str
