"""What a provider says about a call that failed, fit for logs: short, without the key, without what messages say."""

from __future__ import annotations

from collections.abc import Mapping

_LONGEST = 300
_LOOKED_AT = 4_000  # characters: whatever a body says beyond them, no worker spends its time on
_DEEPEST = 5  # mappings in mappings: gateways pass on what a gateway passed on
_OF_A_KEY = 6  # characters: so many of a key in a row give away too much of it
_OF_A_MESSAGE = 16  # characters: so many in a row are no coincidence


def quote(body: object, key: str, prompt: str) -> str:
    """The provider's own message in one line of at most 300 characters; "" if it has none.

    `body` is what it answered: decoded JSON or text. Words that hold a part of the key become ***. It ends before the
    first 16 characters that stand in the `prompt` too, for those may be what somebody said.
    """
    said = _message(body)[:_LOOKED_AT].encode("utf-8", "replace").decode()  # half a character cannot be kept or logged
    words = ["***" if _tells(word, key) else word for word in said.split()]
    text = " ".join(words)[:_LONGEST]
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
