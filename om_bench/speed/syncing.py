"""A whole history sent again: 400 messages without ids, of which two are new, beside adding these two by themselves."""

from collections.abc import Iterator
from itertools import cycle, islice
from statistics import median

from om_api import Message, ObservationalMemory
from om_bench.speed.stand import Figure, Stand, slow, timed, us
from om_bench.speed.writing import AgentTalk

_LENGTH, _NEW = 400, 2
_TALKS = 200
_REACH_MS = 3
_RESOURCE = "agent-00"


def sync(stand: Stand) -> Iterator[Figure]:
    """By the client that sent the history before, and by one that never saw it."""
    talk = AgentTalk()
    with ObservationalMemory(stand.om.settings) as other:
        rounds = [_round(stand.om, other, f"thread-{n}", talk) for n in range(_TALKS)]
    warm, cold, plain = ([*times] for times in zip(*rounds, strict=True))
    reference = f"{us(median(plain))}: add_messages of the {_NEW}"
    for who, times in (("", warm), (", by a client that never saw it", cold)):
        work = f"sync of {_LENGTH} messages, {_NEW} of them new{who}"
        for name, seconds in (("p50", median(times)), ("p99", slow(times))):
            yield Figure(work=f"{work}, {name}", ours=us(seconds), reference=reference,
                         value=seconds * 1e3, reach=_REACH_MS, unit="ms")  # fmt: skip
    stand.clear()


def _round(
    om: ObservationalMemory, other: ObservationalMemory, thread: str, talk: AgentTalk
) -> tuple[float, float, float]:
    """Seconds for a history that this client sent before, for one that another client did, and for what is new of it alone."""
    said = [Message(role=role, content=talk.text()) for role in islice(cycle(("user", "assistant")), _LENGTH + _NEW)]
    known, whole, more = said[: _LENGTH - _NEW], said[:_LENGTH], said[_LENGTH:]
    om.sync(known, _RESOURCE, thread)
    other.sync(known, _RESOURCE, f"{thread}-other")
    for message in more:
        message.resource_id, message.thread_id = _RESOURCE, f"{thread}-alone"
    return (
        timed(lambda: om.sync(whole, _RESOURCE, thread)),
        timed(lambda: om.sync(whole, _RESOURCE, f"{thread}-other")),
        timed(lambda: om.add_messages(more)),
    )
