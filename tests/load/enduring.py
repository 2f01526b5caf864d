"""Letting the hostile tenant come and go, so that the others' answers beside him can be held to those without him."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator

from chaos.house import House
from key_ring import KeyRing

from load.hostile import NAME
from load.seen import Away
from om_api.domain.messages import Message

_ENDS_S, _UNDER_WAY_S = 20, 15
_PATIENCE_S = 30
_STORY, _LONG = "a long story ", 75_000
_MESSAGES = 40


def _long_story() -> Iterator[Message]:
    """40 MB that nobody is told to observe: what reading them costs is what the run is about."""
    for n in range(_MESSAGES):
        yield Message(resource_id=NAME, thread_id="c", id=f"c-{n}", role="user", content=_STORY * _LONG, tokens=1)


class Enduring(threading.Thread):
    """Begins with `start`, ends with `halt`; `seen` counts what he was answered, by what he did."""

    def __init__(self, house: House, port: int, turn_s: float, here: Away) -> None:
        super().__init__(name="enduring", daemon=True)
        token = str(KeyRing(house.settings()).create([NAME], "operator")[1])
        self._om = house.client(_PATIENCE_S)
        self._om.add_messages(_long_story())
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
        """Remove what he said, for nobody wrote it down, until nothing of what was under way comes any more."""
        while self._om.clear(NAME).messages:
            time.sleep(_UNDER_WAY_S)
