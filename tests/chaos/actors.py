"""Actors of a run: everybody acts in a thread of their own until halted, and a reader holds contexts to the promises."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import redis

from chaos.journal import MARK, Journal, Thread
from chaos.plan import Member
from om_api import Context, ObservationalMemory
from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome

_FLIGHT_S = 20.0
_QUEUES = ("observe", "reflect", "maintenance")  # what beats send is there for every tick that no worker took


class Actor(threading.Thread):
    """Acts every `every_s` seconds until `halt` is set. It may meet a StoreError; any other error is a breach."""

    every_s = 0.1

    def __init__(self, name: str, journal: Journal) -> None:
        super().__init__(name=name, daemon=True)
        self._journal = journal
        self.halt = threading.Event()

    def run(self) -> None:
        while not self.halt.wait(self.every_s):
            self._guarded(self._act, StoreError)

    def _act(self) -> None:
        raise NotImplementedError

    def _guarded(self, act: Callable[[], None], *expected: type[Exception]) -> None:
        try:
            act()
        except expected:
            pass
        except Exception as error:  # noqa: BLE001 - nothing but a StoreError may reach an actor
            self._journal.breach(f"{self.name} met {type(error).__name__}: {error}"[:300])


class Queues(Actor):
    """Counts the tasks that wait in the broker: `longest` is the most that were seen."""

    def __init__(self, waiting: Callable[[Sequence[str]], int], journal: Journal) -> None:
        super().__init__("queues", journal)
        self._waiting = waiting
        self.longest = 0

    def _act(self) -> None:
        with suppress(redis.RedisError):
            self.longest = max(self.longest, self._waiting(_QUEUES))


class Owner(Actor):
    """Does one member's fate at a moment of the run, while a chunk of it is being observed, until it is done or halted.

    `done` says that it was, `in_flight` that a chunk was unready when it began. Its client waits longer than any pause
    of the server: a clear that was given up could be carried out afterwards.
    """

    def __init__(self, om: ObservationalMemory, member: Member, journal: Journal, at: float) -> None:
        super().__init__(f"owner of {member.name}", journal)
        self._om, self._member, self._at = om, member, at
        self.what = "clear" if member.fate == "clear" else "migration"
        self.done = self.in_flight = self._asked = False

    def run(self) -> None:
        if self.halt.wait(self._at):
            return
        until = time.monotonic() + _FLIGHT_S
        while not self.in_flight and time.monotonic() < until and not self.halt.wait(0.02):
            with suppress(StoreError):
                stats = self._om.stats(self._member.name)
                self.in_flight = stats.chunks > stats.ready_chunks
        number = self._journal.opens(self.what, self._member.name)
        self._guarded(self._persist)
        self._journal.closes(number)

    def _persist(self) -> None:
        while not self.done and not self.halt.is_set():
            self.done = self._do()
            if not self.done:
                self.halt.wait(self.every_s)

    def _do(self) -> bool:
        resource, fate = self._member.name, self._member.fate
        repeated, self._asked = self._asked, True
        try:
            if fate == "clear":
                return self._om.clear(resource).outcome is Outcome.CLEARED
            outcome = self._om.migrate_scope(resource, fate)
        except StoreError as error:
            self._journal.note("owner refused", resource=resource, why=str(error)[:200])
            return False
        # the reply of a move that was made may have been lost: the next one finds nothing to move
        return outcome is Outcome.ACTIVATED or (repeated and outcome is Outcome.REST)


class Reader(Actor):
    """Reads the context of one thread after the other. `quarantined` says which messages a placeholder stands for."""

    every_s = 0.04

    def __init__(
        self,
        om: ObservationalMemory,
        cast: Sequence[Member],
        journal: Journal,
        dice: random.Random,
        quarantined: Callable[[str], set[str]],
    ) -> None:
        super().__init__("reader", journal)
        self._om, self._dice, self._quarantined = om, dice, quarantined
        self._threads = [(member.name, thread) for member in cast for thread in member.threads]
        self._last: dict[Thread, tuple[Any, list[str], float]] = {}  # generation, blocks' hashes, when
        self.looks = 0

    def _act(self) -> None:
        resource, thread = self._dice.choice(self._threads)
        began = time.monotonic()
        context = self._om.get_context(thread, resource)
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
            said = self._journal.said.get(name)
            if times > 1 and not (said and said.plain and said.tries > 1):
                counted = f"{raw[name]} raw, {noted[name]} observed, {name in reflected} reflected"
                self._journal.breach(f"{times} times {where}: {counted}", name)
        expected = self._journal.expected(context.resource_id, context.thread_id, began)
        missing = {said.name for said in expected} - raw.keys() - noted.keys() - reflected
        if missing:
            try:
                missing -= self._quarantined(context.resource_id)
            except Exception:  # noqa: BLE001 - the server is away: the next look tells
                return
        for name in missing:
            self._journal.breach(f"acknowledged, but missing {where}", name)

    def _hold_to_prefix(self, context: Context, began: float) -> None:
        """Between reflections the observation part only grows at its end."""
        key, led = (context.resource_id, context.thread_id), context.reflection
        generation = led and (led.n, led.created_at)
        blocks = [b.hash for b in context.blocks if b.kind in {"preamble", "reflection", "observations"}]
        before, known, at = self._last.get(key, (generation, [], began))
        self._last[key] = generation, blocks, began
        if before == generation and blocks[: len(known)] != known and not self._journal.changed(key[0], at):
            self._journal.breach(f"the stable prefix of {key} changed without a reflection")
