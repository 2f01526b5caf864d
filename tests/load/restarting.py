"""Ending every process in its turn while everybody asks, and starting it again."""

import signal
import time
from collections import Counter

from chaos.house import House
from chaos.journal import Journal

from load.plan import API, SERVER, Restart, Run, restarts
from load.seen import Away

_GROWS_S = 60.0
_POLL_S = 0.05


class Restarting:
    """The faults of one run; `done` counts them by process and signal, `disorderly` names what did not end well."""

    def __init__(self, house: House, run: Run, journal: Journal, store: Away, api: Away) -> None:
        self._house, self._run, self._journal, self._store, self._api = house, run, journal, store, api
        self.done: Counter[tuple[str, str]] = Counter()
        self.disorderly: list[str] = []
        self.names = [SERVER, *house.crew.names]

    def restart_all(self) -> None:
        """Carry out the plan, and let the rest of the time pass; a slow machine takes longer."""
        began = time.monotonic()
        for planned in restarts(self._run, self.names):
            self._let_pass(began + planned.at)
            self._journal.note("restart", who=planned.who, how=planned.how.name)
            self._restart(planned)
            self.done[planned.who, planned.how.name] += 1
        self._let_pass(began + self._run.seconds)

    def _restart(self, planned: Restart) -> None:
        if planned.who == SERVER:
            self._restart_server(planned)
            return
        self._await(planned.who, grown=True)
        if planned.who == API:
            self._api.begins()
        code = self._house.crew.restart(planned.who, planned.how)
        if planned.who == API:
            # Celery's worker exits with 1 where it is told to while it still looks for its broker
            if planned.how is signal.SIGTERM and code != 0:
                self.disorderly.append(f"{planned.who} was asked to end and exited with {code}")
            self._await(API)
            self._api.ends()

    def _restart_server(self, planned: Restart) -> None:
        self._store.begins()
        self._house.server.stop(planned.how)
        time.sleep(planned.down)
        self._house.server.start()
        self._store.ends()

    def _await(self, name: str, *, grown: bool = False) -> None:
        crew, until = self._house.crew, time.monotonic() + _GROWS_S
        while not (crew.is_grown(name) if grown else crew.works(name)):
            if time.monotonic() > until:
                self.disorderly.append(f"{name} did not come back within {_GROWS_S:.0f} s")
                return
            crew.tend()
            time.sleep(_POLL_S)

    def _let_pass(self, until: float) -> None:
        while time.monotonic() < until:
            self._house.crew.tend()
            time.sleep(min(_POLL_S, max(0.0, until - time.monotonic())))
