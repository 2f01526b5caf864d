"""What an activation costs the server: as much as its chunks, not as their messages."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

import redis

from om_api import Message
from om_bench.speed.stand import Figure, Stand, beside, us

_MANY, _FEW = 5_000, 300
_WINDOW = 30_000  # tokens: the default message threshold, four fifths of which are activated
_PUSHES = 10  # half a chunk each, so that the workers cut and observe on the way
_TIMES = 11
_PINGS = 1_000
_REACH_US, _REACH = 100, 3
_RESOURCE, _THREAD = "activating", "t-1"


def activation(stand: Stand) -> Iterator[Figure]:
    """An activation of 5,000 messages in the server's own statistics, beside a PING and beside one of 300."""
    pairs = [(_activated(stand, _MANY), _activated(stand, _FEW)) for _ in range(_TIMES + 1)][1:]
    many, few = [one for one, _ in pairs], [other for _, other in pairs]
    ours = median(many)
    ping, work = _ping(stand.bare), f"server's time to activate {_MANY:,} messages"
    yield Figure(
        work=f"{work}, beyond a PING's", ours=us(ours), reference=us(ping),
        value=(ours - ping) * 1e6, reach=_REACH_US, unit="us",
    )  # fmt: skip
    yield beside(f"{work}, beside {_FEW}", many, few, _REACH)


def _activated(stand: Stand, covered: int) -> float:
    """Seconds of the server's for the one script call by which a read activates what the workers have made ready."""
    pushes = _in_pushes(covered * 5 // 4)
    for messages in pushes[:-1]:
        stand.running.push(*messages)
    stand.om.add_messages(pushes[-1])
    before = _spent(stand.bare, "evalsha")
    stand.om.get_context(_THREAD, _RESOURCE)
    calls, seconds = (after - was for after, was in zip(_spent(stand.bare, "evalsha"), before, strict=True))
    held = sum(len(each.message_ids) for each in stand.om.observations(_RESOURCE))
    stand.om.clear(_RESOURCE)
    if (calls, held) != (1, covered):
        raise RuntimeError(f"{calls:.0f} calls activated {held} messages, not one call {covered}")
    return seconds


def _in_pushes(count: int) -> list[list[Message]]:
    """Messages of 30,000 tokens in all, in ten parts of the same size."""
    ends = [_WINDOW * n // count for n in range(count + 1)]
    said = [
        Message(
            role="user", content="word " * (end - start), tokens=end - start, thread_id=_THREAD, resource_id=_RESOURCE
        )
        for start, end in pairwise(ends)
    ]
    cuts = [count * n // _PUSHES for n in range(_PUSHES + 1)]
    return [said[start:end] for start, end in pairwise(cuts)]


def _spent(bare: redis.Redis, command: str) -> tuple[float, float]:
    """How often the server ran a command so far, and for how many seconds."""
    said = bare.info("commandstats").get(f"cmdstat_{command}", {"calls": 0, "usec": 0})
    return said["calls"], said["usec"] / 1e6


def _ping(bare: redis.Redis) -> float:
    before = _spent(bare, "ping")
    for _ in range(_PINGS):
        bare.ping()
    calls, seconds = (after - was for after, was in zip(_spent(bare, "ping"), before, strict=True))
    return seconds / calls
