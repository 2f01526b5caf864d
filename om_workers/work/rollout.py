"""Making settings known that changed while nobody worked, or while somebody did: memories of before are looked at again."""

import time
from collections.abc import Callable, Sequence

from om_api.domain.values import Scope
from om_api.settings import recorded_settings
from om_api.store.fleet import rollout
from om_api.store.fleet.rollout import Progress
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keyspace_scan import Recorded
from om_workers.work.services import Services
from om_workers.work.sweep import Sweeper, is_full
from om_workers.work.unreadable import Isolated

_SLICE = 200  # resources
_SLACK_MS = 100  # two clocks are read one after the other


class Rollout:
    """One process' share in comparing what is in force with what the records hold.

    All processes of the same settings share a walk. Each wants one that began after it took its settings up (`since`, monotonic
    s): until then it, or whoever ran in its place, may have written other ones. Time 0: ten workers start. Time 5: a tick
    begins a walk, which is enough for all ten; each tick goes on where the last one stopped. Time 15: the one that walked is
    killed; the next tick goes on. Time 60: an eleventh starts, and has all looked at once more.
    """

    def __init__(self, services: Services, since: Callable[[], float]) -> None:
        self._services = services
        self._run = services.run
        self._since = since
        self._met = float("-inf")  # the `since` for which a walk came to its end

    def advance(self, seconds: float) -> int:
        """Go on with a walk that somebody wants for about `seconds`; how many memories are to be looked at again."""
        keys, since, fingerprint = self._services.keys, self._since(), self._services.settings.fingerprint
        walk, now = self._run(rollout.progress(keys, fingerprint)), self._run(due.server_ms())
        if walk is None or walk.cursor is None:
            if self._met == since:
                return 0
            if walk is not None and walk.begun + _SLACK_MS >= now - 1000 * (time.monotonic() - since):
                self._met = since
                return 0
            walk = Progress(begun=now)
        return self._walk(walk, fingerprint, time.monotonic() + seconds)

    def _walk(self, walk: Progress, fingerprint: str, until: float) -> int:
        keys, marked = self._services.keys, 0
        while walk.cursor is not None:
            walk = walk.of(keys.layout.now.count)
            cursor, names = self._run(keyspace_scan.some_resources(keys, walk.part, walk.cursor or 0, _SLICE))
            marked += self._tell(names)
            walk = walk.behind(cursor)
            self._run(rollout.keep(keys, fingerprint, walk))
            if time.monotonic() > until:
                break
        return marked

    def _tell(self, names: Sequence[str]) -> int:
        """Have those resources looked at whose records hold other settings; how many there were."""
        written: dict[int, str] = {}  # agents without a file of their own share one object
        recorded = self._run(keyspace_scan.recorded(self._services.keys, names))
        return sum(self._mark(name) for name, found in recorded.items() if self._may_be_stale(name, found, written))

    def _may_be_stale(self, name: str, found: Recorded, written: dict[int, str]) -> bool:
        """Whether a closer look is worth its while: of threads of their own, and of what was never sealed, only that tells."""
        settings = self._services.settings.for_agent(name)
        if settings.read_only:
            return False
        if id(settings) not in written:
            written[id(settings)] = recorded_settings.write(recorded_settings.of(settings))
        return (found.word or settings.scope) == "thread" or found.limits != written[id(settings)]

    def _mark(self, name: str) -> bool:
        """Mark the scopes of a resource due that have something to be looked at, and were looked at by other settings."""
        keys, limits, sweeper = (
            self._services.keys,
            self._services.in_force(Scope(name)).limits,
            Sweeper(self._services),
        )
        with Isolated("sweep_passed_over", name=name):
            stale = [state for state in sweeper.states(name) if sweeper.is_stale(state)]
            waiting = [state.scope for state in stale if state.unsealed or state.chunks]
            full = [state.scope for state in stale if is_full(state, limits)]
            self._run(due.mark(keys.due_observe, waiting))
            self._run(due.mark(keys.due_reflect, full))
            return bool(waiting or full)
        return False
