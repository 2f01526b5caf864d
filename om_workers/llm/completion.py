"""A chat completion as providers answer it, and what of it can be used."""

from __future__ import annotations

from typing import Any

import msgspec

from om_api.errors import ModelError
from om_workers.llm.base import Usage

_NOTED = "</observations>"
_OTHER = "name another model beside it if that happens often"
_CUT = {
    "length": "ran out of room for its answer; raise max_tokens if its options state it",
    "content_filter": f"was blocked by the provider; {_OTHER}",
}


class _Said(msgspec.Struct, frozen=True):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):  # some providers answer in parts
            return "".join(str(part.get("text") or "") for part in self.content if part.get("type", "text") == "text")
        return self.content or ""


class _Choice(msgspec.Struct, frozen=True):
    message: _Said = _Said()
    finish_reason: str | None = None


class Completion(msgspec.Struct, frozen=True):
    """One answer; whatever else stands in it is passed over. `error` is how gateways fail with a status of success."""

    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None


def text_of(model: str, completion: Completion) -> str:
    """The answer's text; ModelError if it cannot be used.

    Whatever the provider withheld, or ran out of room for, lies in the request: not retryable. What was cut short is
    used if its notes are complete, and only what follows them is missing; half of the notes would pass for all of them.
    An empty answer without such a reason is the provider's fault, as one without choices is.
    """
    if not completion.choices:
        raise ModelError(f"{model} answered without choices; it is asked again by itself")
    choice = completion.choices[0]
    text = choice.message.text
    if choice.finish_reason in _CUT and _NOTED not in text:
        raise ModelError(f"{model} {_CUT[choice.finish_reason]}", retryable=False)
    if not text.strip():
        if choice.message.refusal:
            raise ModelError(f"{model} refused to answer; {_OTHER}", retryable=False)
        raise ModelError(f"{model} answered nothing; it is asked again by itself")
    return text


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class _Used(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek's own name


def usage_of(completion: Completion) -> Usage:
    """Tokens as the provider counts them; zeros if it does not say, or not legibly: no call fails for that."""
    try:
        used = msgspec.convert(completion.usage or {}, _Used, strict=False)
    except msgspec.ValidationError:
        return Usage()
    details = used.prompt_tokens_details or _Details()
    cached = details.cached_tokens or used.prompt_cache_hit_tokens or 0
    return Usage(input=used.prompt_tokens or 0, cached=cached, output=used.completion_tokens or 0)
