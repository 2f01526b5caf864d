"""Writing: messages added by our client, beside the same bytes written by redis-py's own ZADD.

What is timed of ours is all of it: the values made, checked, counted, encoded, and kept in one round trip. The reference's
members are made before. Fifty agents write in turns, each below what makes its memory due, as between two looks of a worker.
"""

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, cycle

import msgspec
import redis.asyncio

from om_api import AsyncObservationalMemory, Message
from om_api.cli.demo import RECORDING
from om_api.domain.values import new_id
from om_api.domain.wire import encode_message
from om_bench.speed.stand import Figure, Stand, beside, side_by_side

_AGENTS = 50
_CONTENT = 246  # characters: with the fields around them a member takes 400 bytes
_TOKENS = 55  # what such a text weighs, for members that are made without counting
_SINGLES = 2_500
_BATCH, _BATCHES = 100, 150
_WEIGHED = 20_000
_IN_A_THREAD = 400
_ONE, _MANY, _KEPT = 1.15, 0.8, 1.25  # what is to be reached


class AgentTalk:
    """What agents say in turns: pieces of a recorded conversation, no two alike, whose tokens nobody has counted yet."""

    def __init__(self) -> None:
        lines = [msgspec.json.decode(line) for line in gzip.decompress(RECORDING.read_bytes()).splitlines()]
        said = " ".join(str(line["content"]) for line in lines)
        self._said = said.encode("ascii", "ignore").decode()
        self._starts = count(step=61)
        self._agents = cycle(f"agent-{n:02}" for n in range(_AGENTS))

    def text(self) -> str:
        """The next piece."""
        start = next(self._starts) % (len(self._said) - _CONTENT)
        return self._said[start : start + _CONTENT]

    def agent(self) -> str:
        """Who speaks next."""
        return next(self._agents)

    def member(self, agent: str) -> bytes:
        """The bytes that our client would write of a turn: 400, more or less an escaped sign."""
        message = Message(role="user", content=self.text(), thread_id="thread-1", resource_id=agent, tokens=_TOKENS)
        message.id, message.timestamp = new_id(), int(time.time() * 1000)
        return encode_message(message)

    def plain(self, agent: str) -> tuple[str, dict[bytes, int]]:
        """Another such turn for a ZADD: its key and its score."""
        return f"om-bench:plain:{{{agent}}}", {self.member(agent): int(time.time() * 1000)}


def add_message(stand: Stand) -> Iterator[Figure]:
    """One message, with the blocking client and with the asyncio one."""
    talk = _opened(stand)
    texts, plain = _said(talk, _SINGLES)
    ours, reference = side_by_side(
        lambda: stand.om.add_message(message(talk.agent(), next(texts))),
        lambda: stand.bare.zadd(*next(plain)),
        _SINGLES,
    )
    yield beside("one add_message", ours, reference, _ONE, "ZADD of the same bytes")
    ours, reference = asyncio.run(_with_asyncio(stand, talk))
    yield beside("one add_message, asyncio", ours, reference, _ONE, "ZADD of the same bytes, asyncio")
    stand.clear()


async def _with_asyncio(stand: Stand, talk: AgentTalk) -> tuple[list[float], list[float]]:
    texts, plain = _said(talk, _SINGLES)
    om, bare = AsyncObservationalMemory(stand.om.settings), redis.asyncio.Redis.from_url(stand.url)
    pairs = [
        (
            await _timed(lambda: om.add_message(message(talk.agent(), next(texts)))),
            await _timed(lambda: bare.zadd(*next(plain))),
        )
        for _ in range(_SINGLES)
    ]
    await om.close()
    await bare.aclose()
    return [one for one, _ in pairs], [other for _, other in pairs]


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


def add_messages(stand: Stand) -> Iterator[Figure]:
    """A hundred messages of one agent, for each of them."""
    talk = _opened(stand)
    texts, plain = _said(talk, _BATCH * _BATCHES)

    def ours() -> None:
        agent = talk.agent()
        stand.om.add_messages([message(agent, next(texts)) for _ in range(_BATCH)])

    def reference() -> None:
        pipe = stand.bare.pipeline(transaction=False)
        for _ in range(_BATCH):
            pipe.zadd(*next(plain))
        pipe.execute()

    one, other = side_by_side(ours, reference, _BATCHES)
    yield beside("add_messages by 100, a message", _each(one), _each(other), _MANY, "pipeline of 100 ZADDs")
    stand.clear()


def memory_of_a_message(stand: Stand) -> Iterator[Figure]:
    """What a message of 400 bytes takes, every key together."""
    talk = AgentTalk()
    for n in range(0, _WEIGHED, _BATCH):
        stand.om.add_messages([message(f"agent-{n // _IN_A_THREAD:02}", talk.text()) for _ in range(_BATCH)])
    whole = stand.used()
    stand.clear()
    yield _weighed("memory of a stored message", whole, _plain_memory(stand, talk))


def _plain_memory(stand: Stand, talk: AgentTalk) -> int:
    pipe = stand.bare.pipeline(transaction=False)
    for n in range(_WEIGHED):
        pipe.zadd(*talk.plain(f"agent-{n // _IN_A_THREAD:02}"))
    pipe.execute()
    used = stand.used()
    stand.clear()
    return used


def _opened(stand: Stand) -> AgentTalk:
    """Fifty agents that workers have looked at, so that they are due again from their next chunk on."""
    talk = AgentTalk()
    for _ in range(_AGENTS):
        stand.om.add_message(message(talk.agent(), talk.text()))
    stand.running.work()
    return talk


def _said(talk: AgentTalk, messages: int) -> tuple[Iterator[str], Iterator[tuple[str, dict[bytes, int]]]]:
    """Texts for our client, and as many members for a ZADD, made before anything is timed."""
    return iter([talk.text() for _ in range(messages)]), iter([talk.plain(talk.agent()) for _ in range(messages)])


def message(agent: str, text: str) -> Message:
    """What an agent says, before anything was counted."""
    return Message(role="user", content=text, thread_id="thread-1", resource_id=agent)


def _each(batches: list[float]) -> list[float]:
    return [batch / _BATCH for batch in batches]


def _weighed(work: str, ours: int, plain: int) -> Figure:
    one, other = ours / _WEIGHED, plain / _WEIGHED
    plainly = f"{other:,.0f} bytes: a plain member of a ZSET"
    return Figure(work=work, ours=f"{one:,.0f} bytes", reference=plainly, value=one / other, reach=_KEPT)
