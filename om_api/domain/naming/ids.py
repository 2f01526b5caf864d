"""Ids of any text: what an id may not hold is escaped, reversibly.

An id is 1 to 200 of A-Z a-z 0-9 . _ : @ + - and neither "." nor "..". Any other byte of a text's UTF-8 is written `+_` and two
hexadecimal digits: `auth0|1` is `auth0+_7C1`. A text in which that stands already has its `+` escaped, so that no two texts
have one id.
"""

import re

from om_api.domain.errors import InvalidInputError
from om_api.domain.texts.surrogates import whole_text
from om_api.domain.values import is_id, shown

_LONGEST = 200
_FOREIGN = re.compile(r"[^A-Za-z0-9._:@+-]|\+(?=_[0-9A-F]{2})")
_ESCAPED = re.compile(rb"\+_([0-9A-F]{2})")


def escape_id(text: str) -> str:
    """The id of a text; raises InvalidInputError for an empty one, and where the id would be longer than 200 characters."""
    found = _written(text)
    if not found:
        raise InvalidInputError("an id must not be empty: name a resource or thread")
    if len(found) > _LONGEST:
        raise InvalidInputError(
            f"id {shown(text, 80)!r} is too long: {len(found):,} characters when escaped (maximum {_LONGEST})"
        )
    return found


def _written(text: str) -> str:
    return "".join(map(_escaped, text)) if text in {".", ".."} else _FOREIGN.sub(_escape, whole_text(text))


def _escape(found: re.Match[str]) -> str:
    return _escaped(found[0])


def _escaped(character: str) -> str:
    return "".join(f"+_{byte:02X}" for byte in character.encode())


def unescape_id(name: str) -> str:
    """The text that `escape_id` made an id of; an id that it did not make as it is."""
    text = _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), name.encode()).decode("utf-8", "replace")
    return text if _written(text) == name else name


def as_id(text: str) -> str:
    """An id as it is, any other text escaped: how clients take the names of resources and threads.

    So `auth0+_7C1` is the id of the name `auth0|1`. Names that people choose are passed through `escape_id` first: adapters do.
    An empty text, "." and ".." stay as they are, for whoever checks ids refuses them: they are mistakes, or paths.
    """
    return text if is_id(text) or not isinstance(text, str) or text in {"", ".", ".."} else escape_id(text)


def any_name(text: str) -> str:
    """The same; a text that has no id, because it is too long, stays as it is."""
    try:
        return as_id(text)
    except InvalidInputError:
        return text
