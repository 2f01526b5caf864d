"""What makes a message the one that was kept: its id, and whether it says the same, more, or something else.

Two messages of one id say the same if role and content are equal; a text is a text whether it stands alone or as a part. What
was kept is a beginning of what comes if its parts come first, the last of them perhaps a shorter text.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import TOO_LONG, Message
from om_api.domain.values import is_id

# in the metadata of a further message: of which one it is the rest, behind how many bytes of how many
CONTINUES = "continues"
GOES_ON = 2**16 - 1  # the day of a sealed message of which a rest is raw: it is never over
_LONGEST = 2**24 - 1
_encoder = msgspec.json.Encoder(order="sorted")


class Said(StrEnum):
    """What a message says beside the one that was kept under its id."""

    SAME = "same"
    GROWN = "grown"
    CHANGED = "changed"
    REPLACED = "replaced"


class KnownId(NamedTuple):
    """What is known of an id: the day its message was sealed on (0: it is raw), how long its content is, a check sum of it.

    Of one that grew after it was sealed the day is that of its last rest.

    `record` is all of that as the store keeps it, in 16 bytes: 7 of the id's hash, 2 of the day, 3 of the length, 4 of the sum.
    """

    record: bytes
    day: int
    length: int
    check: int

    @classmethod
    def of(cls, record: bytes) -> "KnownId":
        """What a record says."""
        day, length, check = (int.from_bytes(record[a:b]) for a, b in ((7, 9), (9, 12), (12, 16)))
        return cls(record, day, length, check)

    def grown(self, message: Message) -> "KnownId":
        """The same of a message that says more by now."""
        return KnownId.of(self.record[:9] + form_of(message))

    def gone_on(self, message: Message) -> "KnownId":
        """The same of a sealed message whose rest is raw: it is known as long as that is kept."""
        return KnownId.of(record_of(message, GOES_ON))


def mark(name: str) -> bytes:
    """An id as it is known by: 7 bytes of its hash."""
    return hashlib.sha1(name.encode(), usedforsecurity=False).digest()[:7]


def record_of(message: Message, day: int = 0, name: str = "") -> bytes:
    """What is to be known of a message that is raw (0), or was sealed on a day (days since 1970, of the server).

    `name` is the id it will have, where it has none.
    """
    return mark(name or message.id) + day.to_bytes(2) + form_of(message)


def form_of(message: Message) -> bytes:
    """Length and check sum of what a message says, as the end of its record."""
    content = canonical(message)
    return min(len(content), _LONGEST).to_bytes(3) + zlib.crc32(content).to_bytes(4)


def canonical(message: Message) -> bytes:
    """Role and content as bytes, of which those of a beginning are the beginning."""
    content = message.content
    if isinstance(content, str):
        return (
            f"{message.role}\n\0t{content}".encode("utf-8", "surrogatepass")
            if content
            else f"{message.role}\n".encode()
        )
    try:
        return f"{message.role}\n".encode() + b"".join(map(_part, content))
    except ValueError as error:
        why = TOO_LONG if "digits" in str(error) else f"cannot be written as JSON: {error}"
        raise InvalidInputError(f"message {message.id or '(without id)'}: {why}") from None


def _part(part: dict[str, Any]) -> bytes:
    if part["type"] == "text":
        return b"\0t" + part["text"].encode("utf-8", "surrogatepass") if part["text"] else b""
    return b"\0j" + _encoder.encode(part)


def compare(known: KnownId, message: Message) -> Said:
    """What a message says beside the one whose record is known."""
    content = canonical(message)
    if known.length == _LONGEST or len(content) < known.length or zlib.crc32(content[: known.length]) != known.check:
        same = min(len(content), _LONGEST) == known.length and zlib.crc32(content) == known.check
        return Said.SAME if same else Said.CHANGED
    return Said.SAME if len(content) == known.length else Said.GROWN


def goes_on(kept: Message, message: Message) -> bool:
    """Whether a message begins with what was kept of it."""
    return compare(KnownId.of(record_of(kept)), message) is Said.GROWN


def rest_of(message: Message, length: int) -> str | list[dict[str, Any]]:
    """The content of a message behind its beginning of `length` canonical bytes."""
    left = length - len(f"{message.role}\n".encode())
    rest: list[dict[str, Any]] = []
    for part in message.parts:
        size = len(_part(part))
        if left <= 0:
            rest.append(part)
        elif left < size:
            text = part["text"].encode("utf-8", "surrogatepass")[left - 2 :].decode("utf-8", "surrogatepass")
            rest.append({**part, "text": text})
        left -= size
    return rest[0]["text"] if len(rest) == 1 and set(rest[0]) == {"type", "text"} else rest


def further_id(name: str, n: int) -> str:
    """The id of the n-th further message of one that grew after it was sealed."""
    further = f"{name}+{n}"
    return further if is_id(further) else "h-" + hashlib.sha256(further.encode()).hexdigest()[:32]


def further(message: Message, n: int, after: int) -> Message:
    """The n-th further message of one that grew after it was sealed: what it says behind `after` canonical bytes."""
    whole = KnownId.of(record_of(message))
    link = {CONTINUES: {"id": message.id, "after": after, "length": whole.length, "check": whole.check}}
    return Message(
        id=further_id(message.id, n),
        role=message.role,
        content=rest_of(message, after),
        thread_id=message.thread_id,
        resource_id=message.resource_id,
        timestamp=message.timestamp,
        metadata={**(message.metadata or {}), **link},
        at=message.at,
        traceparent=message.traceparent,
    )


def continued(message: Message, name: str) -> int | None:
    """Behind how many bytes of the message `name` a further message of it goes on; None for any other."""
    link = _link(message)
    after = link.get("after") if link.get("id") == name else None
    return after if isinstance(after, int) else None


def continues(message: Message) -> str | None:
    """The id of the message that a further one is the rest of; None for any other."""
    name = _link(message).get("id")
    return name if isinstance(name, str) else None


def whole_of(message: Message, day: int) -> bytes:
    """What is to be known of the message that a further one is the rest of, which was sealed on a day (0: it is raw)."""
    link = _link(message)
    name, length, check = (link.get(key) for key in ("id", "length", "check"))
    if not (isinstance(name, str) and type(length) is int and type(check) is int):
        return b""
    if not (0 <= length <= _LONGEST and 0 <= check < 2**32):
        return b""
    return mark(name) + (day or GOES_ON).to_bytes(2) + length.to_bytes(3) + check.to_bytes(4)


def whole_with(earlier: Mapping[str, Message], message: Message) -> Message:
    """A message that goes on another one, in one piece with it; itself where it does not, or the two make nothing whole."""
    first = earlier.get(continues(message) or "")
    if first is None:
        return message
    *before, last = first.parts or [{"type": "text", "text": ""}]
    head, *rest = message.parts or [{"type": "text", "text": ""}]
    grown: list[list[dict[str, Any]]] = [[*first.parts, *message.parts]]
    if last["type"] == head["type"] == "text":
        grown.append([*before, {**last, "text": last["text"] + head["text"]}, *rest])
    for parts in grown:
        plain = len(parts) == 1 and set(parts[0]) == {"type", "text"}
        whole = msgspec.structs.replace(first, content=parts[0]["text"] if plain else parts, tokens=None)
        if form_of(whole) == whole_of(message, 0)[9:]:
            return whole
    return message


def wholes(messages: Iterable[Message]) -> dict[str, bytes]:
    """What those that grew after they were sealed say in all, by id: the length and check sum that their last rest tells."""
    found: dict[str, bytes] = {}
    for message in messages:
        if name := continues(message):
            found[name] = max(
                found.get(name, b""), whole_of(message, 0)[9:]
            )  # the longest: a form begins with its length
    return found


def _link(message: Message) -> dict[str, Any]:
    link = (message.metadata or {}).get(CONTINUES)
    return link if isinstance(link, dict) else {}


def said_by(message: Message) -> bytes:
    """What a message says, as 16 bytes."""
    return hashlib.blake2b(canonical(message), digest_size=16).digest()


def chained(before: str, said: bytes) -> str:
    """The id of a message that was given none, by the id before it in its history and by what it says."""
    return "s-" + hashlib.blake2b(before.encode() + said, digest_size=16).hexdigest()
