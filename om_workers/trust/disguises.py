"""Disguises: what a text says beneath characters that nobody sees, letters that look alike, spaced letters, and encodings."""

import base64
import binascii
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from om_api.domain.texts.normal_forms import normalize, unescape
from om_api.patterns.pattern import Pattern

_ALIKE = "аеорсухіјѕԁһкмтвнгпАВЕЗКМНОРСТУХІЈЅαεορτυνικβηρχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıℓɑɡ"
_LOOKALIKES = str.maketrans(_ALIKE, "aeopcyxijsdhkmtbhrnABE3KMHOPCTYXIJSaeoptuvikbhpxABEZHIKMNOPTYXilag")
_SIGNS = str.maketrans("", "", " ._*·-")
_LEET = str.maketrans("013457@$!|", "oieastasil")
_HIDDEN = Pattern(
    r"[A-Za-zÀ-ɏ][\xad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u206f\ufeff\U000e0000-\U000e0fff]+[^\W\d_]"
)
_TAG_LETTERS = Pattern("[\U000e0020-\U000e007e]{4,}")  # ASCII that nobody sees
_UNSEEN = Pattern(r"[\xad\u034f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]+")
_SPACED = Pattern(r"(?:[^\W\d_][ ._*·-]{1,2}){5,}[^\W\d_]", behind=r"^|\W", ahead=r"\W|$")
_PARTING = Pattern(r"[.!?,;:|/_-]+\s*")
_STOPPED = Pattern(rf"(?:\b\w+{_PARTING.pattern}){{4,}}\w+")
_LEETED = Pattern(r"[\w@$!|]{4,}")
_RUN = Pattern(r"\w+")
_LETTER = Pattern("[a-zA-Z]")
_DIGIT = Pattern(r"\d")
_MIXED = Pattern(r"[a-zA-Z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-zA-Z]")
_AMONG = Pattern(rf"[a-zA-Z][{_ALIKE}]{{1,3}}[a-zA-Z]")
_AROUND = Pattern(rf"[{_ALIKE}]{{1,3}}[a-zA-Z]+[{_ALIKE}]")
_LONG_WORD = Pattern(r"\w{5,}")
_SHORTEST_WORD = 5
_SHORTEST_LEETED = 4
_BASE64 = Pattern(r"[A-Za-z0-9+/_-]{24,}={0,2}", behind=r"^|[^\w+/=]", ahead=r"[^\w+/=]|$")
_HEX = Pattern(r"(?:[0-9a-f]{2}[ :]?){16,}", ignore_case=True, behind=r"^|\W", ahead=r"\W|$")
_ENTITIES = Pattern(r"&(?:#x?[0-9a-f]{1,6}|[a-z]{2,8});|%[0-9a-f]{2}", ignore_case=True)
_LONGEST = 4_002  # characters of base64 that are read
_MOST = 20  # encoded pieces of one text that are read
_READABLE = 0.9  # the share of letters and blanks from which on what was decoded is a text


def plain(text: str) -> str:
    """The text with one way to write each letter, and nothing that nobody sees."""
    if text.isascii():
        return text
    shown = _TAG_LETTERS.sub(lambda hidden: f" {''.join(chr(ord(each) - 0xE0000) for each in hidden[0])} ", text)
    folded = normalize("NFKC", _UNSEEN.sub("", shown))
    return folded.translate(_LOOKALIKES) if _MIXED.search(folded) else folded


def beneath(text: str) -> Iterator[str]:
    """What a plain text says once its disguises are taken off, each as a text of its own; nothing for one without any."""
    if _ENTITIES.search(text):
        yield unescape(unquote(text))
    for found in islice(_STOPPED.finditer(text), _MOST):
        yield _PARTING.sub(" ", found[0])
    if (said := _without_leet(text)) is not None:
        yield said
    for found in islice(_SPACED.finditer(text), _MOST):
        yield found[0].translate(_SIGNS)
    for pattern, read in ((_BASE64, _base64), (_HEX, _hex)):
        for found in islice(pattern.finditer(text), _MOST):
            if said := read(found[0]):
                yield said


def is_hidden(text: str) -> bool:
    """Whether letters are parted by what nobody sees, or look-alikes stand within a longer word: nobody types that."""
    return not text.isascii() and bool(_HIDDEN.search(text) or _TAG_LETTERS.search(text) or _is_feigned(text))


def _is_feigned(text: str) -> bool:
    """Whether look-alikes stand within or around the letters of a word of five or more characters."""
    if not (_AMONG.search(text) or _AROUND.search(text)):
        return False
    for found in _LONG_WORD.finditer(text):
        word = found[0]
        around = None if word.isascii() else _AROUND.search(word)
        if not word.isascii() and _AMONG.search(word):
            return True
        if around and len(word) - around.start() >= _SHORTEST_WORD:
            return True
    return False


def _without_leet(text: str) -> str | None:
    """The text with letters for digits and signs in words that have both letters and digits; None if it has no such word."""
    pieces, at = list[str](), 0
    for found in _LEETED.finditer(text):
        start = _leet_in(found[0])
        if start is not None:
            pieces += [text[at : found.start() + start], found[0][start:].translate(_LEET)]
            at = found.end()
    return "".join([*pieces, text[at:]]) if pieces else None


def _leet_in(piece: str) -> int | None:
    """Where the first word with both letters and digits begins."""
    if piece.isalpha():
        return None
    for found in _RUN.finditer(piece):
        if _LETTER.search(found[0]) and _DIGIT.search(found[0]):
            return found.start() if len(piece) - found.start() >= _SHORTEST_LEETED else None
    return None


def _base64(text: str) -> str:
    if len(text) > _LONGEST:
        return ""
    standard = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return _readable(base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _hex(text: str) -> str:
    return _readable(bytes.fromhex(text.replace(":", "").replace(" ", "")))


def _readable(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    said = sum(each.isalnum() or each in " .,:;!?'\"\n/@-_" for each in text)
    return text if " " in text and said >= _READABLE * len(text) else ""
