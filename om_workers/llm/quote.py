"""What a provider says about a call that failed, fit for logs: short, without the key, without what messages say."""

from __future__ import annotations

from collections.abc import Mapping

_LONGEST = 300
_OF_A_KEY = 6  # characters: so many of a key in a row give away too much of it
_OF_A_MESSAGE = 16  # characters: so many in a row are no coincidence


def quote(body: object, key: str, prompt: str) -> str:
    """The provider's own message in one line of at most 300 characters; "" if it has none.

    `body` is what it answered: decoded JSON or text. Words that hold a part of the key become ***. It ends before the
    first 16 characters that stand in the `prompt` too, for those may be what somebody said.
    """
    words = ["***" if _tells(word, key) else word for word in _message(body).split()]
    text = " ".join(words)[:_LONGEST]
    end = _first_of(text, " ".join(prompt.rpartition("<task>")[0].split()))
    return text if end is None else f"{text[:end]}…"


def _message(body: object) -> str:
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body  # a page of some proxy says nothing
    if not isinstance(body, Mapping):
        return ""
    return next((_message(body[name]) for name in ("message", "detail", "error") if body.get(name)), "")


def _tells(word: str, key: str) -> bool:
    if "**" in word:  # what a provider has left of a key
        return True
    parts = {key[at : at + _OF_A_KEY] for at in range(max(1, len(key) - _OF_A_KEY + 1))} - {""}
    return any(part in word for part in parts)


def _first_of(text: str, said: str) -> int | None:
    starts = range(len(text) - _OF_A_MESSAGE + 1)
    return next((at for at in starts if text[at : at + _OF_A_MESSAGE] in said), None)
