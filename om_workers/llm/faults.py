"""Whose fault a failed call is, whichever provider it was made to, as ModelErrors that say what to do."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import httpx2

from om_api.domain.errors import ModelError, Why
from om_api.patterns.pattern import Pattern
from om_workers.llm.base import Request, TooLongError, TurnedAwayError
from om_workers.llm.connections import LARGEST_MB, TooLargeError

_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 1.0, 600.0
_CONTENT = {400, 413, 422}
_BROKEN = 500  # from this status on the provider says that it failed itself
# Some providers answer 400 for what is wrong with the configuration: no message is to blame for that.
_CONFIGURED = Pattern(
    r"api[ _-]?key|model[ _](?:does )?not[ _](?:exist|found)|not a valid model"
    r"|(?:unsupported|unknown)[ _](?:value|parameter|name)|thinking[ _](?:budget|level|mode)"
    r"|insufficient[ _](?:quota|balance)|enable billing|user location",
    ignore_case=True,
)
_TOO_LARGE = 413
# What providers say of a request that is larger than the model's window, or than what is left of it for the answer.
_TOO_LONG = Pattern(
    r"context[ _-](?:length|window|size|limit)|(?:input|prompt|request)[ _](?:is )?too[ _](?:long|large)"
    r"|maximum (?:context|prompt|model|input) length|exceeds? the maximum number of tokens|(?:input|prompt) length should be"
    r"|length of the (?:messages|prompt)|`?inputs`? tokens|too many (?:input )?tokens|too large for model",
    ignore_case=True,
)
_PATIENCE_S = {429: 20.0}  # where the provider says "too many" and not for how long
_LONGEST_QUOTE = 300
_LOOKED_AT = 4_000  # characters: whatever a body says beyond them, no worker spends its time on
_DEEPEST = 5  # mappings in mappings: gateways pass on what a gateway passed on
_OF_A_KEY = 6  # characters: so many of a key in a row give away too much of it
_OF_A_MESSAGE = 16  # characters: so many in a row are no coincidence
_LATER = "it is asked again by itself"
_ADDRESS = _LATER + "; if that does not end, correct its base_url"
_ADVICE = {
    400: "correct its model, key or options",
    401: "put a valid key into the variable that its api_key_env names, and restart the workers",
    402: "see to the provider's bill; " + _LATER,
    403: "see what its key may do at the provider, and restart the workers if you change it",
    404: "correct its model or base_url",
    422: "correct its model, key or options",
    429: _LATER + "; if that does not end, run fewer tasks at a time or raise the provider's limits",
}


class ProviderCall(NamedTuple):
    """What was asked of whom: enough to tell what of an answer must not be repeated."""

    model: str
    key: str
    request: Request


def fault(call: ProviderCall, error: Exception) -> ModelError:
    """What it means that a call failed before there was an answer, or that the answer could not be read."""
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return _late(call)
    if isinstance(error, TooLargeError) or isinstance(error.__cause__, TooLargeError):
        return ModelError(
            f"{call.model} answered more than {LARGEST_MB} MB, which nobody read; {_ADDRESS}", why="unusable"
        )
    if isinstance(error, httpx2.HTTPError):
        return unreachable(call, error)
    if isinstance(error, UnicodeEncodeError) and _is_no_text(call.request):
        return ModelError(
            f"{call.model} was not asked: the request holds half a character; see to who wrote it",
            retryable=False,
            why="refused",
        )
    return ModelError(
        f"{call.model} could not be asked, or answered what cannot be read ({type(error).__name__}); {_LATER}; if that"
        f" does not end, correct its model, key, base_url or options"
    )


def _is_no_text(request: Request) -> bool:
    """Whether a request cannot be written down in any encoding; a key or an option that cannot is no message's fault."""
    try:
        (request.system + request.prompt).encode()
    except UnicodeEncodeError:
        return True
    return False


def unreachable(call: ProviderCall, error: BaseException) -> ModelError:
    """What it means that there was no connection, or that it broke: only then may somebody have been at work."""
    kind = TurnedAwayError if isinstance(error, httpx2.ConnectError) else ModelError
    return kind(
        f"{call.model} could not be reached, or hung up ({type(error).__name__}); {_LATER}; see to its base_url and"
        f" the network",
        why="unreachable",
    )


def _late(call: ProviderCall) -> ModelError:
    return ModelError(
        f"{call.model} gave no whole answer within {call.request.timeout:g} s; {_LATER}; if that does not end, raise"
        f" observer.timeout or reflection.timeout",
        why="timeout",
    )


def refusal(call: ProviderCall, status: int, body: object, wait: float | None = None) -> ModelError:
    """What a status other than success means. Wrong keys and names are the operator's to mend and no message's fault."""
    said = quote(body, call.key, call.request.prompt)
    code = str(body.get("code") or "") if isinstance(body, dict) else ""
    content = status in _CONTENT and not _CONFIGURED.search(f"{code} {said}")
    advice = "if it refuses everything, correct its options" if content else _ADVICE.get(status, _ADDRESS)
    text = f"{call.model} refused ({status}){': ' * bool(said)}{said}; {advice}"
    pause = wait or _PATIENCE_S.get(status)
    why: Why = "busy" if pause else "unreachable" if status >= _BROKEN else "refused"
    if status == _TOO_LARGE or (content and _TOO_LONG.search(f"{code} {said}")):
        return TooLongError(f"{text}; the request exceeds its window, and is repeated in parts")
    kind = ModelError if content or status >= _BROKEN else TurnedAwayError
    return kind(text, retryable=not content, retry_after=pause, why=why)


def stated_status(error: object) -> int:
    """The status of an error that came with one of success; 500 if it states none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if type(code) is int and 100 <= code <= 999 else 500  # noqa: PLR2004 - what HTTP has


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds a reply asks to wait, one at least and ten minutes at most; None if it does not say so, or not legibly.

    A date is compared with the reply's own date: nobody's clock need agree with the provider's.
    """
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        until, now = _date(value), _date(headers.get("date", "")) or datetime.now(UTC)
        seconds = (until - now).total_seconds() if until else 0.0
    return bounded(seconds)


def bounded(seconds: float) -> float | None:
    """A wait that a provider asks for, a second at least and ten minutes at most; None if it is none."""
    return max(_SHORTEST_WAIT_S, min(seconds, _LONGEST_WAIT_S)) if seconds > 0 and math.isfinite(seconds) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter: a zone of twenty digits
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def quote(body: object, key: str, prompt: str) -> str:
    """The provider's own message in one line of at most 300 characters; "" if it has none.

    `body` is what it answered: decoded JSON or text. Words that hold a part of the key become ***. It ends before the
    first 16 characters that stand in the `prompt` too, for those may be what somebody said.
    """
    said = _message(body)[:_LOOKED_AT].encode("utf-8", "replace").decode()  # half a character cannot be kept or logged
    words = ["***" if _tells(word, key) else word for word in said.split()]
    text = " ".join(words)[:_LONGEST_QUOTE]
    end = _first_of(text, " ".join(prompt.rpartition("<task>")[0].split()))
    return text if end is None else f"{text[:end]}…"


def _message(body: object) -> str:
    for _ in range(_DEEPEST):
        if isinstance(body, Mapping):
            body = next((body[name] for name in ("message", "detail", "error") if body.get(name)), "")
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""  # a proxy's page says nothing


def _tells(word: str, key: str) -> bool:
    if "**" in word:  # what a provider has left of a key
        return True
    parts = {key[at : at + _OF_A_KEY] for at in range(max(1, len(key) - _OF_A_KEY + 1))} - {""}
    return any(part in word for part in parts)


def _first_of(text: str, said: str) -> int | None:
    starts = range(len(text) - _OF_A_MESSAGE + 1)
    return next((at for at in starts if text[at : at + _OF_A_MESSAGE] in said), None)
