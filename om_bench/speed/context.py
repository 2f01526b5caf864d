"""A warm `get_context` beside the same bytes from a bare socket: one thread, and ten at once."""

import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from statistics import median
from threading import Barrier
from typing import Any
from urllib.parse import unquote, urlsplit

from om_api import ObservationalMemory
from om_api.domain.values import Scope
from om_api.store.driver.connection import Connection
from om_api.store.driver.steps import pack
from om_api.store.memory import context_query, reading
from om_api.store.memory.keys import Keys
from om_bench.speed.full import THREAD, Full
from om_bench.speed.stand import Figure, Stand, side_by_side, slow, timed, us

_BUFFER = 2 * 2**20
_SILENCE_S = 0.2
_THREADS = 10
_TALKS, _TURNS = 50, 20
_BURSTS, _IN_A_BURST = 40, 5
_CLIENTS = 5
_SLOW_REACH = 8
_WORK = "`get_context` and its chat messages, 40k tokens of observations and 30k raw"
_FLOOR = "the same bytes from a bare socket"


class Floor:
    """Commands in one MULTI/EXEC, asked over a socket of its own and read into one large buffer, never parsed.

    The replies must have the same length every time.
    """

    def __init__(self, url: str, commands: Sequence[tuple[Any, ...]]) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._into = memoryview(bytearray(_BUFFER))
        if parts.password:
            self._ask(pack([("AUTH", *filter(None, [parts.username]), unquote(parts.password))]))
        if parts.path.strip("/"):
            self._ask(pack([("SELECT", parts.path.strip("/"))]))
        self._question = pack(commands)
        self.length = self._ask(self._question)

    def read(self) -> None:
        """Read all of it once."""
        self._socket.sendall(self._question)
        got = 0
        while got < self.length:
            got += self._socket.recv_into(self._into[got:])

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _ask(self, question: bytes) -> int:
        """Ask something and wait for the end of the answer; its length."""
        self._socket.sendall(question)
        self._socket.settimeout(_SILENCE_S)
        got = 0
        try:
            while True:
                got += self._socket.recv_into(self._into)
        except TimeoutError:
            return got
        finally:
            self._socket.settimeout(None)


class _Reader:
    """One agent's memory, what it does of it, and the floor of that."""

    def __init__(self, stand: Stand, n: int) -> None:
        self.full = Full(stand, f"reader-{n}")
        self.full.build()
        self._om = stand.om
        self.floor = Floor(stand.url, _everything(stand, self.full.resource))

    def read(self) -> None:
        """What an agent does before each turn: have the context, and make of it what it sends to its model."""
        _sent(self._om, self.full.resource)

    def settle(self) -> None:
        """Have as many messages as in the beginning, and have read them."""
        self.full.turn_back()
        self.read()


def _everything(stand: Stand, resource: str) -> list[tuple[object, ...]]:
    """The commands of a first look, but for the time, which is not always as long."""
    of, first = Keys(stand.om.settings.prefix), context_query.Names(Scope(resource), {}, ())
    _, names = Connection(stand.bare).run(reading.snapshot(of, resource, THREAD, first))
    return [command for command in context_query.commands(of.of(resource), THREAD, names, None) if command != ("TIME",)]


def context(stand: Stand) -> Iterator[Figure]:
    """An agent reads after each message that came. Ten threads read a memory each, by one client, all at the same time.

    The floor is what a first look asks for: all that the context is made of. The longest calls are held against its median.
    """
    with ExitStack() as held:
        agents = [_Reader(stand, n) for n in range(_THREADS)]
        for agent in agents:
            held.enter_context(closing(agent.floor))
        yield from _figures("1 thread", *_alone(agents[0]), reach=3.3)
        yield from _figures(f"{_THREADS} threads", *_together(agents), reach=4)
        yield _first(stand, agents)


def _figures(threads: str, ours: list[float], floor: list[float], reach: float) -> Iterator[Figure]:
    work = f"{_WORK}, {threads}"
    yield _figure(f"{work}, p50", median(ours), floor, reach)
    yield _figure(f"{work}, p99", slow(ours), floor, _SLOW_REACH)


def _figure(work: str, ours: float, floor: list[float], reach: float | None) -> Figure:
    least = median(floor)
    reference = f"{_FLOOR}: {us(least)} (p99 {us(slow(floor))})"
    return Figure(work=work, ours=us(ours), reference=reference, value=ours / least, reach=reach)


def _alone(agent: _Reader) -> tuple[list[float], list[float]]:
    pairs: list[tuple[float, float]] = []
    for _ in range(_TALKS):
        agent.settle()
        pairs += [_after_a_turn(agent) for _ in range(_TURNS)]
    return [ours for ours, _ in pairs], [floor for _, floor in pairs]


def _after_a_turn(agent: _Reader) -> tuple[float, float]:
    agent.full.turn()
    (ours,), (floor,) = side_by_side(agent.read, agent.floor.read, 1)
    return ours, floor


def _together(agents: Sequence[_Reader]) -> tuple[list[float], list[float]]:
    """Durations of bursts of calls in as many threads as there are agents, ours and the floor in turns.

    A message comes before each burst and not within it, lest the threads wait for the one that writes.
    """
    ours, floor = list[float](), list[float]()
    with ThreadPoolExecutor(len(agents)) as pool:
        for _ in range(_BURSTS):
            ours += _burst(pool, agents, [agent.read for agent in agents])
            floor += _burst(pool, agents, [agent.floor.read for agent in agents])
    return ours, floor


def _burst(pool: Executor, agents: Sequence[_Reader], works: Sequence[Callable[[], None]]) -> list[float]:
    start = Barrier(len(agents))

    def run(agent: _Reader, work: Callable[[], None]) -> list[float]:
        agent.settle()
        agent.full.turn()
        start.wait()
        return [timed(work) for _ in range(_IN_A_BURST)]

    return [duration for some in pool.map(run, agents, works) for duration in some]


def _first(stand: Stand, agents: Sequence[_Reader]) -> Figure:
    """What a client takes that knows nothing of a thread yet: for who reads each thread once."""
    ours = [duration for _ in range(_CLIENTS) for duration in _firsts(stand, agents)]
    floor = [timed(agent.floor.read) for _ in range(_CLIENTS) for agent in agents]
    return _figure(f"{_WORK}, a client's first of a thread, p50", median(ours), floor, None)


def _firsts(stand: Stand, agents: Sequence[_Reader]) -> list[float]:
    with ObservationalMemory(stand.om.settings, tally=False) as om:
        om.ping()
        return [timed(partial(_sent, om, agent.full.resource)) for agent in agents]


def _sent(om: ObservationalMemory, resource: str) -> None:
    om.get_context(THREAD, resource).as_openai()
