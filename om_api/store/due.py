"""The due indexes: which scope needs a look, not before when, and who has it on lease."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from om_api.store.keys import queued
from om_api.store.steps import Batch, Steps, Verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.store.keys import Keys
    from om_api.values import Scope

LEASE_MS = 30_000
NO_BOUND = 1 << 40
URGENT_MS = 3_600_000  # an urgent scope stands this much ahead of what just became due


class Claim(NamedTuple):
    """A due scope on lease: only who holds the lease may renew it or say done."""

    scope: str
    lease: str


def _fraction() -> float:
    # 12 bits survive in a double beside Unix ms; two leases of one scope in the same ms must not be equal
    return random.randrange(1, 4096) / 4096


def claim(
    due: str, n: int, lease_ms: int = LEASE_MS, *, most: int = NO_BOUND, least: int = 1, grace_ms: int = 0
) -> Steps[list[Claim]]:
    """Take up to n due scopes to be handed out, lowest first, each on lease; of a name that is no text, what `drop` takes.

    There are never more than `most` of them whose task nobody has begun, and none is taken while there is room for fewer than
    `least`. One that nobody has begun `grace_ms` after its lease counts as lost.
    """
    args = [n, most, least, lease_ms, _fraction(), grace_ms]
    reply = yield Verb("claim", [due, queued(due)], args)
    words = [part.decode("utf-8", "surrogateescape") for part in reply]
    return [Claim(scope, lease) for scope, lease in zip(words[::2], words[1::2], strict=True)]


def first(due: str, n: int) -> Steps[list[str]]:
    """The first n scopes that are due by now; they stay so."""
    (found,) = yield Batch([("ZRANGE", due, "-inf", (yield from server_ms()), "BYSCORE", "LIMIT", 0, n)])
    return [name.decode("utf-8", "surrogateescape") for name in found]


def hold(due: str, names: Sequence[str]) -> Steps[list[Claim]]:
    """Put due scopes on lease that nobody is to be given: a mark from now on can be told."""
    if not names:
        return []
    lease = f"{(yield from server_ms()) + LEASE_MS + _fraction():.17g}"
    pairs = [part for name in names for part in (lease, name.encode("utf-8", "surrogateescape"))]
    yield Batch([("ZADD", due, "XX", *pairs)], writes=True)
    return [Claim(name, lease) for name in names]


def start(due: str, held: Claim) -> Steps[bool]:
    """Begin the task of a scope that was handed out; False when another task did, or will, in its place."""
    reply = yield Verb("start", [due, queued(due)], [held.scope, held.lease])
    return bool(reply == b"started")


def keep(due: str, scopes: Sequence[str], lease_ms: int = LEASE_MS) -> Steps[None]:
    """Extend the leases of scopes whose tasks a worker holds and has not begun, for as long as nobody began them."""
    if not scopes:
        return
    until = (yield from server_ms()) + lease_ms
    pairs = [part for scope in scopes for part in (until, scope)]
    commands = [("ZADD", queued(due), "XX", *pairs), ("PEXPIRE", queued(due), 20 * lease_ms)]
    yield Batch(commands, writes=True)


def take(due: str, scope: Scope, lease_ms: int = LEASE_MS) -> Steps[Claim | None]:
    """Hold a scope for a look that begins now, whoever held it before; None when it is not in the index."""
    reply = yield Verb("take", [due], [str(scope), lease_ms, _fraction()])
    return Claim(str(scope), reply.decode()) if reply else None


def renew(due: str, held: Claim, lease_ms: int = LEASE_MS) -> Steps[Claim | None]:
    """Extend a lease; None when it was lost (a push came, or someone else took the scope)."""
    reply = yield Verb("renew", [due], [held.scope, held.lease, lease_ms, _fraction()])
    lease = reply.decode()
    return None if lease == "superseded" else Claim(held.scope, lease)


def done(due: str, held: Claim, later: int | None = None) -> Steps[bool]:
    """Take a scope off the index, or put it at `later` (Unix ms); False when it was marked due meanwhile."""
    reply = yield Verb("done", [due], [held.scope, held.lease, "" if later is None else later])
    return bool(reply == b"rest")


def give_back(due: str, claims: Sequence[Claim]) -> Steps[None]:
    """Have claimed scopes handed out again at once: nobody was given their tasks."""
    now = yield from server_ms()
    names = [claim.scope for claim in claims]
    pairs = [part for name in names for part in (now, name)]
    yield Batch([("ZADD", due, "XX", "LT", *pairs), ("ZREM", queued(due), *names)], writes=True)


def drop(due: str, claims: Sequence[Claim]) -> Steps[int]:
    """Take claimed scopes off an index that are nobody's, and those that none can be called; how many were not marked since."""
    if not claims:
        return 0
    words = [word for claim in claims for word in (claim.scope.encode("utf-8", "surrogateescape"), claim.lease)]
    return int((yield Verb("drop", [due, queued(due)], words)))


def server_ms(*, once: bool = False) -> Steps[int]:
    """The server's clock, in Unix ms: the only one that decides anything. With `once` it is not asked again."""
    (time,) = yield Batch([("TIME",)], once=once)
    return int(time[0]) * 1000 + int(time[1]) // 1000


def mark(due: str, scopes: Sequence[Scope | str], *, urgent: bool = False, since: int | None = None) -> Steps[None]:
    """Mark scopes due now by the server's clock, never later than they already are; urgent ones go to the front.

    What has waited `since` Unix ms goes ahead of what came due after that, by a lease at most: what was begun is ended first.
    """
    if not scopes:
        return
    now = yield from server_ms()
    waited = 0 if since is None else max(0, now - since)
    ahead = URGENT_MS if urgent else min(waited, LEASE_MS)
    pairs = [part for scope in scopes for part in (now - ahead, str(scope))]
    yield Batch([("ZADD", due, "LT", *pairs)], writes=True)


def postpone(due: str, scope: Scope, at: int) -> Steps[None]:
    """Have a due scope looked at no sooner than at Unix ms `at`: its model said when it can answer again."""
    yield Batch([("ZADD", due, "XX", at, str(scope))], writes=True)


def sooner(due: str, scope: Scope, at: int) -> Steps[None]:
    """Have a scope on lease looked at again at Unix ms `at`, should that be before its lease ends."""
    yield Batch([("ZADD", due, "XX", "LT", at, str(scope))], writes=True)


def when_free(due: str, scope: Scope, lock: str) -> Steps[None]:
    """Have a busy scope looked at again when the lock on it ends, not a lease later: its holder may be dead."""
    (left,) = yield Batch([("PTTL", lock)])
    now = yield from server_ms()
    yield from sooner(due, scope, now + max(0, int(left)) + 1)


def looked(keys: Keys, resource: str, now: int) -> Steps[None]:
    """Note that a worker has looked at a resource."""
    yield Batch([("ZADD", keys.resources, now, resource)], writes=True)
