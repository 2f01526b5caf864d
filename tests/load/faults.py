"""What befalls a run: every process is ended in its turn and started again, and a hostile tenant comes and goes.

The others' answers beside him can so be held to those without him.
"""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

from chaos.house import House
from chaos.journal import Journal
from key_ring import KeyRing

from load.hostile import NAME
from load.plan import API, SERVER, Run
from load.seen import Away, Tally
from om_api.domain.messages import Message

_UNDISTURBED = 0.1  # of the run, at its end
_DOWN_S = (0.5, 2.0)
_GROWS_S = 60.0
_POLL_S = 0.05
_ENDS_S = 20


class Restarting:
    """The faults of one run; `done` counts them by process and signal, `disorderly` names what did not end well."""

    def __init__(self, house: House, run: Run, journal: Journal, tally: Tally) -> None:
        self._house, self._run, self._journal, self._tally = house, run, journal, tally
        self.done: Counter[tuple[str, str]] = Counter()
        self.disorderly: list[str] = []
        self.names = [SERVER, *house.crew.commands]

    def restart_all(self) -> None:
        """Round by round end each process once, asked to and killed in turns; a slow machine takes longer.

        Others than the server come back at once. The end of the run is undisturbed.
        """
        run, dice, began = self._run, random.Random(self._run.seed), time.monotonic()
        slot = run.seconds * (1 - _UNDISTURBED) / (run.restarts * len(self.names) or 1)
        for turn in range(run.restarts):
            for name in dice.sample(self.names, len(self.names)):
                asked = (turn + self.names.index(name)) % 2 == 0
                how = signal.SIGTERM if asked else signal.SIGKILL
                self._let_pass(began + slot * (self.done.total() + 0.5 * dice.random()))
                self._journal.note("restart", who=name, how=how.name)
                if name == SERVER:
                    self._restart_server(how, dice.uniform(*_DOWN_S))
                else:
                    self.restart(name, how)
                self.done[name, how.name] += 1
        self._let_pass(began + run.seconds)

    def restart(self, name: str, how: signal.Signals) -> None:
        self._await(name, grown=True)
        if name == API:
            self._tally.api.begins()
        code = self._house.crew.restart(name, how)
        if name == API:
            # Celery's worker exits with 1 where it is told to while it still looks for its broker
            if how is signal.SIGTERM and code != 0:
                self.disorderly.append(f"{name} was asked to end and exited with {code}")
            self._await(API)
            self._tally.api.ends()

    def _restart_server(self, how: signal.Signals, down_s: float) -> None:
        self._tally.store.begins()
        self._house.server.stop(how)
        time.sleep(down_s)
        self._house.server.start()
        self._tally.store.ends()

    def _await(self, name: str, *, grown: bool = False) -> None:
        crew, until = self._house.crew, time.monotonic() + _GROWS_S
        while not (crew.running[name].is_grown() if grown else crew.running[name].works()):
            if time.monotonic() > until:
                self.disorderly.append(f"{name} did not come back within {_GROWS_S:.0f} s")
                return
            crew.tend()
            time.sleep(_POLL_S)

    def _let_pass(self, until: float) -> None:
        while time.monotonic() < until:
            self._house.crew.tend()
            time.sleep(min(_POLL_S, max(0.0, until - time.monotonic())))


class Enduring(threading.Thread):
    """Begins with `start`, ends with `halt`; `seen` counts what he was answered, by what he did."""

    def __init__(self, house: House, port: int, turn_s: float, here: Away) -> None:
        super().__init__(name="enduring", daemon=True)
        token = str(KeyRing(house.settings()).create([NAME], "operator")[1])
        self._om = house.client(30)
        # 40 MB that nobody is told to observe: what reading them costs is what the run is about
        long = {"resource_id": NAME, "thread_id": "c", "role": "user", "content": "a long story " * 75_000, "tokens": 1}
        self._om.add_messages(Message(**long, id=f"c-{n}") for n in range(40))
        self._command = [sys.executable, "-m", "load.hostile", str(port), token]
        self._turn_s, self._here, self._halted = turn_s, here, threading.Event()
        self.seen: Counter[str] = Counter()

    def run(self) -> None:
        while not self._halted.wait(self._turn_s):
            self._here.begins()
            tenant = subprocess.Popen(self._command, stdout=subprocess.PIPE)
            self._halted.wait(self._turn_s)
            tenant.terminate()
            told, _ = tenant.communicate(timeout=_ENDS_S)
            self._here.ends()
            self.seen.update(json.loads(told or "{}"))

    def halt(self) -> None:
        """Have him gone for good."""
        self._halted.set()
        self.join(2 * _ENDS_S)

    def forget(self) -> None:
        """Remove what he said, for nobody wrote it down; none of his requests may be under way any more."""
        self._om.clear(NAME)
