"""The tags our prompts and contexts are built of, and how text from elsewhere is kept from opening or closing them."""

from __future__ import annotations

import re

NAMES = (
    "observations",
    "thread",
    "reflection",
    "current-task",
    "suggested-response",
    "system-reminder",
    "unobserved-context",
    "memory",
    "previous-observations",
    "messages",
    "dropped",
    "task",
)
# what nobody sees: controls, soft hyphens, joiners, direction marks, fillers, variation selectors, tag letters
_UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_WIDE = 0xFEE0  # from a letter to its full-width double
_HYPHEN = r"[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]"
_SLASH = r"/\uff0f\u2044\u2215"
_BRACKETS = "<\uff1c\ufe64"


def _spelled(name: str) -> str:
    """A name as it may be spelled to look like itself: full-width, and with unseen characters between its letters."""
    letters = (_HYPHEN if letter == "-" else f"[{letter}{chr(ord(letter) + _WIDE)}]" for letter in name)
    return f"[{_UNSEEN}]*+".join(letters)


_WORDS = [name for name in NAMES if "-" not in name]
_TYPES = "|".join(map(str.capitalize, _WORDS))
_IDENTIFIER = r"(?<=[A-Za-z0-9_]<)(?<!\\[bfnrt]<)(?<!\\u[0-9A-Fa-f]{4}<)"  # in JSON, a line's end ends in a letter too
# a type in brackets behind an identifier, as in List<Task> or Map<Thread, int>: our tags have no capital, and follow no letter
GENERIC = rf"{_IDENTIFIER}(?-i:{_TYPES})(?=[>,\[(?<]|[ ]?[|&])"
# compared with something that ends behind the name, as in `i < messages)`: no tag goes on with such a character
_COMPARED = rf"(?:(?<=[A-Za-z0-9_)\]]<)|(?<=[A-Za-z0-9_)\]][ ]<))[ ]?(?:{'|'.join(_WORDS)})(?=[ ]?(?:[);,\]]|&&|\|\|))"
_NAMES = "|".join(map(_spelled, NAMES))
_OPENS = re.compile(
    rf"[{_BRACKETS}](?!{GENERIC}|{_COMPARED})(?=[\s{_SLASH}{_UNSEEN}]*+(?:{_NAMES})(?![\w.:-]))", re.IGNORECASE
)


def escape(text: str) -> str:
    """Return the text with every `<` that would open or close one of our tags written as `&lt;`.

    Upper case, attributes, missing ends, blanks, invisible and full-width characters hide no tag. All else, other XML,
    arrows and code stays byte for byte, `List<Task>` and `i < messages)` with it; lower case as in `vector<task>` does
    not, because it is what our tag looks like. Escaping twice changes nothing more. Takes time in proportion to the text.
    """
    # said one by one, because most texts have none of them and every read asks
    return _OPENS.sub("&lt;", text) if "<" in text or "\uff1c" in text or "\ufe64" in text else text
