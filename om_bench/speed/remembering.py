"""What it costs to know a message's id for as long as anything of the message is kept; see docs/decisions/0039."""

from collections.abc import Iterator

from om_api.domain.values import Scope
from om_api.store.memory.known import tidy
from om_bench.speed.stand import Figure, Stand
from om_bench.speed.writing import AgentTalk, message

_SIZES = (100, 1_000, 10_000)  # messages of a thread
_WEIGHED = 20_000
_BATCH = 100
_REACH = 24  # bytes a message
_KNOWN = "om-bench:*:known:*"
_THREAD = "thread-1"


def known_ids(stand: Stand) -> Iterator[Figure]:
    """Bytes of what is known, for each message, as threads get longer; and once the sources of all have expired."""
    for size in _SIZES:
        agents = max(1, _WEIGHED // size)
        for n in range(agents):
            _fill(stand, f"agent-{n:02}", size)
        whole, ids = (used / (agents * size) for used in (stand.used(), stand.used(_KNOWN)))
        stand.clear()
        rest = f"{whole - ids:,.0f} bytes: all else of a message"
        yield _figure(f"memory of a known id, {size:,} messages in a thread", ids, rest, _REACH)
    yield _expired(stand, _SIZES[-1])


def _fill(stand: Stand, agent: str, size: int) -> None:
    talk = AgentTalk()
    for start in range(0, size, _BATCH):
        stand.om.add_messages([message(agent, talk.text()) for _ in range(min(_BATCH, size - start))])


def _expired(stand: Stand, size: int) -> Figure:
    """What is left when all was observed, and nothing of it kept any more: as if sources expired at once."""
    agent = "agent-00"
    _fill(stand, agent, size)
    stand.running.end_session(_THREAD, agent)
    before = stand.used(_KNOWN) / size
    gone = stand.running.services.run(tidy(stand.running.services.keys, Scope(agent), [_THREAD], 0))
    if gone != size:
        raise RuntimeError(f"of {size} ids {gone} were forgotten with their sources")
    left = stand.used(_KNOWN) / size
    stand.clear()
    return _figure("the same once their sources have expired", left, f"{before:,.1f} bytes: while they are kept", 1)


def _figure(work: str, ids: float, reference: str, reach: float) -> Figure:
    return Figure(work=work, ours=f"{ids:,.1f} bytes", reference=reference, value=ids, reach=reach, unit="bytes")
