"""A context in each of its forms, as it is replied and as OpenAPI is told of it."""

from typing import Annotated, Any

import msgspec

from om_api.context import FORMS, Context
from om_api.context.view import Kind
from om_api.http.requests.anthropic_forms import AnthropicRequest
from om_api.http.requests.gemini_forms import GeminiRequest
from om_api.http.requests.openai_forms import FunctionCallItem, FunctionCallOutputItem, MessageItem, OpenAIMessage


class ContextBlock(msgspec.Struct):
    """A piece of a context; `stable` ones stay as they are until the memory changes, `hash` tells whether one did.

    `id` is that of the message which it shows, "" for whatever else is shown. `resource_id` says whose notes these are,
    where they are another memory's, else "".
    """

    kind: Kind
    role: str
    text: str
    stable: bool
    tokens: int
    hash: str
    id: str
    resource_id: str


class RecalledMention(msgspec.Struct, frozen=True):
    """An earlier message that was looked up for the newest one, and is shown at the end; `score` orders them."""

    id: str
    thread_id: str
    at: int
    score: float
    resource_id: str = ""


class _Rendered(msgspec.Struct, tag_field="format", frozen=True, kw_only=True):
    tokens: Annotated[int, msgspec.Meta(description="of the whole context")]
    omitted: Annotated[int, msgspec.Meta(description="older messages that had no room; the memory keeps them")]
    omitted_tokens: Annotated[
        dict[str, int],
        msgspec.Meta(description="tokens that max_tokens left out: notes, messages, newest, closing"),
    ]
    recalled: Annotated[
        list[RecalledMention], msgspec.Meta(description="what was looked up for the newest message, the best first")
    ]
    composed: Annotated[
        dict[str, list[str]],
        msgspec.Meta(
            description="of each other memory that stands in it, by resource, the ids of the observations shown"
        ),
    ]
    left_out: Annotated[
        dict[str, str], msgspec.Meta(description="why another memory, by resource, does not stand in it")
    ]


class TextContext(_Rendered, tag="text", frozen=True, kw_only=True):
    """A context as plain text."""

    context: str


class OpenAIContext(_Rendered, tag="openai", frozen=True, kw_only=True):
    """A context as the `messages` of a request for a chat completion."""

    context: list[OpenAIMessage]


class OpenAIResponsesContext(_Rendered, tag="openai_responses", frozen=True, kw_only=True):
    """A context as the `input` of a request to OpenAI's Responses API."""

    context: list[MessageItem | FunctionCallItem | FunctionCallOutputItem]


class AnthropicContext(_Rendered, tag="anthropic", frozen=True, kw_only=True):
    """A context as what a request to Anthropic takes."""

    context: AnthropicRequest


class GeminiContext(_Rendered, tag="gemini", frozen=True, kw_only=True):
    """A context as what a request to Gemini takes."""

    context: GeminiRequest


class BlocksContext(_Rendered, tag="blocks", frozen=True, kw_only=True):
    """A context as our own blocks."""

    context: list[ContextBlock]


RenderedContext = (
    TextContext | OpenAIContext | OpenAIResponsesContext | AnthropicContext | GeminiContext | BlocksContext
)
RENDERED: dict[str, Any] = {  # the kind of reply of each format
    str(each.__struct_config__.tag): each for each in RenderedContext.__args__
}


def rendered_context(found: Context, form: str) -> Any:
    """A context in one of its forms."""
    return RENDERED[form](
        context=FORMS[form](found),
        tokens=found.tokens,
        omitted=found.omitted,
        omitted_tokens=found.omitted_tokens,
        recalled=[RecalledMention(hit.id, hit.thread_id, hit.at, hit.score, hit.resource_id) for hit in found.recalled],
        composed={name: [each.id for each in some] for name, some in found.composed.items()},
        left_out=found.left_out,
    )
