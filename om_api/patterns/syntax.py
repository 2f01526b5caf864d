r"""The syntax of patterns as RE2 reads it: one form for texts in ASCII, another one for all others.

RE2 knows `\b` in ASCII only. In the other form, a character beyond ASCII stands between two underscores if it is a letter or a
digit, and between two `\x01` if it is not. RE2 takes an underscore for a part of a word, so `\b` is right for every alphabet.
"""

import re
import unicodedata
from functools import cache
from typing import NamedTuple

WORD, OTHER = "_", "\x01"  # what a character beyond ASCII stands between
INSTEAD = {WORD: "\ue000", OTHER: "\ue001"}  # what these two are themselves, between signs
FOLDED = {"İ": "i", "ı": "i", "ſ": "s", "\u212a": "k"}  # letters of ASCII where case is ignored, as for `re`
_ASCII = [chr(code) for code in range(128)]
_IS = {"w": lambda char: char == "_" or char.isalnum(), "d": str.isdecimal, "s": str.isspace}
_SPACES = r"\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_NO_SPACES = (
    r"\x{80}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}"
    r"\x{2060}-\x{2fff}\x{3001}-\x{10ffff}"
)
_ALL = r"\x{80}-\x{10ffff}"
_INSIDE = {  # what a class of characters holds beyond ASCII: of letters and digits, of all else
    "w": (_ALL, ""),
    "W": ("", _ALL),
    "s": ("", _SPACES),
    "S": (_ALL, _NO_SPACES),
}
_LAST_DIGIT = 0x20000  # no digits stand beyond
_TOKEN = re.compile(
    r"(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<look>\(\?(?:[=!>]|<[=!]|P=))|(?P<group>\(\?(?:-?i)?:|\(\?P<\w+>|\()"
    r"|(?P<repeat>[*+?]|\{\d+(?:,\d*)?\})|(?P<sign>[|)^]|\\[bBA])|(?P<end>\$|\\Z)|(?P<dot>\.)|(?P<kind>\\[wWdDsS])"
    r"|(?P<char>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.)",
    re.DOTALL,
)
_ITEM = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class _Set(NamedTuple):
    """A class of characters: those of ASCII, and what RE2 is given of letters and of all else beyond."""

    ascii: frozenset[str]
    words: str
    others: str


def translate(pattern: str, *, wide: bool, ignore_case: bool = False, begin: str = "^") -> str:
    """A pattern as RE2 reads it, with `begin` for `^`. Raises ValueError for a lookaround or a backreference."""
    made = ""
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind == "look":
            raise ValueError(f"{text} in a pattern: RE2 has no lookaround and no backreference; use behind and ahead")
        if kind == "set":
            made += _written(_read(text, ignore_case=ignore_case), wide=wide)
        elif kind == "kind":
            negated = "^" * text[1].isupper()
            made += _written(_read(f"[{negated}{text.lower()}]", ignore_case=False), wide=wide)
        elif kind == "dot":
            made += _written(_read("[^\n]", ignore_case=False), wide=wide)
        elif text == "^":
            made += begin
        elif kind == "end":
            made += r"\z"
        elif kind == "char":
            char = _unescaped(text)
            made += _char(FOLDED.get(char, char) if ignore_case else char, wide=wide)
        else:
            made += text
    return made


def _char(char: str, *, wide: bool) -> str:
    if wide and char in INSTEAD:
        return f"(?:{char}{_code(INSTEAD[char])}{char})"
    if wide and not char.isascii():
        sign = sign_of(char)
        return f"(?:{sign}{char}{sign})"
    return char if char.isalnum() and char.isascii() else _code(char)


def sign_of(char: str) -> str:
    """What a character beyond ASCII stands between."""
    return WORD if char.isalnum() else OTHER


def _code(char: str) -> str:
    return f"\\x{{{ord(char):x}}}"


def _unescaped(text: str) -> str:
    if text[0] != "\\":
        return text
    code, char = text[2:], text[1]
    if not code and char not in _ESCAPES and char.isascii() and char.isalnum():
        raise ValueError(f"{text} in a pattern: RE2 has no such escape and no backreference")
    return chr(int(code, 16)) if code else _ESCAPES.get(char, char)


def _read(text: str, *, ignore_case: bool) -> _Set:
    r"""What a class such as `[^\w.-]` holds."""
    negated = text.startswith("[^")
    items, at = _ITEM.findall(text[1 + negated : -1]), 0
    ascii_, words, others = set[str](), "", ""
    while at < len(items):
        item = items[at]
        if item[0] == "\\" and item[1] in "wWdDsS":
            if item[1] == "D":
                raise ValueError(f"{text} in a pattern: write \\D as a class of its own, as [^\\d]")
            holds = _IS[item[1].lower()]
            ascii_ |= {char for char in _ASCII if holds(char) == item[1].islower()}
            inside = (_digits(), "") if item[1] == "d" else _INSIDE[item[1]]
            words, others = words + inside[0], others + inside[1]
            at += 1
            continue
        is_range = at + 2 < len(items) and items[at + 1] == "-"
        first, last = _unescaped(item), _unescaped(items[at + 2] if is_range else item)
        ascii_ |= {char for char in _ASCII if first <= char <= last}
        if last > "\x7f":
            beyond = f"{_code(max(first, chr(128)))}-{_code(last)}"
            words, others = words + beyond, others + beyond
        at += 3 if is_range else 1
    if ignore_case:
        ascii_ |= {char.swapcase() for char in ascii_}
    words += _code(INSTEAD[WORD]) if WORD in ascii_ else ""
    others += _code(INSTEAD[OTHER]) if OTHER in ascii_ else ""
    if not negated:
        return _Set(frozenset(ascii_), words and f"[{words}]", others and f"[{others}]")
    kept = frozenset(_ASCII) - ascii_
    return _Set(kept, _without(words), _without(others))


@cache
def _digits() -> str:
    """The digits beyond ASCII, ten in a row from each zero."""
    zeros = (code for code in range(128, _LAST_DIGIT) if unicodedata.decimal(chr(code), 1) == 0)
    return "".join(f"{_code(chr(code))}-{_code(chr(code + 9))}" for code in zeros)


def _without(items: str) -> str:
    """What a negated class holds beyond ASCII."""
    if _ALL in items:
        return ""
    return f"[^\\x00-\\x7f{items}]" if items else f"[{_ALL}]"


def _written(found: _Set, *, wide: bool) -> str:
    if not wide:
        return _plain(found.ascii) or r"[^\x00-\x{10ffff}]"
    either = [
        _plain(found.ascii - {WORD, OTHER}),
        found.words and f"{WORD}{found.words}{WORD}",
        found.others and f"{OTHER}{found.others}{OTHER}",
    ]
    return f"(?:{'|'.join(filter(None, either))})"


def _plain(chars: frozenset[str]) -> str:
    """A class of characters of ASCII, as ranges."""
    codes, ranges = sorted(map(ord, chars)), list[list[int]]()
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    inside = "".join(f"{_code(chr(first))}-{_code(chr(last))}" for first, last in ranges)
    return f"[{inside}]" if inside else ""
