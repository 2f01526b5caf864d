"""Disguises: what a text says beneath characters that nobody sees, letters that look alike, spaced letters, and encodings."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

_ALIKE = "аеорсухіјѕԁһкмтвнгпАВЕЗКМНОРСТУХІЈЅαεορτυνικβηρχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıℓɑɡ"
_LOOKALIKES = str.maketrans(_ALIKE, "aeopcyxijsdhkmtbhrnABE3KMHOPCTYXIJSaeoptuvikbhpxABEZHIKMNOPTYXilag")
_LEET = str.maketrans("013457@$!|", "oieastasil")
_HIDDEN = re.compile(
    r"(?<=[A-Za-zÀ-ɏ])[\xad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u206f\ufeff\U000e0000-\U000e0fff]+(?=[^\W\d_])"
)
_TAG_LETTERS = re.compile("[\U000e0020-\U000e007e]{4,}")  # ASCII that nobody sees
_UNSEEN = re.compile(
    r"[\xad\u034f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]+"
)
_SPACED = re.compile(r"(?<!\w)(?:[^\W\d_][ ._*·-]{1,2}){5,}[^\W\d_](?!\w)")
_STOPPED = re.compile(r"(?:\b\w+[.!?,;:|/_-]+\s*){4,}\w+")
_LEETED = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*\d)[\w@$!|]{4,}")
_MIXED = re.compile(r"[a-zA-Z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-zA-Z]")
_FEIGNED = re.compile(
    rf"(?=\w{{5}})\w*[a-zA-Z][{_ALIKE}]{{1,3}}[a-zA-Z]|(?=\w{{5}})[{_ALIKE}]{{1,3}}[a-zA-Z]+[{_ALIKE}]"
)
_BASE64 = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![\w+/=])")
_HEX = re.compile(r"(?<!\w)(?:[0-9a-f]{2}[ :]?){16,2000}(?!\w)", re.IGNORECASE)
_ENTITIES = re.compile(r"&(?:#x?[0-9a-f]{1,6}|[a-z]{2,8});|%[0-9a-f]{2}", re.IGNORECASE)
_MOST = 20  # encoded pieces of one text that are read
_READABLE = 0.9  # the share of letters and blanks from which on what was decoded is a text


def plain(text: str) -> str:
    """The text with one way to write each letter, and nothing that nobody sees."""
    if text.isascii():
        return text
    shown = _TAG_LETTERS.sub(lambda hidden: f" {''.join(chr(ord(each) - 0xE0000) for each in hidden[0])} ", text)
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", shown))
    return folded.translate(_LOOKALIKES) if _MIXED.search(folded) else folded


def beneath(text: str) -> Iterator[str]:
    """What a plain text says once its disguises are taken off, each as a text of its own; nothing for one without any."""
    if _ENTITIES.search(text):
        yield unescape(unquote(text))
    for found in [*_STOPPED.finditer(text)][:_MOST]:
        yield re.sub(r"[.!?,;:|/_-]+\s*", " ", found[0])
    if _LEETED.search(text):
        yield _LEETED.sub(lambda word: word[0].translate(_LEET), text)
    for found in [*_SPACED.finditer(text)][:_MOST]:
        yield re.sub(r"[ ._*·-]", "", found[0])
    for pattern, read in ((_BASE64, _base64), (_HEX, _hex)):
        for found in [*pattern.finditer(text)][:_MOST]:
            if said := read(found[0]):
                yield said


def is_hidden(text: str) -> bool:
    """Whether letters are parted by what nobody sees, or look-alikes stand within a longer word: nobody types that."""
    return not text.isascii() and bool(_HIDDEN.search(text) or _TAG_LETTERS.search(text) or _FEIGNED.search(text))


def _base64(text: str) -> str:
    standard = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return _readable(base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _hex(text: str) -> str:
    return _readable(bytes.fromhex(re.sub(r"[ :]", "", text)))


def _readable(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    said = sum(each.isalnum() or each in " .,:;!?'\"\n/@-_" for each in text)
    return text if " " in text and said >= _READABLE * len(text) else ""
