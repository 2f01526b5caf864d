"""How long tasks last: what a scope's turn costs its resource, and which tasks are slow, so that they leave room for others.

A model that answers in a minute would, with as many tasks as there are threads, keep everybody else waiting for that minute.
So where any agent's model is quicker than a tick, tasks that last longer than one leave an eighth of the threads alone.
"""

import threading
from collections.abc import Mapping

from om_api.domain.values import Scope
from om_api.settings import MemorySettings, Settings
from om_api.store.driver.steps import Steps
from om_api.store.fleet import presence
from om_api.store.memory.due import DueScope
from om_api.store.memory.keys import Keys

_USUAL_S = 1.0  # of tasks of a model that nobody has measured
_LEAST_S = 0.001  # else a turn would cost nothing, and its resource have them all
_WEIGHT = 0.2  # of the last one in what they are believed to last
_CHANGED = 0.1  # that is worth telling others
_LEFT_ALONE = 8  # one thread in so many
_MOMENT_S = 0.25


class Lasting:
    """What tasks of a queue last by their model, as all processes measured it; for the threads of one process."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys
        self._own: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._ticks = {
            "observe": settings.memory.observer_interval,
            "reflect": settings.memory.reflector_interval,
        }
        self._guard = threading.Lock()

    def learned(self, told: Mapping[str, float]) -> None:
        """Take up what other processes measured; what one of them told since then is news to what was measured here."""
        with self._guard:
            self._own |= {key: seconds for key, seconds in told.items() if self._told.get(key) != seconds}
            self._told = dict(told)

    def turn(self, queue: str, name: str) -> DueScope:
        """What a scope's turn depends on."""
        resource = Scope.parse(name).resource
        agent = self._settings.for_agent(resource)
        seconds = self._seconds(queue, agent)
        return DueScope(name, resource, seconds / agent.priority, seconds > self._ticks[queue])

    def slow_most(self, queue: str, tasks: int) -> int:
        """How many of so many tasks may be slow."""
        if all(seconds > self._ticks[queue] for seconds in self._of_all(queue)):
            return tasks
        return max(1, tasks - max(1, tasks // _LEFT_ALONE))

    def scopes_a_task(self, queue: str) -> int:
        """How many scopes one task does within a moment; 1 where any agent's model may take longer than that."""
        return max(1, int(_MOMENT_S / max(self._of_all(queue))))

    def _of_all(self, queue: str) -> list[float]:
        agents = (self._settings.memory, *map(self._settings.for_agent, self._settings.agents()))
        return [max(_LEAST_S, self._seconds(queue, agent)) for agent in agents]

    def ended(self, queue: str, name: str, seconds: float) -> Steps[None]:
        """Note how long a scope's task lasted, and tell others if that is news."""
        key = _key(queue, self._settings.for_agent(Scope.parse(name).resource))
        with self._guard:
            before = self._own.get(key, seconds)
            now = self._own[key] = max(_LEAST_S, round(before + _WEIGHT * (seconds - before), 3))
            told = self._told.get(key)
            news = told is None or abs(now - told) > _CHANGED * told
            if news:
                self._told[key] = now
        if news:
            yield from presence.lasted(self._keys, key, now)

    def _seconds(self, queue: str, agent: MemorySettings) -> float:
        return self._told.get(_key(queue, agent), _USUAL_S)  # what all go by: else each would judge otherwise


def _key(queue: str, agent: MemorySettings) -> str:
    models = agent.observer_models if queue == "observe" else agent.reflector_models
    return f"{queue}|{models[0]}"
