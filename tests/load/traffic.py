"""Everybody who asks: an event loop of its own, in a thread of its own, while processes come and go."""

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable

import httpx2
import redis
from chaos import judging
from chaos.house import PREFIX, House
from chaos.journal import Journal
from key_ring import KeyRing

from load import looking, owning, speaking
from load.agent import Agent, Asker, Badges
from load.plan import Run, cast
from load.seen import Away, Tally

KINDS: dict[Callable[[Agent], Awaitable[None]], float] = {
    speaking.push: 34,
    speaking.batch: 10,
    speaking.repeat: 3,
    looking.context: 26,
    looking.stats: 6,
    looking.record: 1,
    looking.threads: 3,
    looking.observations: 2,
    looking.sources: 2,
    looking.reflections: 1,
    looking.replaced: 1,
    owning.observe: 0.5,
    owning.reflect: 0.3,
    owning.clear: 0.3,
    owning.foreign: 3,
    owning.weak: 2,
    owning.stranger: 2,
    owning.invalid: 1,
    owning.house: 2,
}
_KEPT_ALIVE_S = 2.0  # less than the server's five: it must not close what is being used
_TIMEOUT_S = 30.0
_ENDS_S = 70.0


class Traffic(threading.Thread):
    """All agents of a run; begins with `start`, and ends soon after `halt`. `error`: what no agent may meet."""

    def __init__(
        self,
        base: str,
        run: Run,
        journal: Journal,
        badges: Badges,
        tally: Tally,
        store: Away,
        api: Away,
        outside: redis.Redis,
    ) -> None:
        super().__init__(name="traffic", daemon=True)
        self._base, self._run, self._journal, self._badges = base, run, journal, badges
        self._tally, self._store, self._api, self._outside = tally, store, api, outside
        self._agents: list[Agent] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:  # noqa: BLE001 - told at the end of the run
            self.error = error

    def halt(self) -> None:
        """Have everybody say the last word, and wait until they have."""
        for agent in self._agents:
            agent.halted = True
        self.join(_ENDS_S)

    async def _live(self) -> None:
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=_KEPT_ALIVE_S)
        async with httpx2.AsyncClient(base_url=self._base, limits=limits, timeout=_TIMEOUT_S, trust_env=False) as http:
            self._agents = [self._agent(n, http) for n in range(1, self._run.agents + 1)]
            every = self._run.agents / self._run.rate
            await asyncio.gather(*(agent.live(KINDS, every) for agent in self._agents))

    def _agent(self, n: int, http: httpx2.AsyncClient) -> Agent:
        asker, dice = Asker(http, self._tally, self._store, self._api), random.Random(self._run.seed * 1_000 + n)
        return Agent(f"w{n}", asker, self._journal, self._badges, cast(), dice, self._quarantined)

    def _quarantined(self, resource: str) -> set[str]:
        return judging.quarantined(self._outside, PREFIX, resource)


def badges(house: House) -> Badges:
    """Make everybody's keys."""
    names = [member.name for member in cast()]
    ring = KeyRing(house.settings())
    writers = {name: str(ring.create([name], "writer")[1]) for name in names}
    readers = {name: str(ring.create([name], "reader")[1]) for name in names}
    return Badges(writers, readers, str(ring.create(["*"], "operator")[1]))
