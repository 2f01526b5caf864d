"""Letting the hostile tenant come and go, so that the others' answers beside him can be held to those without him."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING

from load.hostile import NAME
from om_api.key_ring import KeyRing

if TYPE_CHECKING:
    from chaos.house import House

    from load.seen import Away

_ENDS_S = 20


class Enduring(threading.Thread):
    """Begins with `start`, ends with `halt`; `seen` counts what he was answered, by what he did."""

    def __init__(self, house: House, port: int, turn_s: float, here: Away) -> None:
        super().__init__(name="enduring", daemon=True)
        with KeyRing(house.settings()) as ring:
            token = str(ring.create([NAME], "operator")[1])
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
