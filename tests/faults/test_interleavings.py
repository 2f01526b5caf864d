"""Seeded interleavings: clients, workers, plain writers and owners on one store, stopped between any two commands.

After every operation the invariants are read from outside with plain commands. A failing seed prints what was done.
`FUZZ_SEEDS=500 pytest tests/faults` runs more of them.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter

import pytest
import redis
from world import World

from om_api import Message
from om_api.errors import OMError
from om_api.store.connection import Connection
from om_workers.llm.scripted import Scripted

_SEEDS = int(os.environ.get("FUZZ_SEEDS", "40"))
_OPERATIONS = 60
_RESOURCES = ("harold", "albert")


class CrashedError(Exception):
    """The process died here."""


class Fragile(Connection):
    """A connection whose process dies before its n-th round trip, or right after it: the reply is lost then."""

    fuse: int | None = None
    lost_reply = False

    def _perform(self, step):
        if self.fuse is None:
            return super()._perform(step)
        self.fuse -= 1
        if self.fuse > 0:
            return super()._perform(step)
        self.fuse = None
        if self.lost_reply:
            super()._perform(step)
        raise CrashedError


class Game:
    """One seed: what was done, what was accepted, what must hold."""

    def __init__(self, seed: int, client, prefix: str) -> None:
        self.dice = random.Random(seed)
        self.done: list[str] = []
        self.accepted: dict[str, Counter[str]] = {name: Counter() for name in _RESOURCES}
        self.maybe: dict[str, set[str]] = {name: set() for name in _RESOURCES}
        scope = self.dice.choice(["resource", "thread"])
        options = {
            "observation_threshold": "500",
            "max_reflections": "1000",
            "scope": scope,
            "min_recent_messages": "1",
        }
        self.worlds = [World(client, prefix, model=Scripted.echo(), **options) for _ in range(2)]
        for world in self.worlds:
            world.shop = world.shop._replace(connection=Fragile(client))
            world.shop.heartbeat._connection = Connection(client)
            world.om._connection = Fragile(client)
        self.client, self.prefix, self.n = client, prefix, 0

    def play(self) -> None:
        verbs = {
            self.push: 10,
            self.push_again: 3,
            self.plain: 4,
            self.look: 8,
            self.work: 14,
            self.double: 2,
            self.lose: 2,
            self.read: 8,
            self.sweep: 3,
            self.force: 2,
            self.reflect: 3,
            self.unlock: 2,
            self.clear: 0.5,
            self.clear_thread: 0.5,
            self.forget: 0.5,
            self.migrate: 1,
            self.hurry: 6,
        }
        for _ in range(_OPERATIONS):
            verb = self.dice.choices(list(verbs), list(verbs.values()))[0]
            self.world, self.resource = self.dice.choice(self.worlds), self.dice.choice(_RESOURCES)
            self.thread = f"t-{self.dice.randrange(3)}"
            self.done.append(f"{verb.__name__} {self.resource} {self.thread} by {self.worlds.index(self.world)}")
            self._fragile(verb)
            self.check()
        self.settle()
        self.check()

    def _fragile(self, verb) -> None:
        for connection in (self.world.om._connection, self.world.shop.connection):
            connection.fuse = self.dice.randrange(1, 12) if self.dice.random() < 0.3 else None
            connection.lost_reply = self.dice.random() < 0.5
        try:
            verb()
        except CrashedError:
            self.done[-1] += " CRASHED"
        except OMError as error:
            self.done[-1] += f" {type(error).__name__}: {error}"
        for connection in (self.world.om._connection, self.world.shop.connection):
            connection.fuse = None

    # -- what agents do

    def push(self) -> None:
        names = []
        for _ in range(self.dice.randrange(1, 6)):
            self.n += 1
            names.append(f"m-{self.n}")
        self.maybe[self.resource].update(names)
        at = self.dice.choice(
            [None, 1_700_000_000_000, 1_790_000_000_000 + self.dice.randrange(10**9), 1_900_000_000_000]
        )
        for name in names:
            self.world.say(name, id=name, thread=self.thread, resource=self.resource, timestamp=at)
            self._accept(name)

    def _accept(self, name: str) -> None:
        self.accepted[self.resource][name] = 1
        self.maybe[self.resource].discard(name)

    def push_again(self) -> None:
        known = sorted(
            name for name in {*self.accepted[self.resource], *self.maybe[self.resource]} if name.startswith("m-")
        )
        if known:
            name = self.dice.choice(known[-20:])
            thread = self._thread_of(name) or self.thread
            message = Message(role="user", content="another text", id=name, thread_id=thread, resource_id=self.resource)
            if self.world.om.add_message(message).added:
                self._accept(name)

    def _thread_of(self, name: str) -> str | None:
        for key in self.client.scan_iter(f"{self.prefix}:{{{self.resource}}}:seen:*"):
            if self.client.sismember(key, name):
                return key.decode().split(":seen:")[1].rpartition(":")[0]
        return None

    def plain(self) -> None:
        self.n += 1
        name = f"p-{self.n if self.dice.random() < 0.7 else self.dice.randrange(1, self.n + 1)}"
        member = json.dumps({"id": name, "role": "user", "content": name, "tokens": 60})
        self.client.zadd(f"{self.prefix}:{{{self.resource}}}:messages:t-0", {member: 1_790_000_000_000})
        self.maybe[self.resource].add(name)

    def read(self) -> None:
        context = self.world.context(self.thread, self.resource)
        ids = [message.id for message in context.messages]
        assert len(ids) == len(set(ids))

    # -- what workers do

    def look(self) -> None:
        self.world.claim()

    def hurry(self) -> None:
        """Time passes: every lease has run out."""
        for index in ("observe", "reflect"):
            for name in self.client.zrange(f"{self.prefix}:due:{index}", 0, -1):
                self.client.zadd(f"{self.prefix}:due:{index}", {name: 1})

    def work(self) -> None:
        if self.world.dispatch.queue:
            verb, ids = self.world.dispatch.queue.popleft()
            self.done[-1] += f" {verb} {ids[0]}"
            self.world.perform(verb, *ids)

    def double(self) -> None:
        if self.world.dispatch.queue:
            self.world.dispatch.queue.append(self.world.dispatch.queue[0])

    def lose(self) -> None:
        if self.world.dispatch.queue:
            self.world.dispatch.queue.popleft()

    def sweep(self) -> None:
        for name in self.client.zrange(f"{self.prefix}:resources", 0, -1):
            self.client.zadd(f"{self.prefix}:resources", {name: 1})
        self.world.sweep()

    def unlock(self) -> None:
        if locks := list(self.client.scan_iter(f"{self.prefix}:*lock:*")):
            self.client.delete(*locks)

    def force(self) -> None:
        self.world.om.force_observe(self.thread, self.resource)

    def reflect(self) -> None:
        self.world.om.force_reflect(self.resource)

    # -- what owners do

    def clear(self) -> None:
        everything = {*self.accepted[self.resource], *self.maybe[self.resource]}
        self.accepted[self.resource], self.maybe[self.resource] = Counter(), everything
        self.world.om.clear(self.resource)
        self.maybe[self.resource] = self._there()  # what a plain writer left in a thread nobody met may stay

    def clear_thread(self) -> None:
        self.maybe[self.resource] |= set(self.accepted[self.resource])
        self.accepted[self.resource] = Counter()
        self.world.om.clear(self.resource, self.thread)

    def forget(self) -> None:
        observations = self.world.om.observations(self.resource)
        if observations:
            gone = self.dice.choice(observations)
            for name in gone.message_ids:
                self.accepted[self.resource].pop(name, None)
                self.maybe[self.resource].add(name)
            self.world.om.forget(gone.id, self.resource)

    def migrate(self) -> None:
        self.world.om.migrate_scope(self.resource, self.dice.choice(["resource", "thread"]))

    # -- what must hold

    def _there(self) -> set[str]:
        return set(self._covering(self.resource))

    def _covering(self, resource: str) -> Counter[str]:
        base, found = f"{self.prefix}:{{{resource}}}:", Counter()
        for key in self.client.scan_iter(f"{base}*", count=1000):
            kind = key.decode()[len(base) :].split(":")[0]
            if kind not in {"messages", "sealed", "observations", "reflected"}:
                continue
            for member in self.client.zrange(key, 0, -1):
                fields = json.loads(member)
                found.update([fields["id"]] if kind in {"messages", "sealed"} else fields["message_ids"])
        return found

    def check(self) -> None:
        for resource in _RESOURCES:
            covering = self._covering(resource)
            for name in self.accepted[resource]:
                assert covering[name] == 1, f"{resource} {name} is covered {covering[name]} times"
            for name, times in covering.items():
                # a plain copy stands beside its first form until it is adopted
                assert times == 1 or name.startswith("p-"), f"{resource} {name} is covered {times} times"
            unknown = set(covering) - set(self.accepted[resource]) - self.maybe[resource]
            assert unknown == set(), f"{resource} {unknown} came from nowhere"
            self._check_counters(resource)

    def _check_counters(self, resource: str) -> None:
        base = f"{self.prefix}:{{{resource}}}:"
        tokens = self.client.hgetall(f"{base}tokens")
        for field, count in tokens.items():
            if field.startswith(b"#"):
                assert int(count) <= self.client.zcard(f"{base}messages:{field[1:].decode()}")
        total = sum(int(value) for field, value in tokens.items() if not field.startswith((b"#", b"*")))
        assert total == int(tokens.get(b"*", 0))

    def settle(self) -> None:
        """Everybody comes to rest; then nothing may be left undone."""
        self.done.append("settle")
        for _ in range(6):
            for world in self.worlds:
                self.world = world
                self.unlock()
                self.hurry()
                self.sweep()
                world.tick()
        breaches = self.worlds[0].om.verify()
        assert breaches == [], breaches
        for resource in _RESOURCES:
            covering = self._covering(resource)
            assert all(times == 1 for times in covering.values()), covering.most_common(3)


@pytest.mark.parametrize("seed", range(_SEEDS))
def test_no_interleaving_loses_or_doubles_a_message(seed, server_url, prefix):
    with redis.Redis.from_url(server_url) as client:
        game = Game(seed, client, prefix)
        try:
            game.play()
        except AssertionError as error:
            pytest.fail(f"seed {seed}: {error}\n" + "\n".join(game.done[-30:]))
        finally:
            if left := list(client.scan_iter(f"{prefix}*", count=1000)):
                client.unlink(*left)
