"""When a house has come to rest: nothing left that a worker should have done."""

import re
import time
from collections.abc import Callable

import redis

_OVERDUE_MS = 3_000  # a tick comes every half second; a scope that nobody claimed for this long is stuck
_LOOK_S = 0.25


def unfinished(client: redis.Redis, prefix: str) -> str:
    """What is left to do, in words; '' when all scopes are observed.

    Observed: no chunk is sealed and not ready, no due scope waits unclaimed, no key waits for adoption, no raw member is
    uncounted, and no scope without ready chunks holds unsealed tokens from its wake on.
    """
    overdue = _now_ms(client) - _OVERDUE_MS
    for index, least in (("due:observe", overdue), ("due:reflect", overdue), ("adopt", "+inf")):
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


def due(client: redis.Redis, prefix: str) -> int:
    """How many scopes are due to be observed now."""
    return sum(int(client.zcount(part, "-inf", _now_ms(client))) for part in parts(client, f"{prefix}:due:observe"))


def _now_ms(client: redis.Redis) -> int:
    seconds, micros = client.time()
    return int(seconds) * 1000 + int(micros) // 1000


def wait_for_quiet(client: redis.Redis, prefix: str, tend: Callable[[], None], longest: float) -> tuple[float, str]:
    """Seconds until all scopes were observed, and '' or what is still unfinished after `longest`."""
    began, left = time.monotonic(), "never looked"
    while left and time.monotonic() - began < longest:
        tend()
        left = unfinished(client, prefix)
        if left:
            time.sleep(_LOOK_S)
    return time.monotonic() - began, left
