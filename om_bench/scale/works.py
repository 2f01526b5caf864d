"""What is measured in a population: what beats, agents, operators and new workers do."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import NamedTuple

import redis

from om_api import Message, ObservationalMemory
from om_api.cli.children import BEAT, WORKER
from om_api.metrics.scraper import Scraper
from om_api.ops import doctor
from om_api.store.fleet.health import QUEUES
from om_api.store.memory import due
from om_api.store.memory.keys import queued
from om_bench.harness.pipeline import KeptTasks
from om_bench.harness.processes import wait
from om_bench.scale.population import Population
from om_bench.scale.templates import KNOWN
from om_bench.speed.working import start
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.rounds import Rounds

_READERS = 50
_LIVES_S = 3_600  # as the one worker that there is
_POLL_S = 0.005


class Stage:
    """A population and who acts in it: so many agents are active in a minute. Each act is told how often it was done before."""

    def __init__(self, population: Population, active: int) -> None:
        self.population = population
        self.settings, self._om = population.running.om.settings, population.running.om
        self.active, self._readers = population.some(min(active, population.copies)), population.some(_READERS, KNOWN)
        self._due = min(max(1, round(active * self.settings.memory.observer_interval / 60)), population.copies)
        # what rounds cost is measured, not what follows
        services = population.running.services._replace(queues=KeptTasks(0))
        services.presence.serve(QUEUES, active)
        services.presence.renew(_LIVES_S)
        self._run, self._rounds = services.run, Rounds(services, Dispatcher(services), lambda _: 0)
        self._began = 0

    def next_slot(self, _n: int = 0) -> None:
        """Let the time come for the next of every tick."""
        keys = self.population.keys
        names = [f"{name}{part}" for name in ("observer", "reflector") for part in self._parts()]
        self.population.delete(*map(keys.tick, [*names, "sweep"]), *map(queued, keys.due_observe.parts()))
        self._began = self._run(due.server_ms())

    def _parts(self) -> list[str]:
        return ["", *(f":{number}" for number in range(self.population.keys.layout.now.count))]

    def come_due(self, n: int) -> None:
        """Have as many agents due as become active between two ticks."""
        self.next_slot()
        first = n * self._due % (len(self.active) - self._due + 1)
        self._run(due.mark(self.population.keys.due_observe, self.active[first : first + self._due]))

    def observer_tick(self, _n: int) -> None:
        """What a beat sends most often."""
        self._rounds.observe()

    def reflector_tick(self, _n: int) -> None:
        """The same for reflections."""
        self._rounds.reflect()

    def sweep(self, _n: int) -> None:
        """What a beat sends each minute."""
        self._rounds.sweep()

    def tended(self) -> int:
        """How many agents were looked at since the time came for it."""
        parts = self.population.keys.resources.parts()
        return sum(self.population.servers.node_of(part).zcount(part, self._began, "+inf") for part in parts)

    def push(self, n: int) -> None:
        """An agent says something."""
        self._say(self.active[n % len(self.active)])

    def first_context(self, n: int) -> None:
        """Read a memory that this client has not read before."""
        self._om.get_context("t-0", self._readers[n % len(self._readers)]).as_openai()

    def read_before(self, n: int) -> None:
        """Have a memory that this client has read, and to which something was said since."""
        self.first_context(n)
        self._say(self._readers[n % len(self._readers)])

    def minute(self, _n: int) -> None:
        """Every active agent says something and reads its memory, and workers look at all of them."""
        for name in self.active:
            self._say(name)
            self._om.get_context("t-0", name).as_openai()
        self._run(due.mark(self.population.keys.due_observe, self.active))
        self.population.running.work()

    def _say(self, name: str) -> None:
        said = "I am back from the harbour, and will paint the boat on Friday."
        self._om.add_message(Message(role="user", content=said, thread_id="t-0", resource_id=name))

    def stats(self, n: int) -> None:
        """`om stats` of one agent."""
        self._om.stats(self._readers[n % len(self._readers)])

    def top(self, _n: int) -> None:
        """`om top --once`."""
        with ObservationalMemory(self.settings) as memory:  # a new process each time, which has read nothing yet
            memory.agents(limit=20)

    def scrape(self, _n: int) -> None:
        """What Prometheus asks for."""
        asyncio.run(self._scraped())

    async def _scraped(self) -> None:
        scraper = Scraper(self.settings)
        await scraper.scrape()
        await scraper.close()

    def doctor(self, _n: int) -> None:
        """`om doctor`."""
        doctor.examine(self.settings)

    def leave_a_tick(self, _n: int) -> None:
        """Have a beat send an observer tick that nobody runs yet."""
        self.next_slot()
        self.population.delete(self.population.keys.ticked("observer"))
        with ExitStack() as held, closing(redis.Redis.from_url(self.population.servers.broker)) as broker:
            start(held, BEAT, {**self.population.environ, "OM_OBSERVER_INTERVAL": "1s"})
            wait(lambda: bool(broker.llen("ticks")), "a tick of a beat", _POLL_S)

    def cold_start(self, _n: int) -> None:
        """Start a worker process, until it has begun its first task."""
        ticked = self.population.keys.ticked("observer")
        node = self.population.servers.node_of(ticked)
        with ExitStack() as held:
            start(held, WORKER, self.population.environ)
            wait(lambda: bool(node.exists(ticked)), "the first task of a worker", _POLL_S)


class Work(NamedTuple):
    """An act to be measured `rounds` times, or so many `times` in each; what comes `before` it is not.

    `of` says to how many its cost is to be shared out.
    """

    name: str
    do: Callable[[Stage, int], None]
    before: Callable[[Stage, int], None] = lambda _stage, _n: None
    rounds: int = 10
    times: int = 1
    of: Callable[[Stage], int] = lambda _: 1


def works(active: int) -> Iterator[Work]:
    """Everything that is measured where so many agents are active in a minute, what leaves most behind last."""
    yield Work("observer tick, nothing due", Stage.observer_tick, Stage.next_slot, 30)
    yield Work("reflector tick, nothing due", Stage.reflector_tick, Stage.next_slot, 30)
    yield Work("sweep, for each agent tended", Stage.sweep, Stage.next_slot, 3, of=Stage.tended)
    yield Work("context, a client's first of an agent", Stage.first_context, rounds=5, times=_READERS // 5)
    yield Work("context of one read before, after a message", Stage.first_context, Stage.read_before, _READERS)
    yield Work("push of a message", Stage.push, times=50)
    yield Work("`om stats` of an agent", Stage.stats, times=10)
    yield Work("`om top`", Stage.top)
    yield Work("scrape of the metrics", Stage.scrape)
    yield Work("`om doctor`", Stage.doctor, rounds=3)
    yield Work(f"observer tick, {active:,} active in a minute", Stage.observer_tick, Stage.come_due)
    each = "an active agent: says something, reads its memory, is looked at"
    yield Work(each, Stage.minute, rounds=1, of=lambda stage: len(stage.active))
    yield Work("a worker process, until its first task", Stage.cold_start, Stage.leave_a_tick, 3)
