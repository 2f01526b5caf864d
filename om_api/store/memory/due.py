"""The due indexes: which scope needs a look, not before when, and who has it on lease.

An index stands in parts (partitions.py): what is done to scopes finds theirs, what is taken is taken of one part.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from om_api.domain.timing.chance import chance
from om_api.domain.values import Scope
from om_api.store.driver import replies
from om_api.store.driver.partitions import PartedIndex, asked, beside, of_all
from om_api.store.driver.replies import as_float, as_int, as_pairs, number, says, word, write
from om_api.store.driver.steps import Batch, Steps, Verb, batch, each
from om_api.store.memory.keys import Keys, queued

LEASE_MS = 30_000
NO_BOUND = 1 << 40
_TURN = 1e13  # by which a scope with a turn stands ahead of its time
URGENT_MS = 3_600_000  # an urgent scope stands this much ahead of what just became due

Started: TypeAlias = Literal["started", "slow", "superseded"]


class Claim(NamedTuple):
    """A due scope on lease: only who holds the lease may renew it or say done."""

    scope: str
    lease: str


def _fraction() -> float:
    # 12 bits survive in a double beside Unix ms; two leases of one scope in the same ms must not be equal
    return chance.randrange(1, 4096) / 4096


class DueScope(NamedTuple):
    """What a due scope's turn depends on: its resource, the seconds of a worker that it takes by its priority, if it is slow."""

    scope: str
    resource: str
    cost: float = 1.0
    slow: bool = False


class Claims(NamedTuple):
    """Scopes whose turn it is, which of them were taken to be slow, and how many are due that have no turn yet."""

    scopes: list[Claim]
    slow: frozenset[str]
    arrivals: int


def due_since(score: float) -> float:
    """The Unix ms that a scope's score in a due index says: one that has its turn stands that much further ahead."""
    return score + _TURN if score < -_TURN / 2 else score


def count(due: PartedIndex, now: int) -> Steps[int]:
    """How many scopes are due by `now`."""
    return sum((yield from _counts(due, now)))


def busy_parts(due: PartedIndex) -> Steps[list[int]]:
    """The numbers of the parts in which anything is due, asked of all at once; an only part is not asked, and named."""
    if due.layout.is_sure and due.layout.now.count == 1:
        return [0]
    counts = yield from _counts(due, (yield from server_ms()))
    return [number for number, scopes in enumerate(counts) if scopes]


def _counts(due: PartedIndex, now: int) -> Steps[list[int]]:
    return (yield from of_all(due, lambda part: as_int("ZCOUNT", part, "-inf", now)))


def longest(part: str, now: int) -> Batch[int]:
    """For how many ms by `now` the scope has been due that has been so for longest; 0 where none is.

    An urgent scope is written an hour ahead of the time it came due, so what stands in the last hour is plain, and what
    stands before it has waited since an hour after its score at least. Those that have a turn stand further ahead.
    """
    hour, end = now - URGENT_MS, f"({-_TURN / 2:.0f}"  # -inf itself is no time
    spans = [
        (hour, end, hour),
        (now, f"({hour}", now),
        (hour, "(-inf", hour - _TURN),
        (now, f"({hour - _TURN:.0f}", now - _TURN),
    ]
    asked = (as_pairs("ZRANGE", part, low, high, "BYSCORE", "LIMIT", 0, 1, "WITHSCORES") for _, low, high in spans)
    return each(asked, atomic=False).then(
        lambda found: max(
            [int(to - due_since(at)) for (to, *_), pairs in zip(spans, found, strict=True) for _, at in pairs],
            default=0,
        )
    )


def arrivals(part: str, n: int, grace_ms: int = 0, lease_ms: int = LEASE_MS) -> Steps[list[str]]:
    """The first n scopes that are due by now, have no turn yet and wait as no task; of a name that is no text, what `drop` takes.

    `grace_ms` as for `claims`.
    """
    args = [n, grace_ms, lease_ms, chance.random()]
    return (yield from Verb("arrivals", [part, beside(part, "turns"), queued(part)], args, _names))


def _names(reply: Any) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in reply]


def admit(
    part: str, turns: Sequence[DueScope], capacity: int, grace_ms: int = 0, lease_ms: int = LEASE_MS
) -> Steps[int]:
    """Give due scopes their turn, fair by resource, where `capacity` are worked at a time; how many have one now.

    `grace_ms` as for `claims`.
    """
    if not turns:
        return 0
    words = [
        word for each in turns for word in (each.scope.encode("utf-8", "surrogateescape"), *each[1:3], int(each.slow))
    ]
    keys = [part, queued(part), beside(part, "turns"), beside(part, "shares")]
    return (yield from Verb("admit", keys, [capacity, grace_ms, lease_ms, *words], number))


def claims(
    part: str,
    n: int,
    lease_ms: int = LEASE_MS,
    *,
    most: int = NO_BOUND,
    least: int = 1,
    grace_ms: int = 0,
    slow_most: int = NO_BOUND,
    begun: bool = False,
    a_task: int = 1,
) -> Steps[Claims]:
    """Take up to n scopes whose turn it is, each on lease: to be handed out, or `begun` by who asks.

    There are never more than `most` of them whose task nobody has begun, and none is taken while there is room for fewer than
    `least`; no more than one of each `a_task` that have a turn; of slow ones never more than `slow_most` in flight. One that
    nobody has begun `grace_ms` after its lease was lost.
    """
    keys = [part, queued(part), beside(part, "turns"), beside(part, "slow")]
    args = [n, most, least, lease_ms, _fraction(), grace_ms, slow_most, int(begun), a_task]
    return (yield from Verb("claim", keys, args, _claims))


def _claims(reply: Any) -> Claims:
    words = _names(reply[1:])
    each = [*zip(words[::3], words[1::3], words[2::3], strict=True)]
    slow = frozenset(scope for scope, _, is_slow in each if is_slow == "1")
    return Claims([Claim(scope, lease) for scope, lease, _ in each], slow, int(reply[0]))


def claim(part: str, n: int, lease_ms: int = LEASE_MS) -> Steps[list[Claim]]:
    """Take up to n due scopes of a part, each resource in its turn, all of them of one cost."""
    come = yield from arrivals(part, n, lease_ms=lease_ms)
    yield from admit(part, [DueScope(name, name.partition("|")[0]) for name in come], 1, lease_ms=lease_ms)
    return (yield from claims(part, n, lease_ms)).scopes


def hold(part: str, names: Sequence[str]) -> Steps[list[Claim]]:
    """Put due scopes on lease that nobody is to be given: a mark from now on can be told."""
    if not names:
        return []
    lease = f"{(yield from server_ms()) + LEASE_MS + _fraction():.17g}"
    pairs = [part for name in names for part in (lease, name.encode("utf-8", "surrogateescape"))]
    yield from write(("ZADD", part, "XX", *pairs))
    return [Claim(name, lease) for name in names]


def start(due: PartedIndex, held: Claim) -> Steps[Started]:
    """Begin the task of a scope that was handed out; "superseded" when another task did, or will, in its place.

    "slow" is one that `claims` took as such: whoever begins it says when it has `ended`.
    """

    def begin() -> Verb[Started]:
        part = due.of(held.scope)
        return Verb("start", [part, queued(part), beside(part, "slow")], [held.scope, held.lease], _started)

    return (yield from asked(due.layout, begin))


def _started(reply: Any) -> Started:
    return cast(Started, reply.decode())


def keep(due: PartedIndex, scopes: Sequence[str], lease_ms: int = LEASE_MS) -> Steps[None]:
    """Extend the leases of scopes whose tasks a worker holds and has not begun, for as long as nobody began them."""
    if not scopes:
        return
    until = (yield from server_ms()) + lease_ms
    for part, names in due.by_part(scopes).items():
        places = queued(part)
        yield from write(("ZADD", places, "XX", *_paired(until, names)), ("PEXPIRE", places, 20 * lease_ms))


def take(due: PartedIndex, scope: Scope, lease_ms: int = LEASE_MS) -> Steps[Claim | None]:
    """Hold a scope for a look that begins now, whoever held it before; None when it is not in the index."""
    args = [str(scope), lease_ms, _fraction()]
    lease = yield from asked(due.layout, lambda: Verb("take", [due.of(scope.resource)], args, word))
    return Claim(str(scope), lease) if lease else None


def renew(due: PartedIndex, held: Claim, lease_ms: int = LEASE_MS) -> Steps[Claim | None]:
    """Extend a lease; None when it was lost (a push came, or someone else took the scope)."""
    args = [held.scope, held.lease, lease_ms, _fraction()]
    lease = yield from asked(due.layout, lambda: Verb("renew", [due.of(held.scope)], args, word))
    return None if lease == "superseded" else Claim(held.scope, lease)


def done(due: PartedIndex, held: Claim, later: int | None = None) -> Steps[bool]:
    """Take a scope off the index, or put it at `later` (Unix ms); False when it was marked due meanwhile."""
    args = [held.scope, held.lease, "" if later is None else later]
    return (yield from asked(due.layout, lambda: Verb("done", [due.of(held.scope)], args, says(b"rest"))))


def ended(due: PartedIndex, scope: str) -> Steps[None]:
    """Say that the task of a slow scope has ended, so that another one may begin."""
    yield from write(("ZREM", beside(due.of(scope), "slow"), scope))


def still_slow(due: PartedIndex, scopes: Sequence[str], lease_ms: int = LEASE_MS) -> Steps[None]:
    """Say that the tasks of slow scopes are still at work."""
    if not scopes:
        return
    until = (yield from server_ms()) + lease_ms
    for part, names in due.by_part(scopes).items():
        yield from write(("ZADD", beside(part, "slow"), "XX", *_paired(until, names)))


def give_back(part: str, claims: Sequence[Claim]) -> Steps[None]:
    """Have claimed scopes handed out again at once: nobody was given their tasks."""
    if not claims:
        return
    now = yield from server_ms()
    names = [claim.scope for claim in claims]
    yield from write(("ZADD", part, "XX", "LT", *_paired(now, names)), ("ZREM", queued(part), *names))


def drop(part: str, claims: Sequence[Claim]) -> Steps[int]:
    """Take claimed scopes off an index that are nobody's, and those that none can be called; how many were not marked since."""
    if not claims:
        return 0
    words = [word for claim in claims for word in (claim.scope.encode("utf-8", "surrogateescape"), claim.lease)]
    return (yield from Verb("drop", [part, queued(part)], words, number))


def server_ms(*, once: bool = False) -> Steps[int]:
    """The server's clock, in Unix ms: the only one that decides anything. With `once` it is not asked again."""
    return (yield from replies.server_ms(once=once))


def mark(
    due: PartedIndex,
    scopes: Sequence[Scope | str],
    *,
    urgent: bool = False,
    since: int | None = None,
    now: int | None = None,
) -> Steps[None]:
    """Mark scopes due now by the server's clock, never later than they already are; urgent ones go to the front.

    What has waited `since` Unix ms goes ahead of what came due after that, by a lease at most: what was begun is ended first.
    `now` is that clock if a reply has just told it.
    """
    if not scopes:
        return
    now = (yield from server_ms()) if now is None else now
    waited = 0 if since is None else max(0, now - since)
    ahead = URGENT_MS if urgent else min(waited, LEASE_MS)
    yield from _put(due, [str(scope) for scope in scopes], now - ahead, "LT")


def postpone(due: PartedIndex, scope: Scope, at: int) -> Steps[None]:
    """Have a due scope looked at no sooner than at Unix ms `at`: its model said when it can answer again."""
    yield from _put(due, [str(scope)], at, "XX")


def sooner(due: PartedIndex, scope: Scope, at: int) -> Steps[None]:
    """Have a scope on lease looked at again at Unix ms `at`, should that be before its lease ends."""
    yield from _put(due, [str(scope)], at, "XX", "LT")


def _put(due: PartedIndex, names: Sequence[str], at: int, *how: str) -> Steps[None]:
    def put() -> Batch[None]:
        parts = due.by_part(names).items()
        return write(*(("ZADD", part, *how, *_paired(at, own)) for part, own in parts), atomic=False)

    yield from asked(due.layout, put)


def _paired(at: float, names: Sequence[str]) -> list[float | str]:
    return [word for name in names for word in (at, name)]


def when_free(due: PartedIndex, scope: Scope, lock: str) -> Steps[None]:
    """Have a busy scope looked at again when the lock on it ends, not a lease later: its holder may be dead."""
    left = yield from as_int("PTTL", lock)
    now = yield from server_ms()
    yield from sooner(due, scope, now + max(0, left) + 1)


def looked(keys: Keys, resource: str, now: int) -> Steps[int]:
    """Note that a worker has looked at a resource, or is about to write to one; when (Unix ms) that was so before, 0 = never."""

    def look() -> Batch[tuple[float | None, None]]:
        part = keys.resources.of(resource)
        return batch(as_float("ZSCORE", part, resource), write(("ZADD", part, now, resource)))

    before, _ = yield from asked(keys.layout, look)
    return int(before or 0)
