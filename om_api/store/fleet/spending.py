"""What models use, by day: reserved before a call, settled after it, told by clients, and read by whoever asks.

The days are UTC days of the server's time. Fields of a day's hash: `all|<what>` is what counts against budgets, `open|<entry>`
what is reserved and not settled, `<model>|<purpose>|<what>` the bill, `served|<what>` the contexts that clients served.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from om_api.domain.errors import StoreError
from om_api.store.driver.replies import as_hash, as_pairs, command, nothing, write
from om_api.store.driver.steps import Batch, Steps, Verb, Words, each
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

KEPT_S = 400 * 86_400
DAY_MS = 86_400_000
_TRIES = 5
_SAFE = "._:/@+-"
_SLICE = 500
COSTLIEST = 1_000  # resources of a day that are ranked
_LEAST, _LOOKED_AT = 100, 10_000  # of each day, and of all days together
Counted = dict[str, int]


class Need(NamedTuple):
    """What is reserved for a call: tokens, and millionths of a dollar."""

    tokens: int = 0
    micros: int = 0


class Most(NamedTuple):
    """What a day's budget permits; None permits everything."""

    calls: int | None = None
    tokens: int | None = None
    micros: int | None = None


class Reserved(NamedTuple):
    """On which day a call was counted; or what is used up (calls, tokens, micros) of whose budget, and nothing was."""

    day: str
    now: int
    used_up: str = ""
    of_all: bool = False


def day_of(ms: int) -> str:
    """The UTC day of a time, as keys name it."""
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()


def days_before(ms: int, n: int) -> list[str]:
    """The n UTC days up to the one of a time, oldest first."""
    last = date.fromisoformat(day_of(ms))
    return [(last - timedelta(days=back)).isoformat() for back in reversed(range(n))]


def field(model: str, purpose: str, what: str) -> str:
    """The name of a bill's field; a model may be called anything without being taken for another field."""
    return f"{quote(model, safe=_SAFE)}|{quote(purpose, safe='')}|{what}"


def parse(name: str) -> tuple[str, str, str] | None:
    """The model, purpose and what of a bill's field; None for any other field."""
    parts = name.split("|")
    return (unquote(parts[0]), unquote(parts[1]), parts[2]) if len(parts) == len(("m", "p", "w")) else None


def reserve(
    keys: Keys, clock: ServerClock, resource: str, entry: str, need: Need, own: Most, total: Most
) -> Steps[Reserved]:
    """Count a call of a resource's against its own budget and that of all; what one refuses the other does not count.

    A call of nobody's ("") counts for all alone.
    `entry` names the call: new for each, the same when the reply was lost. A worker that dies before it settles leaves the
    call counted as it was reserved: a budget may be used up too early, never too late.
    """
    for _ in range(_TRIES):
        number = clock.ms() // DAY_MS
        day = day_of(number * DAY_MS)
        mine, everybodys = _whose(keys, day, resource), keys.spent(day)
        for key, most in (*((key, own) for key in mine), (everybodys, total)):
            now, word = yield from _reserve(key, entry, number, need, most)
            if word != "reserved":
                break
        if word != "reserved" and key == everybodys:
            for name in mine:
                yield from Verb("settle", [name], [entry, 0, 0, 0, 0], nothing)
        clock.seen(now)
        if word != "clock":
            return Reserved(day, now, "" if word == "reserved" else word, key == everybodys)
    raise StoreError(
        "the server's clock jumps: no call was counted. Mend the server's time, then repeat.", stored=False
    )


def _reserve(key: str, entry: str, day: int, need: Need, most: Most) -> Steps[tuple[int, str]]:
    limits = ["" if limit is None else limit for limit in most]
    return (yield from Verb("reserve", [key], [entry, day, KEPT_S, *need, *limits], _reserved))


def _reserved(reply: Any) -> tuple[int, str]:
    word, now = reply
    return int(now), word.decode()


def settle(
    keys: Keys, day: str, resource: str, entry: str, used: Need, bill: Mapping[str, int], *, calls: int = 1
) -> Steps[None]:
    """Put what a call used in the place of what was reserved for it, once; `bill` adds to fields; 0 `calls`: none counts."""
    added = [word for name, amount in bill.items() if amount for word in (name, amount)]
    billed = sum(amount for name, amount in bill.items() if name.endswith("|micros"))
    whole = 0
    for key in _whose(keys, day, resource):
        whole = yield from Verb("settle", [key], [entry, calls, *used, billed, *added], _billed)
    yield from Verb("settle", [keys.spent(day)], [entry, calls, *used, billed, *added], _billed)
    if whole:
        yield from _rank(keys, day, resource, whole)


def _whose(keys: Keys, day: str, resource: str) -> list[str]:
    """Where a call stands beside the sum of all: nowhere if it is nobody's."""
    return [keys.spent_by(day, resource)] if resource else []


def _billed(reply: Any) -> int:
    return int(reply[1]) if isinstance(reply, list) else 0


def _rank(keys: Keys, day: str, resource: str, micros: int) -> Steps[None]:
    """Note what a resource cost on a day, among the costliest. Sums only grow: of two that come out of order the larger stays.

    Time 0: a call is settled. Time 1: its worker dies. Then its resource stands where it stood, until its next call.
    """
    index = keys.spenders(day)
    yield from write(
        ("ZADD", index, "GT", micros, resource),
        ("ZREMRANGEBYRANK", index, 0, -COSTLIEST - 1),
        ("EXPIRE", index, KEPT_S),
    )


def costliest(keys: Keys, days: Sequence[str]) -> Steps[list[str]]:
    """The resources that cost most on some days together, the first of them most; of each day the first are looked at."""
    share = max(_LEAST, min(COSTLIEST, _LOOKED_AT // len(days)))
    asked = (as_pairs("ZRANGE", keys.spenders(day), 0, share - 1, "REV", "WITHSCORES") for day in days)
    sums = Counter[str]()
    for pairs in (yield from each(asked, atomic=False)):
        sums.update({name.decode("utf-8", "replace"): int(micros) for name, micros in pairs})
    return [name for name, _ in sums.most_common()]


def tell(keys: Keys, clock: ServerClock, served: Mapping[str, Mapping[str, int]]) -> Steps[None]:
    """Add what a client served, by resource, to the day of each and of all: figures, no part of any memory."""
    day = day_of(clock.ms())
    commands: list[tuple[Any, ...]] = []
    for resource, amounts in served.items():
        for key in (keys.spent_by(day, resource), keys.spent(day)):
            commands += [("HINCRBY", key, f"served|{what}", amount) for what, amount in amounts.items()]
            commands.append(("EXPIRE", key, KEPT_S))
    yield from write(*commands, atomic=False)


def read(keys: Keys, days: Sequence[str], resource: str | None = None) -> Batch[list[Counted]]:
    """Everything counted on some days, of one resource or of all, in the order of the days."""
    return each((as_hash("HGETALL", _key(keys, day, resource)).then(_numbers) for day in days), atomic=False)


def counted(keys: Keys, day: str, resources: Sequence[str | None]) -> Steps[list[Most]]:
    """What counts against the budgets of some resources (None: of all together) on a day, reservations included."""
    found: list[Most] = []
    for start in range(0, len(resources), _SLICE):
        names = resources[start : start + _SLICE]
        found += yield from each((command(as_most, *counters(keys, day, name)) for name in names), atomic=False)
    return found


def counters(keys: Keys, day: str, resource: str | None) -> Words:
    """What asks for the same of one, for `as_most` to take up."""
    return "HMGET", _key(keys, day, resource), "all|calls", "all|tokens", "all|micros"


def as_most(counted: Any) -> Most:
    """What counts against a budget."""
    return Most(*[int(value or 0) for value in counted])


def used_of(counted: Counted) -> Most:
    """The same of what was read of a day."""
    return Most(*[counted.get(f"all|{what}", 0) for what in Most._fields])


def _key(keys: Keys, day: str, resource: str | None) -> str:
    return keys.spent(day) if resource is None else keys.spent_by(day, resource)


def _numbers(kept: Mapping[bytes, bytes]) -> Counted:
    """What a day's hash says; of what is open only that it is: its reservation counts already."""
    said = {name.decode("utf-8", "replace"): value for name, value in kept.items()}
    return {name: 1 if name.startswith("open|") else int(value) for name, value in said.items()}
