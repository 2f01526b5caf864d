"""When a house has come to rest: nothing left that a worker should have done; and having everything observed by force."""

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import redis

from om_api import ObservationalMemory
from om_api.domain.errors import StoreError

_OVERDUE_MS = 3_000  # a tick comes every half second; a scope that nobody claimed for this long is stuck
_LOOK_S = 0.25
_AGAIN_S = 15.0


def unfinished(client: redis.Redis, prefix: str) -> str:
    """What is left to do, in words; '' when all scopes are observed.

    Observed: no chunk is sealed and not ready, no due scope waits unclaimed, no key waits for adoption, no raw member is
    uncounted, and no scope without ready chunks holds unsealed tokens from its wake on.
    """
    seconds, micros = client.time()
    now = seconds * 1000 + micros // 1000
    for index, least in (("due:observe", now - _OVERDUE_MS), ("due:reflect", now - _OVERDUE_MS), ("adopt", "+inf")):
        waiting = (client.zrangebyscore(part, "-inf", least, 0, 1) for part in parts(client, f"{prefix}:{index}"))
        if first := next((names[0].decode() for names in waiting if names), ""):
            return f"{first} waits in {index}"
    for key in sorted(client.scan_iter(f"{prefix}:{{*", count=1000)):
        base, _, kind = key.decode().partition("}:")
        if kind.startswith("chunk:") and client.hget(key, "state") == b"sealed":
            return f"{key.decode()} is sealed, not ready"
        if kind.startswith("messages:"):
            counted = client.hget(base + "}:tokens", "#" + kind.removeprefix("messages:"))
            if client.zcard(key) != int(counted or 0):
                return f"{key.decode()} holds members that nobody counted"
        if kind == "tokens" and (waiting := _waiting(client, base + "}:")):
            return f"{base}}} holds enough to be sealed ({waiting})"
    return ""


def parts(client: redis.Redis, index: str) -> list[str]:
    """The keys of an index: one of its name, or many with numbers behind it."""
    name = re.compile(rf"{re.escape(index)}(:\d+:\d+)?")
    found = [key.decode() for key in client.scan_iter(f"{index}*", count=1000)]
    return sorted(key for key in found if name.fullmatch(key) and client.type(key) == b"zset")


def _waiting(client: redis.Redis, base: str) -> str:
    """Scopes with unsealed tokens from their wake on. One that has ready chunks may rest: the next activation decides."""
    fields, scope = client.hgetall(base + "tokens"), client.get(base + "scope")
    # before its first seal a memory has no scope yet: then its workers' wakes tell
    apart = scope == b"thread" or (scope is None and any(name.startswith(b"*wake:") for name in fields))
    parts = [("", int(fields.get(b"*", 0)), fields.get(b"*wake"))]
    if apart:
        held = {name: int(n) for name, n in fields.items() if not name.startswith((b"#", b"*"))}
        parts = [(":" + name.decode(), n, fields.get(b"*wake:" + name)) for name, n in held.items()]
    full = [(tail, n) for tail, n, wake in parts if n and n >= int(wake or 0)]
    return ", ".join(f"{tail or 'all'}: {n}" for tail, n in full if not client.zcard(f"{base}chunks{tail}"))


def wait_for_quiet(client: redis.Redis, prefix: str, tend: Callable[[], None], longest: float) -> tuple[float, str]:
    """Seconds until all scopes were observed, and '' or what is still unfinished after `longest`."""
    began, left = time.monotonic(), "never looked"
    while left and time.monotonic() - began < longest:
        tend()
        left = unfinished(client, prefix)
        if left:
            time.sleep(_LOOK_S)
    return time.monotonic() - began, left


def observe_all(
    om: ObservationalMemory,
    client: redis.Redis,
    prefix: str,
    resources: Iterable[str],
    tend: Callable[[], None],
    longest: float,
) -> int:
    """Have everything raw observed by force; how many messages were still raw after `longest` seconds."""
    until, names = time.monotonic() + longest, list(resources)
    while (left := _raw(client, prefix)) and time.monotonic() < until:
        for name in names:
            with suppress(StoreError):
                om.force_observe(None, name)
        # a request stands until it is answered: asking anew all the time would never let it be
        again = time.monotonic() + _AGAIN_S
        while left and time.monotonic() < again:
            tend()
            time.sleep(_LOOK_S)
            left = _raw(client, prefix)
    return left


def _raw(client: redis.Redis, prefix: str) -> int:
    kinds = ("messages", "sealed")
    return sum(int(client.zcard(key)) for kind in kinds for key in client.scan_iter(f"{prefix}:{{*}}:{kind}:*", 1000))
