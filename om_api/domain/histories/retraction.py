"""Messages that a conversation no longer has: how they are marked, what goes with them, and how contexts quote them."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

from om_api.domain.errors import InvalidInputError
from om_api.domain.identity import continues, mark
from om_api.domain.messages import Message
from om_api.domain.tool_calls import exchanges

MOST_QUOTES = 16  # of a thread, of each kind
_QUOTE = 160  # characters
_AGAIN = 1_000  # of one that no note may hold
QUOTED = ("retracted", "valid_again")  # fields of a thread
_MARK = 8  # bytes: those of an id, and how the message stood


def marks_of(packed: bytes | None) -> frozenset[bytes]:
    """The marks of what is retracted of a thread, as its known ids hold them."""
    held = packed or b""
    return frozenset(held[at : at + _MARK - 1] for at in range(0, len(held), _MARK))


def marks_of_hex(text: object) -> list[bytes]:
    """Marks as a file holds them, each with how its message stood; raises InvalidInputError for what cannot be such."""
    with suppress(ValueError, TypeError):
        packed = bytes.fromhex(text)  # type: ignore[arg-type]
        found = [packed[at : at + _MARK] for at in range(0, len(packed), _MARK)]
        if all(len(each) == _MARK and each[-1:] in (b"r", b"n") for each in found):
            return sorted(set(found))
    raise InvalidInputError(f"retracted is {str(text)[:40]!r}; use what an export wrote there, or leave it out")


def is_retracted(message: Message, marks: Collection[bytes]) -> bool:
    """Whether a message of a thread with these marks is retracted."""
    return bool(marks) and mark(message.id) in marks


def standing(messages: Sequence[Message], marks: Collection[bytes]) -> list[Message]:
    """The messages that are not retracted."""
    return [message for message in messages if not is_retracted(message, marks)]


def retracted_ids(messages: Iterable[Message], marks: Collection[bytes]) -> tuple[str, ...]:
    """The ids of those that are."""
    return tuple(message.id for message in messages if is_retracted(message, marks))


def going(there: Sequence[Message], replaced: Collection[str], stays: Collection[str], last: bytes) -> list[Message]:
    """What is retracted with messages that were replaced: a call with its results, a message with its rests.

    Not what `stays`, nor what came behind the message of the mark `last`, with which the last history ended: a history does
    not lack what was added since by another way.
    """
    ends = next((n for n, each in enumerate(there) if mark(each.id) == last), -1)
    those = {each.id for each in there[: ends + 1] if each.id in replaced}
    calls = dict(zip((each.id for each in there), exchanges(there), strict=True))
    tied = frozenset[str]().union(*(calls[name].calls | calls[name].answers for name in those))
    with_them = {name for name, each in calls.items() if tied & (each.calls | each.answers)}
    those |= with_them - {*stays} if those else set()
    return [each for each in there if each.id in those or continues(each) in those]


def quote_of(message: Message, *, noted: bool) -> str:
    """What a context quotes of a message: a few words where notes hold it, else more of it."""
    said, most = " ".join(message.text().split()), _QUOTE if noted else _AGAIN
    return f"{message.role}: {said if len(said) <= most else said[: most - 1].rstrip() + '…'}" if said else ""


def quotes_of(text: str | bytes | None) -> dict[str, str]:
    """The quotes that a field of a thread holds, by their ids' marks in hex, oldest first."""
    held = text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    return {of: quote for of, _, quote in (line.partition(" ") for line in held.split("\n")) if quote}
