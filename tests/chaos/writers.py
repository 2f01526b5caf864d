"""Agents that talk: they repeat what was not acknowledged, with the same ids, until it is."""

import json
import random
import threading
import time
from collections.abc import Sequence
from typing import Any

import redis

from chaos.journal import Journal, Said
from chaos.plan import Member
from om_api import Message, ObservationalMemory
from om_api.domain.errors import StoreError

_PATIENCE_S = 60.0
_REPEATS = 0.05  # of what is said, something that was acknowledged at any time before
_WORDS = ("parcel", "Harold", "leaves", "Lisbon", "Monday", "unless", "customs", "office", "asks", "form", "by", "noon")


class Composer:
    """Makes messages whose content holds their mark; late, equal or future in time now and then."""

    def __init__(self, name: str, dice: random.Random) -> None:
        self._name, self._dice = name, dice
        self.made, self._last_ms = 0, 0

    def compose(self, resource: str, thread: str, *, plain: bool = False) -> Said:
        """The next message, called after its author and its number."""
        self.made += 1
        name = f"{self._name}-{self.made}"
        words = " ".join(self._dice.choices(_WORDS, k=6))
        fields = {"id": name, "role": self._dice.choice(("user", "assistant")), "content": f"[[{name}]] {words}"}
        fields |= {"tokens": self._dice.randrange(20, 60), "timestamp": self._time()}
        return Said(name, resource, thread, fields, plain=plain)

    def _time(self) -> int:
        now = int(time.time() * 1000)
        kind = self._dice.random()
        if kind < 0.1:
            return now - self._dice.randrange(1, 3_600_000)
        if kind < 0.2 and self._last_ms:
            return self._last_ms
        if kind < 0.25:
            return now + self._dice.randrange(1, 600_000)
        self._last_ms = now
        return now


class Writer(threading.Thread):
    """Sends `quota` messages evenly over `seconds`, later ones faster where it had to wait."""

    def __init__(
        self, name: str, cast: Sequence[Member], journal: Journal, dice: random.Random, *, quota: int, seconds: float
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._cast, self._journal, self._dice = cast, journal, dice
        self._quota, self._seconds = quota, seconds
        self.composer = Composer(name, dice)
        self.halt = threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        try:
            while self.composer.made < self._quota and not self.halt.is_set():
                self._speak()
                ahead = began + self.composer.made * self._seconds / self._quota - time.monotonic()
                self.halt.wait(max(0.0, ahead))
        except Exception as error:  # noqa: BLE001 - nothing but a StoreError may reach an agent
            self._journal.breach(f"{self.name} met {type(error).__name__}: {error}"[:300])

    def _speak(self) -> None:
        raise NotImplementedError

    def _compose(self, member: Member, *, plain: bool = False) -> Said:
        return self.composer.compose(member.name, self._dice.choice(member.threads), plain=plain)

    def _member(self) -> Member:
        return self._dice.choices(self._cast, [member.weight for member in self._cast])[0]

    def _pause(self) -> None:
        self.halt.wait(self._dice.uniform(0.05, 0.4))


class LibraryWriter(Writer):
    """Speaks through the library: one message, several of a resource, or of two; and the same id again now and then."""

    def __init__(self, om: ObservationalMemory, *rest: Any, **more: Any) -> None:
        super().__init__(*rest, **more)
        self._om = om
        self._kept: list[Said] = []

    def _speak(self) -> None:
        if self._kept and self._dice.random() < _REPEATS:
            self._repeat(self._dice.choice(self._kept))
        members = [self._member()]
        if self._dice.random() < 0.1:
            members.append(self._member())
        each = self._dice.randrange(2, 7) if self._dice.random() < 0.3 else 1
        batch = [self._compose(member) for member in members for _ in range(each)]
        if self._deliver(batch):
            self._kept += [said for said in batch if not members[0].fate and len(members) == 1]

    def _deliver(self, batch: Sequence[Said]) -> bool:
        """Send until acknowledged; one in three gives up at the first failure, as an agent that dies does."""
        stubborn, until, absent = self._dice.random() > 1 / 3, time.monotonic() + _PATIENCE_S, True
        while True:
            self._journal.tried(batch)
            try:
                self._om.add_messages([message_of(said) for said in batch])
            except StoreError as error:
                self._journal.refused(batch, error.stored, str(error))
                # of two resources the first may be stored though the second is not
                absent = absent and error.stored is False and len({said.resource for said in batch}) == 1
                if not stubborn or time.monotonic() > until or self.halt.is_set():
                    self._journal.given_up(batch, absent=absent)
                    return False
                self._pause()
            else:
                self._journal.acknowledged(batch)
                return True

    def _repeat(self, said: Said) -> None:
        """An id that was acknowledged before, with the same words or others: the store must say so and keep the first."""
        other = {"content": "other words"} if self._dice.random() < 0.5 else {}
        again = Said(said.name, said.resource, said.thread, {**said.fields, **other}, plain=False)
        try:
            receipt = self._om.add_messages([message_of(again)])
        except StoreError:
            return
        known = [changed.id for changed in receipt.changed] if other else receipt.duplicates
        if [*known] != [said.name] and not self._journal.changed(said.resource, said.acknowledged_at or 0.0):
            self._journal.breach(f"an id acknowledged before got {receipt}", said.name)


class PlainWriter(Writer):
    """Has nothing but a Redis client: a ZADD, and the hint for adoption only three times of four."""

    def __init__(self, client: redis.Redis, prefix: str, *rest: Any, **more: Any) -> None:
        super().__init__(*rest, **more)
        self._client, self._prefix = client, prefix
        self._kept: list[Said] = []

    def _speak(self) -> None:
        if self._kept and self._dice.random() < _REPEATS:
            self._write(self._dice.choice(self._kept))
        member = self._member()
        said = self._compose(member, plain=True)
        if self._write(said) and not member.fate:
            self._kept.append(said)

    def _write(self, said: Said) -> bool:
        key = f"{self._prefix}:{{{said.resource}}}:messages:{said.thread}"
        answered = self._until_answered(said, key)
        if answered and self._dice.random() < 0.75:
            self._try("ZADD", f"{self._prefix}:adopt", 0, key)
        return answered

    def _until_answered(self, said: Said, key: str) -> bool:
        until, bytes_ = time.monotonic() + _PATIENCE_S, json.dumps(said.fields)
        while time.monotonic() < until and not self.halt.is_set():
            self._journal.tried([said])
            if self._try("ZADD", key, said.fields["timestamp"], bytes_):
                self._journal.acknowledged([said])
                return True
            self._pause()
        self._journal.given_up([said], absent=False)
        return False

    def _try(self, *words: Any) -> bool:
        try:
            self._client.execute_command(*words)
        except redis.RedisError:
            return False
        return True


class WaitingWriter(PlainWriter):
    """The same, which believes in what it wrote once a replica holds it, as docs/operations.md tells such writers to."""

    def _try(self, *words: Any) -> bool:
        if words[1] == f"{self._prefix}:adopt":
            return super()._try(*words)
        mark = f"{words[1].partition('}:')[0]}}}:lock:replicated"
        try:
            node = self._client.get_node_from_key(mark) if isinstance(self._client, redis.RedisCluster) else None
            pipe = (node.redis_connection if node else self._client).pipeline(transaction=False)
            pipe.execute_command(*words)
            pipe.execute_command("SET", mark, 1, "PX", 10_000)
            pipe.execute_command("WAIT", 1, 500)
            return int(pipe.execute()[-1]) >= 1
        except redis.RedisError:
            return False


def message_of(said: Said) -> Message:
    return Message(resource_id=said.resource, thread_id=said.thread, **said.fields)
