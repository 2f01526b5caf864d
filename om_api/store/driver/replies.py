"""Commands by what their reply is: whichever form a client hands it out in, it comes as the same value."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from om_api.domain.values import Outcome
from om_api.store.driver.steps import Batch, Words

T = TypeVar("T")
Pair: TypeAlias = tuple[bytes, float]  # a member of a sorted set, with its score
_next: Any = next


def command(decode: Callable[[object], T], *words: Any) -> Batch[T]:
    """One command, whose value is what `decode` makes of its reply."""
    return Batch([words], lambda replies: decode(next(replies)))


def as_bytes(*words: Any) -> Batch[bytes | None]:
    """One value, such as GET's; None if there is none."""
    return Batch([words], _next)


def as_list(*words: Any) -> Batch[list[bytes]]:
    """Several values, such as ZRANGE's."""
    return Batch([words], _next)


def as_names(*words: Any) -> Batch[list[str]]:
    """Names, such as those in an index; one that is no UTF-8 comes as what nobody is called, and hides no other."""
    return Batch([words], lambda replies: [name.decode("utf-8", "replace") for name in _next(replies)])


def as_fields(*words: Any) -> Batch[list[bytes | None]]:
    """Several values of which any may be missing, such as HMGET's."""
    return Batch([words], _next)


def as_hash(*words: Any) -> Batch[dict[bytes, bytes]]:
    """A whole hash, such as HGETALL's."""
    return command(fields, *words)


def as_pairs(*words: Any) -> Batch[list[Pair]]:
    """Members with their scores, such as those of ZRANGE with WITHSCORES."""
    return Batch([words], lambda replies: scored(_next(replies)))


def as_int(*words: Any) -> Batch[int]:
    """A whole number, such as ZCARD's; 0 if there is none."""
    return command(number, *words)


def as_float(*words: Any) -> Batch[float | None]:
    """A number, such as ZSCORE's; None if there is none."""
    return command(_float, *words)


def as_bool(*words: Any) -> Batch[bool]:
    """Whether there is anything in the reply, such as SET's with NX, or EXISTS'."""
    return command(bool, *words)


def server_ms(*, once: bool = False) -> Batch[int]:
    """The server's time (Unix ms). With `once` it is not asked again."""
    return Batch([("TIME",)], lambda replies: _ms(next(replies)), once=once)


def write(*commands: Words, atomic: bool = True, once: bool = False) -> Batch[None]:
    """Writes of whose replies nobody asks."""
    return Batch(commands, lambda replies: nothing([next(replies) for _ in commands]), atomic, writes=True, once=once)


def outcome(reply: Any) -> Outcome:
    """What became of a change, as a script says it or the first word of what it says."""
    return Outcome((reply[0] if isinstance(reply, list) else reply).decode())


def word(reply: Any) -> str:
    """What a script says; "" if it says nothing."""
    return reply.decode() if reply else ""


def says(expected: bytes) -> Callable[[object], bool]:
    """Whether a script says this."""
    return lambda reply: reply == expected


def number(reply: Any) -> int:
    """A whole number; 0 if there is none."""
    return int(reply or 0)


def nothing(_: object) -> None:
    """Whatever it is."""


def _float(reply: Any) -> float | None:
    return None if reply is None else float(reply)


def _ms(reply: Any) -> int:
    return int(reply[0]) * 1000 + int(reply[1]) // 1000


def fields(reply: Any) -> dict[bytes, bytes]:
    """A HGETALL reply as a dict, whichever of its forms the client hands out."""
    if isinstance(reply, dict):
        return reply
    return dict(zip(reply[::2], reply[1::2], strict=True))


def scored(reply: Sequence[Any]) -> list[Pair]:
    """A WITHSCORES reply as (member, score), whichever of its two forms the client hands out."""
    if reply and isinstance(reply[0], list | tuple):
        return [(bytes(member), float(score)) for member, score in reply]
    return [(bytes(member), float(score)) for member, score in zip(reply[::2], reply[1::2], strict=True)]
