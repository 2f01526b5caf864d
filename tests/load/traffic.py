"""Everybody who asks: an event loop of its own, in a thread of its own, while processes come and go."""

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable

import httpx2
from chaos import judging
from chaos.house import PREFIX, House
from chaos.journal import Journal
from key_ring import KeyRing

from load import requests
from load.agent import Agent
from load.plan import Run, cast
from load.seen import Tally

KINDS: dict[Callable[[Agent], Awaitable[None]], float] = {
    requests.push: 34,
    requests.batch: 10,
    requests.repeat: 3,
    requests.context: 26,
    requests.stats: 6,
    requests.record: 1,
    requests.threads: 3,
    requests.observations: 2,
    requests.sources: 2,
    requests.reflections: 1,
    requests.replaced: 1,
    requests.observe: 0.5,
    requests.reflect: 0.3,
    requests.clear: 0.3,
    requests.foreign: 3,
    requests.weak: 2,
    requests.stranger: 2,
    requests.invalid: 1,
    requests.house: 2,
}
_KEPT_ALIVE_S = 2.0  # less than the server's five: it must not close what is being used
_TIMEOUT_S = 30.0
_ENDS_S = 70.0


class Traffic(threading.Thread):
    """All agents of a run; begins with `start`, and ends soon after `halt`. `error`: what no agent may meet."""

    def __init__(self, base: str, run: Run, journal: Journal, house: House, tally: Tally) -> None:
        super().__init__(name="traffic", daemon=True)
        self._base, self._run, self._journal, self._tally = base, run, journal, tally
        self._badges, self._outside = _badges(house), house.outside(timeout=5)
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
        dice = random.Random(self._run.seed * 1_000 + n)
        return Agent(f"w{n}", http, self._tally, self._journal, self._badges, dice, self._quarantined)

    def _quarantined(self, resource: str) -> set[str]:
        return judging.look(self._outside, PREFIX, resource).quarantined


def _badges(house: House) -> dict[tuple[str, str], str]:
    """Make everybody's keys."""
    names, ring = [member.name for member in cast()], KeyRing(house.settings())
    operator = str(ring.create(["*"], "operator")[1])
    made = {(role, name): str(ring.create([name], role)[1]) for role in ("writer", "reader") for name in names}
    return made | {("operator", name): operator for name in ("*", *names)}
