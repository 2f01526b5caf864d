"""What keys hold at one instant, each read by its type; read again until nothing that was read names a key that was not."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

from om_api.store.driver.replies import Pair, as_bytes, as_hash, as_int, as_list, as_pairs, command, server_ms
from om_api.store.driver.steps import Batch, Steps, batch, by_name

T = TypeVar("T")
Wanted: TypeAlias = set[tuple[str, str]]  # a key, and its Redis type, or `lifetime`
_TRIES = 20


_FOR_EVER, _AGES_MS = -1, 36_501 * 86_400_000  # as PTTL says it; longer than any retention


def lasts(left: int) -> bool:
    """Whether a key lives as long as its memory, as PTTL says it: one that came back from the archive has an end, ages away."""
    return left == _FOR_EVER or left > _AGES_MS


class Instant(NamedTuple):
    """What was read at the server's time `now` (Unix ms), by key. `lists` are sets too, in a lasting order, lifetimes in ms."""

    now: int
    strings: dict[str, bytes | None]
    hashes: dict[str, dict[bytes, bytes]]
    zsets: dict[str, list[Pair]]
    lists: dict[str, list[bytes]]
    lifetimes: dict[str, int]


NOTHING = Instant(0, {}, {}, {}, {}, {})


def settled(wanted: Wanted, make: Callable[[Instant], T], implied: Callable[[T], Wanted]) -> Steps[tuple[T, bool]]:
    """What is made of keys that are read, each time in one MULTI, until all that it implies was read; False after 20 times."""
    made = make(NOTHING)
    for _ in range(_TRIES):
        made = make((yield from _instant(wanted)))
        named = implied(made)
        if named <= wanted:
            return made, True
        wanted = wanted | named
    return made, False


def _instant(wanted: Wanted) -> Batch[Instant]:
    def typed(kind: str, ask: Callable[[str], Batch[T]]) -> Batch[dict[str, T]]:
        return by_name(sorted(key for key, type_ in wanted if type_ == kind), ask)

    lists = batch(
        typed("list", lambda key: as_list("LRANGE", key, 0, -1)),
        typed("set", lambda key: command(_lasting, "SMEMBERS", key)),
    )
    return batch(
        server_ms(),
        typed("string", lambda key: as_bytes("GET", key)),
        typed("hash", lambda key: as_hash("HGETALL", key)),
        typed("zset", lambda key: as_pairs("ZRANGE", key, 0, -1, "WITHSCORES")),
        lists.then(lambda both: both[0] | both[1]),
        typed("lifetime", lambda key: as_int("PTTL", key)),
    ).then(lambda found: Instant(*found))


def _lasting(reply: Any) -> list[bytes]:
    return sorted(reply)
