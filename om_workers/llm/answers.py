"""Which answers can be used, whoever gave them."""

from __future__ import annotations

from collections.abc import Callable

from om_api.domain.errors import ModelError
from om_workers.llm.base import BilledError, Reply, Usage

NO_ROOM = "ran out of room for its answer; raise its max_output_tokens, or lower what it may think"
WITHHELD = "name another model beside it if that happens often"
_NOTED = "</observations>"


def usable(model: str, text: str, cut: str = "") -> str:
    """An answer's text; ModelError if it cannot be used. `cut` says why it ended early, "" if it did not.

    Whatever the provider withheld, or ran out of room for, lies in the request: not retryable. What was cut short is
    used if its notes are complete, and only what follows them is missing; half of the notes would pass for all of them.
    An empty answer without such a reason is the provider's fault.
    """
    if cut and _NOTED not in text:
        raise ModelError(f"{model} {cut}", retryable=False, why="unusable")
    if not text.strip():
        raise ModelError(f"{model} answered nothing; it is asked again by itself", why="unusable")
    return text


def billed(model: str, text: Callable[[], str], usage: Usage) -> Reply:
    """The reply that `text` and `usage` make; BilledError where it cannot be used though the provider says what it took."""
    try:
        return Reply(text=text(), model=model, usage=usage)
    except ModelError as error:
        if usage == Usage():
            raise
        raise BilledError(error, usage) from error
