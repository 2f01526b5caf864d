"""Segments that say of themselves what is not so, under a right checksum."""

import zlib
from typing import Any

import msgspec
from scene import key_of

from om_api.recall.segment_format import PackedMessages, from_value, to_value, version_of


def forged(value: bytes, messages: dict[str, Any] | None = None, **said: Any) -> bytes:
    """A segment that says something else of itself, or of its messages, under a right checksum."""
    packed = from_value(value)
    described = msgspec.msgpack.decode(zlib.decompress(packed.messages), type=PackedMessages)
    changed = msgspec.msgpack.encode(msgspec.structs.replace(described, **messages or {}))
    parts = {"messages": zlib.compress(changed), **said}
    return to_value(msgspec.structs.replace(packed, **parts), version_of(value))


NOTHING_SAID = {"steps": (), "role": b"", "lengths": (), "checks": b""}
FORGED: dict[str, dict[str, Any]] = {
    "no message": {"size": 0, "messages": NOTHING_SAID},
    "fewer messages than it says": {"messages": NOTHING_SAID},
    "more messages than it describes": {"size": 3},
    "terms that are not compressed": {"terms": b"no zlib"},
    "postings that are not compressed": {"postings": b"no zlib"},
    "postings that are too few": {"postings": zlib.compress(b"\1\1\1")},
    "no posting": {"postings": zlib.compress(b"")},
    "terms that are no text": {"terms": zlib.compress(b"\n\xff\n")},
    "terms without an end": {"terms": zlib.compress(b"\nturn")},
    "no term at all": {"terms": zlib.compress(b"")},
    "codes of no array": {"codes": "??"},
    "no codes": {"codes": ""},
    "a language of nobody": {"languages": ("klingon",)},
    "lengths that are too few": {"messages": {"lengths": (2,)}},
    "lengths below nothing": {"messages": {"lengths": (-2, -2)}},
    "roles that are too few": {"messages": {"role": b"\0"}},
    "roles that nobody has": {"messages": {"role": b"\0\7"}},
    "checks that are too few": {"messages": {"checks": b"\0\0\0\0"}},
    "half a check": {"messages": {"checks": b"\0\0\0\0\0\0"}},
    "times that are too few": {"messages": {"steps": ()}},
}


def forging(store: Any, name: str, what: str) -> None:
    """Put a forged segment, of two messages before, in the place of a sound one."""
    key = key_of(store, "segment", name)
    store.client.set(key, forged(store.client.get(key), **FORGED[what]), keepttl=True)
