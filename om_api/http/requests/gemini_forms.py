"""What a context gives to Gemini, as OpenAPI is told of it."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType


class GeminiInlineData(msgspec.Struct, rename="camel"):
    """An image itself, in base64."""

    mime_type: str
    data: str


class GeminiFileData(msgspec.Struct, rename="camel"):
    """Where an image is."""

    mime_type: str
    file_uri: str


class GeminiFunctionCall(msgspec.Struct):
    """A call of a tool."""

    name: str
    args: dict[str, Any]


class GeminiFunctionResponse(msgspec.Struct):
    """What a tool gave."""

    name: str
    response: dict[str, Any]


class GeminiPart(msgspec.Struct, rename="camel"):
    """Words, an image, a call of a tool, signed where the model signed it, or what one gave: it has the one field."""

    text: str | UnsetType = UNSET
    inline_data: GeminiInlineData | UnsetType = UNSET
    file_data: GeminiFileData | UnsetType = UNSET
    function_call: GeminiFunctionCall | UnsetType = UNSET
    thought_signature: str | UnsetType = UNSET
    function_response: GeminiFunctionResponse | UnsetType = UNSET


class GeminiContent(msgspec.Struct):
    """One of the `contents` of a request to Gemini."""

    role: Literal["user", "model"]
    parts: list[GeminiPart]


class GeminiInstruction(msgspec.Struct):
    """What Gemini is told before everything else."""

    parts: list[GeminiPart]


class GeminiRequest(msgspec.Struct):
    """The `system_instruction`, absent while there is no memory, and the `contents` of a request to Gemini."""

    contents: list[GeminiContent]
    system_instruction: GeminiInstruction | UnsetType = UNSET
