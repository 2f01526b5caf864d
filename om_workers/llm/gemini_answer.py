"""An answer of Gemini's as it comes over the wire, and what of it can be used."""

from typing import Any

import msgspec

from om_api.domain.errors import ModelError
from om_api.domain.learned import learned
from om_api.patterns.pattern import Pattern
from om_workers.llm.base import Usage
from om_workers.llm.faults import bounded
from om_workers.llm.provider import NO_ROOM, WITHHELD, ProviderAnswer, usable

_COMPLETE = {"", "STOP", "FINISH_REASON_UNSPECIFIED"}
_OUT_OF_ROOM = {"MAX_TOKENS", "CONTINUATION"}
_LIMITED_ACCOUNT = "PUP_LIMITED_DISABLED"
_REASON = Pattern(r"[A-Z][A-Z_]{1,39}")
_RETRY_INFO = "google.rpc.RetryInfo"
_SECONDS = Pattern(r"(\d{1,9}(?:\.\d{1,9})?)s")


class _GeminiPart(msgspec.Struct, frozen=True):
    text: str | None = None
    thought: bool | None = None


class _Content(msgspec.Struct, frozen=True):
    parts: list[_GeminiPart] | None = None


class _Candidate(msgspec.Struct, frozen=True, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        """What it says; what it thought before is nobody's note."""
        parts = (self.content and self.content.parts) or []
        return "".join(part.text or "" for part in parts if not part.thought)


class _Feedback(msgspec.Struct, frozen=True, rename="camel"):
    block_reason: str | None = None


@learned
class _GeminiUsage(msgspec.Struct, frozen=True, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


@learned
class GeminiAnswer(ProviderAnswer, frozen=True, rename="camel"):
    """One answer of Gemini's."""

    choices: list[_Candidate] | None = msgspec.field(default=None, name="candidates")
    prompt_feedback: _Feedback | None = None
    usage_metadata: Any = None

    def _usage(self) -> Usage:
        """As the provider bills it: thoughts are output."""
        used = msgspec.convert(self.usage_metadata or {}, _GeminiUsage, strict=False)
        return Usage(
            input=used.prompt_token_count or 0,
            cached=used.cached_content_token_count or 0,
            output=(used.candidates_token_count or 0) + (used.thoughts_token_count or 0),
        )

    def _text(self, model: str) -> str:
        """A blocked prompt lies in the request; an answer without candidates and without a word why is the provider's fault."""
        if self.prompt_feedback and self.prompt_feedback.block_reason:
            why = _named(self.prompt_feedback.block_reason)
            raise ModelError(
                f"{model}: the request was blocked by the provider ({why}); {WITHHELD}", retryable=False, why="refused"
            )
        if not self.choices:
            raise ModelError(f"{model} answered without candidates; it is asked again by itself", why="unusable")
        candidate = self.choices[0]
        return usable(model, candidate.text, _cut(model, candidate.finish_reason or ""))


def _cut(model: str, reason: str) -> str:
    """Why an answer ended early, "" if it did not; a reason we do not know is one too."""
    if reason == _LIMITED_ACCOUNT:
        raise ModelError(
            f"{model} is closed to this account for what was asked before; see to it at the provider", why="refused"
        )
    if reason in _COMPLETE:
        return ""
    return NO_ROOM if reason in _OUT_OF_ROOM else f"was blocked by the provider ({_named(reason)}); {WITHHELD}"


def _named(reason: str) -> str:
    return reason if _REASON.fullmatch(reason) else "for a reason that is none of Gemini's"


@learned
class _Detail(msgspec.Struct, frozen=True, rename={"kind": "@type", "delay": "retryDelay"}):
    kind: str = ""
    delay: str = ""


class _Failure(msgspec.Struct, frozen=True):
    details: list[Any] = []


@learned
class _Failed(msgspec.Struct, frozen=True):
    error: _Failure = _Failure()


def retry_delay(body: object) -> float | None:
    """How many seconds an error's RetryInfo asks to wait, one to six hundred; None if there is none, or none legible."""
    try:
        details = msgspec.convert(body, _Failed).error.details
    except msgspec.ValidationError:
        return None
    return next((delay for detail in details if (delay := _delay(detail))), None)


def _delay(detail: object) -> float | None:
    try:
        said = msgspec.convert(detail, _Detail)
    except msgspec.ValidationError:
        return None
    seconds = _SECONDS.fullmatch(said.delay) if said.kind.endswith(_RETRY_INFO) else None
    return bounded(float(seconds[1])) if seconds else None
