"""What is planted to see where it comes out again: a secret of each kind, and what looks for it in the bytes of anything."""

import re
import zlib
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import msgspec

SECRETS = {
    "email": "harold.finch@ift-example.com",
    "phone": "+43 664 1234567",
    "card": "4111 1111 1111 1111",
    "iban": "AT61 1904 3002 3457 3201",
    "secret": "sk-proj-Zx81kqLm02PwVt7Ya93b",
}
PASSWORD = "swordfish-under-the-bridge"  # which nothing but its field's name gives away
ALL = "; ".join(SECRETS.values())
KEY = "a key of more than sixteen letters"
_SPACE = re.compile(rb"[\s-]|%20")
_LOOKED_FOR = {name: _SPACE.sub(b"", text.encode().lower()) for name, text in {**SECRETS, "password": PASSWORD}.items()}
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")


def leaks(*told: Any) -> list[str]:
    """The kinds of what was planted that stand in any of these, however it is written there: escaped, quoted, packed, spaced."""
    found = set[str]()
    for each in told:
        for form in _forms(each if isinstance(each, bytes) else str(each).encode("utf-8", "surrogatepass")):
            plain = _SPACE.sub(b"", form.lower())
            found |= {name for name, secret in _LOOKED_FOR.items() if secret in plain}
    return sorted(found)


def _forms(raw: bytes) -> Iterator[bytes]:
    yield raw
    text = raw.decode("utf-8", "replace")
    yield from (form.encode() for form in (unescape(text), unquote_plus(text)) if form != text)
    for start in _ZLIB.finditer(raw):
        unpacking = zlib.decompressobj()
        try:
            yield unpacking.decompress(raw[start.start() :])
        except zlib.error:  # it only looked like the beginning of something packed
            continue


def store_bytes(client: Any, prefix: str) -> bytes:
    """Every key of a store by its name, locks too, with all that is in it."""
    reads = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"stream": client.xrange,
    }
    keys = sorted(client.scan_iter(f"{prefix}*", count=1000))
    return b"\n".join(part for key in keys for part in (key, *_flat(reads[client.type(key)](key))))


def _flat(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict):
        yield from _flat([word for pair in value.items() for word in pair])
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            yield from _flat(each)


def file_bytes(path: Path) -> bytes:
    """A database's file, what stands beside it, and all that is free in either."""
    return b"\n".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


def as_json(value: Any) -> bytes:
    """Whatever the library returns, as bytes."""
    return msgspec.json.encode(value, enc_hook=str)
