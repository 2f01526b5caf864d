"""Unicode normal forms and HTML entities of untrusted text, in linear time.

Lint forbids `unicodedata.normalize` and `html.unescape` in all other modules.
"""

import html
import unicodedata
from typing import Final, Literal

from om_api.patterns.pattern import Pattern

_STRETCH: Final = 250  # characters
_NUMBER = Pattern("&#[0-9]{1000,}")  # no character; `int` refuses more than 4,300 digits


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Like `unicodedata.normalize`, which sorts a run of combining marks in quadratic time.

    The text is normalised in stretches. No stretch begins with a character that could join the one before, unless 250 such
    characters follow each other.
    """
    if text.isascii():
        return text
    done, start = list[str](), 0
    while start < len(text):
        end, last = start + _STRETCH, min(start + 2 * _STRETCH, len(text))
        while end < last and _joins(text[end]):
            end += 1
        done.append(unicodedata.normalize(form, text[start:end]))
        start = end
    return "".join(done)


def _joins(char: str) -> bool:
    """Whether a character may be reordered before, or composed with, the one before: marks, Hangul vowels and finals."""
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f"


def unescape(text: str) -> str:
    """Like `html.unescape`, which raises ValueError for a number of more than 4,300 digits: here it is U+FFFD."""
    return html.unescape(_NUMBER.sub("\ufffd", text) if "&#" in text else text)
