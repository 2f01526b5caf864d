"""A chat completion as providers answer it, and what of it can be used."""

from __future__ import annotations

from typing import Any

import msgspec

from om_api.domain.errors import ModelError
from om_api.domain.learned import learned
from om_workers.llm.answers import NO_ROOM, WITHHELD, usable
from om_workers.llm.base import Usage

_CUT = {"length": NO_ROOM, "content_filter": f"was blocked by the provider; {WITHHELD}"}


class _Said(msgspec.Struct, frozen=True):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):  # some providers answer in parts
            return "".join(str(part.get("text") or "") for part in self.content if part.get("type", "text") == "text")
        return self.content or ""


class _CompletionChoice(msgspec.Struct, frozen=True):
    message: _Said = _Said()
    finish_reason: str | None = None


@learned
class Completion(msgspec.Struct, frozen=True):
    """One answer; whatever else stands in it is passed over. `error` is how gateways fail with a status of success."""

    choices: list[_CompletionChoice] | None = None
    usage: Any = None
    error: Any = None


def text_of(model: str, completion: Completion) -> str:
    """The answer's text; ModelError if it cannot be used. One without choices is the provider's fault."""
    if not completion.choices:
        raise ModelError(f"{model} answered without choices; it is asked again by itself", why="unusable")
    choice = completion.choices[0]
    refused = f"refused to answer; {WITHHELD}" if choice.message.refusal and not choice.message.text else ""
    return usable(model, choice.message.text, _CUT.get(choice.finish_reason or "", refused))


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


@learned
class _CompletionUsage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek's own name


def usage_of(completion: Completion) -> Usage:
    """Tokens as the provider counts them; zeros if it does not say, or not legibly: no call fails for that."""
    try:
        used = msgspec.convert(completion.usage or {}, _CompletionUsage, strict=False)
    except msgspec.ValidationError:
        return Usage()
    details = used.prompt_tokens_details or _Details()
    cached = details.cached_tokens or used.prompt_cache_hit_tokens or 0
    return Usage(input=used.prompt_tokens or 0, cached=cached, output=used.completion_tokens or 0)
