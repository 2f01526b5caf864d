"""An actor that reads its context all the time and holds it to the promises at every look."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from chaos.journal import Journal
from chaos.plan import Member
from chaos.words import MARK
from om_api import Context, ObservationalMemory
from om_api.domain.errors import StoreError

_EVERY_S = 0.04


class Look(NamedTuple):
    """The stable part of a context as it was seen last: which generation led it, its blocks' hashes, and when."""

    generation: tuple[int, int]
    blocks: list[str]
    at: float


class Reader(threading.Thread):
    """Looks at one thread after the other until halted. `quarantined` says which messages a placeholder stands for."""

    def __init__(
        self,
        om: ObservationalMemory,
        cast: Sequence[Member],
        journal: Journal,
        dice: random.Random,
        quarantined: Callable[[str], set[str]],
    ) -> None:
        super().__init__(name="reader", daemon=True)
        self._om, self._journal, self._dice, self._quarantined = om, journal, dice, quarantined
        self._threads = [(member.name, thread) for member in cast for thread in member.threads]
        self._last: dict[tuple[str, str], Look] = {}
        self.halt = threading.Event()
        self.looks = self.failed = 0

    def run(self) -> None:
        while not self.halt.wait(_EVERY_S):
            resource, thread = self._dice.choice(self._threads)
            began = time.monotonic()
            try:
                context = self._om.get_context(thread, resource)
            except StoreError:
                self.failed += 1
                continue
            except Exception as error:  # noqa: BLE001 - nothing but a StoreError may reach an actor
                self._journal.breach(f"the reader met {type(error).__name__}: {error}"[:300])
                continue
            self.looks += 1
            self._hold_to_coverage(context, began)
            self._hold_to_prefix(context, began)

    def _hold_to_coverage(self, context: Context, began: float) -> None:
        where = f"in the context of {context.resource_id}/{context.thread_id}"
        marks = [(MARK.search(str(message.content)), message.id) for message in context.messages]
        raw = Counter(mark[1] if mark else id_ for mark, id_ in marks)
        noted = Counter(MARK.findall("\n".join(b.text for b in context.blocks if b.kind == "observations")))
        reflected = set(MARK.findall("\n".join(b.text for b in context.blocks if b.kind == "reflection")))
        for name in raw | noted:
            times = raw[name] + noted[name] + (name in reflected)
            # a plain ZADD that was repeated stands beside its first form until it is adopted
            if times > 1 and not self._is_repeated_zadd(name):
                self._journal.breach(
                    f"{times} times {where}: {raw[name]} raw, {noted[name]} observed, {name in reflected} reflected",
                    name,
                )
        missing = [
            said.name
            for said in self._journal.expected(context.resource_id, context.thread_id, began)
            if said.name not in raw and said.name not in noted and said.name not in reflected
        ]
        for name in self._unexcused(context.resource_id, missing):
            self._journal.breach(f"acknowledged, but missing {where}", name)

    def _unexcused(self, resource: str, missing: Sequence[str]) -> list[str]:
        if not missing:
            return []
        try:
            excused = self._quarantined(resource)
        except Exception:  # noqa: BLE001 - the server is away: the next look tells
            return []
        return [name for name in missing if name not in excused]

    def _is_repeated_zadd(self, name: str) -> bool:
        said = self._journal.said.get(name)
        return said is not None and said.plain and said.tries > 1

    def _hold_to_prefix(self, context: Context, began: float) -> None:
        """Between reflections the observation part only grows at its end."""
        key, led = (context.resource_id, context.thread_id), context.reflection
        blocks = [b.hash for b in context.blocks if b.kind in {"preamble", "reflection", "observations"}]
        now = Look((led.n, led.created_at) if led else (0, 0), blocks, began)
        last = self._last.get(key)
        self._last[key] = now
        if not last or last.generation != now.generation or self._journal.changed(context.resource_id, last.at):
            return
        if now.blocks[: len(last.blocks)] != last.blocks:
            self._journal.breach(f"the stable prefix of {key} changed without a reflection")
