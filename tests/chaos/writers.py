"""Agents that talk: they repeat what was not acknowledged, with the same ids, until it is."""

import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import redis

from chaos import plan
from chaos.actors import Actor
from chaos.journal import Journal, Said, Thread
from chaos.plan import Member
from om_api import Message, ObservationalMemory
from om_api.domain.errors import StoreError

_PATIENCE_S = 60.0
_REPEATS = 0.05  # of what is said, something that was acknowledged at any time before
_LATE_TOGETHER = 50
_LATE_TOKENS = 2_000  # of one message: enough to be observed at once
_NEW_CLIENT = 0.1  # of turns: the process before ended, and what it remembered with it
_SAYS_OK = 0.3
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


class Writer(Actor):
    """Sends `quota` messages evenly over `seconds`, later ones faster where it had to wait."""

    def __init__(
        self, name: str, cast: Sequence[Member], journal: Journal, dice: random.Random, quota: int, seconds: float
    ) -> None:
        super().__init__(name, journal)
        self._cast, self._dice, self._quota, self._seconds = cast, dice, quota, seconds
        self.composer = Composer(name, dice)
        self._kept: list[Said] = []  # acknowledged, to be repeated

    def run(self) -> None:
        self._guarded(self._talk)

    def _talk(self) -> None:
        began = time.monotonic()
        while self.composer.made < self._quota and not self.halt.is_set():
            self._act()
            ahead = began + self.composer.made * self._seconds / self._quota - time.monotonic()
            self.halt.wait(max(0.0, ahead))

    def _compose(self, member: Member, *, plain: bool = False) -> Said:
        return self.composer.compose(member.name, self._dice.choice(member.threads), plain=plain)

    def _member(self) -> Member:
        return self._dice.choices(self._cast, [member.weight for member in self._cast])[0]

    def _pause(self) -> None:
        self.halt.wait(self._dice.uniform(0.05, 0.4))


class LibraryWriter(Writer):
    """Speaks through the library: one message, several of a resource, or of two; and the same id again now and then."""

    def __init__(self, om: ObservationalMemory, *rest: Any) -> None:
        super().__init__(*rest)
        self._om = om

    def _act(self) -> None:
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
        other = {"content": f"[[{said.name}]] other words"} if self._dice.random() < 0.5 else {}
        again = Said(said.name, said.resource, said.thread, {**said.fields, **other})
        try:
            receipt = self._om.add_messages([message_of(again)])
        except StoreError:
            return
        known = [changed.id for changed in receipt.changed] if other else receipt.duplicates
        if [*known] != [said.name] and not self._journal.changed(said.resource, said.acknowledged_at or 0.0):
            self._journal.breach(f"an id acknowledged before got {receipt}", said.name)


class LateWriter(LibraryWriter):
    """Says one long thing to each of `quota` memories that nobody spoke to before, as fast as it can."""

    def __init__(self, om: ObservationalMemory, journal: Journal, quota: int, dice: random.Random) -> None:
        super().__init__(om, plan.LATE, [], journal, dice, quota, 0.0)

    def _act(self) -> None:
        first = self.composer.made
        last = min(first + _LATE_TOGETHER, self._quota)
        batch = [self._compose(Member(f"{plan.LATE}-{n}", ("t-1",))) for n in range(first, last)]
        for said in batch:
            said.fields["tokens"] = _LATE_TOKENS
        self._deliver(batch)


class PlainWriter(Writer):
    """Has nothing but a Redis client: a ZADD, and the hint for adoption only three times of four."""

    def __init__(self, client: redis.Redis, prefix: str, *rest: Any) -> None:
        super().__init__(*rest)
        self._client, self._prefix = client, prefix

    def _act(self) -> None:
        if self._kept and self._dice.random() < _REPEATS:
            self._write(self._dice.choice(self._kept))
        member = self._member()
        said = self._compose(member, plain=True)
        if self._write(said) and not member.fate:
            self._kept.append(said)

    def _write(self, said: Said) -> bool:
        key = f"{self._prefix}:{{{said.resource}}}:messages:{said.thread}"
        until, member = time.monotonic() + _PATIENCE_S, json.dumps(said.fields)
        while time.monotonic() < until and not self.halt.is_set():
            self._journal.tried([said])
            if self._try("ZADD", key, said.fields["timestamp"], member):
                self._journal.acknowledged([said])
                if self._dice.random() < 0.75:
                    self._try("ZADD", f"{self._prefix}:adopt", 0, key)
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


class HistoryWriter(Writer):
    """Sends its whole history again with every turn, without ids, as most clients of a model do.

    Its threads are its own; their words are in the journal's `histories`. Some answers are only "ok", time and again, and the
    instructions differ each time. A turn that could not be kept comes again with the next. `turns` were acknowledged.
    """

    def __init__(self, client: Callable[[], ObservationalMemory], *rest: Any) -> None:
        super().__init__(*rest)
        self._client, self._om = client, client()
        self._talks: dict[Thread, list[Message]] = defaultdict(list)
        self._unsaid: dict[Thread, list[Said]] = defaultdict(list)  # not acknowledged
        self._ids: dict[Thread, tuple[str, ...]] = {}
        self.turns = 0

    def finish(self) -> None:
        """Send every history once more, until it is acknowledged: whatever was lost or cleared is there again."""
        for thread in self._talks:
            until = time.monotonic() + _PATIENCE_S
            while not self._sync(thread) and time.monotonic() < until:
                time.sleep(0.2)
            if self._unsaid[thread]:
                self._journal.breach(f"the whole history of {thread} could not be kept for {_PATIENCE_S:.0f} s")

    def _act(self) -> None:
        member = self._member()
        thread = member.name, self._dice.choice(member.threads)
        self._say(thread, "user")
        if self._dice.random() < _SAYS_OK:
            self._add(thread, Message(role="assistant", content="ok"))
        else:
            self._say(thread, "assistant")
        if self._dice.random() < _NEW_CLIENT:
            self._om = self._client()
        if not self._sync(thread):
            self._pause()

    def _say(self, thread: Thread, role: str) -> None:
        said = self.composer.compose(*thread)
        said.fields = {"role": role, "content": said.fields["content"]}
        self._unsaid[thread].append(said)
        self._add(thread, Message(**said.fields))

    def _add(self, thread: Thread, message: Message) -> None:
        self._talks[thread].append(message)
        self._journal.histories[thread].append(message.content)

    def _sync(self, thread: Thread) -> bool:
        """Send all of a thread; whether it was acknowledged."""
        talk, unsaid = self._talks[thread], self._unsaid[thread]
        instructions = Message(role="system", content=f"It is {time.ctime()}, and turn {len(talk) // 2}.")
        self._journal.tried(unsaid)
        try:
            found = self._om.sync([instructions, *talk], *thread)
        except StoreError as error:
            self._journal.refused(unsaid, error.stored, str(error))
            return False
        self.turns += 1
        if unsaid:
            self._journal.acknowledged(unsaid)
            unsaid.clear()
        # what only goes on is never said to differ, and each message is known by the same id as ever
        before, self._ids[thread] = self._ids.get(thread, ()), found.ids[1:]
        if found.ids[1 : len(before) + 1] != before or found.ids[0]:
            self._journal.breach(f"a message of the history of {thread} is known by another id than before")
        if found.grown or found.changed or found.diverged_at is not None:
            self._journal.breach(f"the history of {thread} only went on, and its receipt says {found._replace(ids=())}")
        return True


def message_of(said: Said) -> Message:
    return Message(resource_id=said.resource, thread_id=said.thread, **said.fields)
