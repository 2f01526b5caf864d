"""What was tried, what was acknowledged, what its owner did to it: all that a judge may hold a store to."""

import json
import math
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

MARK = re.compile(r"\[\[(w\d+-\d+)\]\]")  # in the words of each message, so that it is the same one under any id
Thread = tuple[str, str]  # a resource and a thread of it


class Said:
    """One message: when it was first tried, how often, when it was acknowledged (None: never).

    `surely_absent`: every try was answered with "not stored", and nothing followed.
    """

    def __init__(self, name: str, resource: str, thread: str, fields: dict[str, Any], *, plain: bool = False) -> None:
        self.name, self.resource, self.thread, self.fields, self.plain = name, resource, thread, fields, plain
        self.tried_at = 0.0
        self.tries = 0
        self.acknowledged_at: float | None = None
        self.surely_absent = False


class Window(NamedTuple):
    """Something that took a while: what, to whom, until when; `thread` "": to the whole resource."""

    what: str
    resource: str
    thread: str = ""
    ended: float = math.inf  # while it goes on

    def touches(self, resource: str, thread: str) -> bool:
        """Whether a thread of a resource is among those it happened to."""
        return self.resource in {resource, "*"} and self.thread in {"", thread}


class Journal:
    """Threads write to it; every entry is a line of `journal.jsonl` too. Times are of the monotonic clock."""

    def __init__(self, folder: Path) -> None:
        self.began = time.monotonic()
        self.said: dict[str, Said] = {}
        self.windows: list[Window] = []
        self.wrong: list[tuple[str, str]] = []  # (message id or '', what)
        self.erased: set[str] = set()  # names of messages of which an erasure was answered
        self.order: list[tuple[str, Any]] = []  # what happened, for the undisturbed run to repeat
        self.histories: dict[Thread, list[str]] = defaultdict(list)  # what whole histories say
        self._of: dict[Thread, list[Said]] = defaultdict(list)
        self._lock = threading.Lock()
        self._path = folder / "journal.jsonl"
        self._file = self._path.open("a", buffering=1)

    def note(self, what: str, **fields: Any) -> None:
        """One line of the file."""
        line = json.dumps({"at": round(time.monotonic() - self.began, 3), "what": what, **fields})
        with self._lock:
            self._file.write(line + "\n")

    def close(self) -> None:
        self._file.close()

    def tried(self, batch: Iterable[Said]) -> None:
        """About to be sent."""
        now, batch = time.monotonic(), list(batch)
        with self._lock:
            for said in batch:
                if not said.tries:
                    said.tried_at = now
                    self.said[said.name] = said
                    self._of[said.resource, said.thread].append(said)
                said.tries += 1
        self.note("tried", ids=[said.name for said in batch])

    def acknowledged(self, batch: Iterable[Said]) -> None:
        now, batch = time.monotonic(), list(batch)
        with self._lock:
            for said in batch:
                said.acknowledged_at = said.acknowledged_at or now
            self.order.append(("push", batch))
        self.note("acknowledged", ids=[said.name for said in batch])

    def refused(self, batch: Iterable[Said], stored: bool | None, why: str) -> None:
        self.note("refused", ids=[said.name for said in batch], stored=stored, why=why[:200])

    def given_up(self, batch: Iterable[Said], *, absent: bool) -> None:
        """Never acknowledged, and never tried again."""
        batch = list(batch)
        for said in batch:
            said.surely_absent = absent
        self.note("given up", ids=[said.name for said in batch], absent=absent)

    def breach(self, what: str, name: str = "") -> None:
        """A broken promise."""
        with self._lock:
            self.wrong.append((name, what))
        self.note("WRONG", id=name, why=what)

    def opens(self, what: str, resource: str, thread: str = "") -> int:
        """Something begins that changes what may be expected of a resource, or of a thread; the number to close it by."""
        with self._lock:
            self.windows.append(Window(what, resource, thread))
            number = len(self.windows) - 1
        self.note(f"{what} begins", resource=resource)
        return number

    def closes(self, number: int) -> None:
        with self._lock:
            window = self.windows[number]._replace(ended=time.monotonic())
            self.windows[number] = window
            self.order.append((window.what, window.resource))
        self.note(f"{window.what} ended", resource=window.resource)

    def changed(self, resource: str, since: float) -> bool:
        """Whether a resource was cleared or moved, or a server lost something or failed over, at any time since."""
        counted = [w for w in self.windows if w.what != "outage" and w.resource in {resource, "*"}]
        return any(w.ended >= since for w in counted)

    def expected(self, resource: str, thread: str, before: float) -> list[Said]:
        """What must be in a thread's memory: acknowledged before, and not cleared away."""
        since = self.kept_since(resource, thread)
        with self._lock:
            own = list(self._of[resource, thread])
        return [said for said in own if (said.acknowledged_at or before) < before and said.tried_at > since]

    def kept_since(self, resource: str, thread: str) -> float:
        """What was first tried after this must be there; infinity while a clear goes on."""
        windows = [w for w in self.windows if w.what in {"clear", "loss"} and w.touches(resource, thread)]
        return max((w.ended for w in windows), default=0.0)

    def cleared(self, said: Said) -> bool:
        """Whether a clear may have taken this message: it was tried before the clear returned."""
        clears = [w for w in self.windows if w.what == "clear" and w.touches(said.resource, said.thread)]
        return any(said.tried_at <= w.ended for w in clears)

    def history(self, name: str) -> list[str]:
        """What the file says of one message."""
        mark = f'"{name}"'
        return [line for line in self._path.read_text().splitlines() if mark in line]
