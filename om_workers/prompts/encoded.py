"""Data in a message that nobody can read: encrypted fields and encoded bytes, which would only cost tokens."""

from typing import Any

from om_api.patterns.pattern import Match, Pattern

_SHORTEST = 1_000  # characters in a row; keys, hashes and ids are shorter and may matter
_RUN = Pattern(rf"[A-Za-z0-9+/_-]{{{_SHORTEST},}}={{0,2}}", behind="^|[^A-Za-z0-9+/_-]")
_KINDS = Pattern("[a-z]"), Pattern("[A-Z]"), Pattern("[0-9]")
_JOINTS = Pattern(r"[-_/+=]+")
_LONGEST_WORD, _LONGEST_NUMBER = 30, 12
_FIELDS = ("encrypted", "thoughtsignature")
_BLANK = Pattern(r"\s")
HIDDEN = "[encrypted]"


def without_encoded(text: str) -> str:
    """Return the text with `[N characters of encoded data]` for each run of base64 or the like of 1,000 or more.

    Words and numbers that `-`, `_`, `/` or `+` join are no such run.
    """
    return _RUN.sub(_named, text) if len(text) >= _SHORTEST else text


def without_encrypted(value: Any) -> Any:
    """A copy of a JSON value with `[encrypted]` for fields that only their provider can read (`encryptedContent`, …).

    What has blanks in it is no cipher, whatever its field is called.
    """
    if isinstance(value, list | tuple):
        return [without_encrypted(item) for item in value]
    if isinstance(value, dict):
        return {key: HIDDEN if _is_encrypted(key, item) else without_encrypted(item) for key, item in value.items()}
    return value


def _is_encrypted(key: object, item: object) -> bool:
    named = "".join(filter(str.isalnum, str(key).lower())).startswith(_FIELDS)
    return named and isinstance(item, str) and not _BLANK.search(item)


def _named(found: Match) -> str:
    run = found[0]
    return (
        f"[{len(run):,} characters of encoded data]"
        if all(kind.search(run) for kind in _KINDS) and not _is_joined(run)
        else run
    )


def _is_joined(run: str) -> bool:
    """Whether a run is mostly words and numbers, joined by signs that base64 uses too: in bytes they make up some 3 %."""
    return 2 * sum(len(piece) for piece in _JOINTS.split(run) if _is_word(piece)) >= len(run)


def _is_word(piece: str) -> bool:
    """Whether a piece is a word or a number: zeros are AAAA in base64, and no word has a letter three times in a row."""
    if piece.isdigit():
        return len(piece) <= _LONGEST_NUMBER
    if not piece.isalpha() or len(piece) > _LONGEST_WORD:
        return False
    return not any(one == other == third for one, other, third in zip(piece, piece[1:], piece[2:], strict=False))
