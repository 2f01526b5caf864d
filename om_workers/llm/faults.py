"""Whose fault a failed call is: what the SDK and its transport raise, as ModelErrors that say what to do."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from openai import APIConnectionError, APIStatusError, APITimeoutError

from om_api.errors import ModelError
from om_workers.llm.quote import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from om_workers.llm.base import Request

_LONGEST_WAIT_S = 600.0
_CONTENT = {400, 413, 422}
# Some providers answer 400 for what is wrong with the configuration: no message is to blame for that.
_CONFIGURED = re.compile(
    r"api[ _-]?key|model[ _](?:does )?not[ _](?:exist|found)|not a valid model|(?:unsupported|unknown)[ _](?:value|parameter)"
    r"|insufficient[ _](?:quota|balance)",
    re.IGNORECASE,
)
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


class Asked(NamedTuple):
    """What was asked of whom: enough to tell what of an answer must not be repeated."""

    model: str
    key: str
    request: Request


def fault(asked: Asked, error: Exception) -> ModelError:
    """What a call's exception means: retryable unless the provider refused what this very request says."""
    if isinstance(error, APIStatusError):
        headers = error.response.headers
        return refusal(asked, error.status_code, error.body, retry_after(headers))
    name, seconds = asked.model, asked.request.timeout
    if isinstance(error, TimeoutError | APITimeoutError):
        return ModelError(
            f"{name} gave no whole answer within {seconds:g} s; {_LATER}; if that does not end, raise observer.timeout"
            f" or reflection.timeout"
        )
    if isinstance(error, APIConnectionError):
        why = type(error.__cause__ or error).__name__
        return ModelError(
            f"{name} could not be reached, or hung up ({why}); {_LATER}; see to its base_url and the network"
        )
    if isinstance(error, UnicodeEncodeError):
        return ModelError(
            f"{name} was not asked: the request holds half a character; see to who wrote it", retryable=False
        )
    return ModelError(
        f"{name} answered what is no chat completion ({type(error).__name__}); {_LATER}; if that does not end, correct"
        f" its base_url or options"
    )


def refusal(asked: Asked, status: int, body: object, wait: float | None = None) -> ModelError:
    """What a status other than success means. Wrong keys and names are the operator's to mend and no message's fault."""
    said = quote(body, asked.key, asked.request.prompt)
    code = str(body.get("code") or "") if isinstance(body, dict) else ""
    content = status in _CONTENT and not _CONFIGURED.search(f"{code} {said}")
    advice = "if it refuses everything, correct its options" if content else _ADVICE.get(status, _ADDRESS)
    text = f"{asked.model} refused ({status}){': ' * bool(said)}{said}; {advice}"
    return ModelError(text, retryable=not content, retry_after=wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds a reply asks to wait, ten minutes at most; None if it does not say so, or not legibly.

    A date is compared with the reply's own date: nobody's clock need agree with the provider's.
    """
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        until, now = _date(value), _date(headers.get("date", "")) or datetime.now(UTC)
        seconds = (until - now).total_seconds() if until else 0.0
    return min(seconds, _LONGEST_WAIT_S) if seconds > 0 and math.isfinite(seconds) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
