"""Actors on one store, moved on command by command, and what they are checked by from outside."""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import redis
from world import World

from fuzz.activity import ALL, Activity, Stoppable, current, somebody_else
from fuzz.checker import Held, Watch, check_shape, read, with_archive
from fuzz.cold import Cold, has_archive
from fuzz.contents import check_recall
from fuzz.expected import TEMPLATE, Expected, WorkingMemory
from fuzz.pieces import Turn
from fuzz.slots import Everywhere
from om_api.domain.errors import ModelError, OMError
from om_workers.llm.base import Reply, Request
from om_workers.llm.scripted import Scripted

_FORGETFUL = 0.6


class Moody:
    """Repeats what it is given, after others had their turn; fails now and then, and always on poison."""

    name = "moody"

    def __init__(self, dice: random.Random):
        self._dice, self._echo, self.calm, self.asked = dice, Scripted.echo(), False, 0

    def complete(self, request: Request) -> Reply:
        self.asked += 1
        nth = self.asked
        if activity := current():
            activity.stop("thinks")
        if request.purpose == "observe" and any("poison" in message.text() for message in request.messages):
            raise ModelError("the provider refuses this text", retryable=False)
        mood = 1.0 if self.calm else self._dice.random()
        if mood < 0.05:
            raise ModelError("429", retryable=True, retry_after=60)
        if mood < 0.08:
            raise ModelError("cannot be read", retryable=False)
        reply = self._echo.complete(request)  # no two answers are alike: one that replaces another is seen
        if request.purpose == "reflect" and mood < _FORGETFUL:  # what holds no message's id
            kept = [line for line in reply.text.split("\n") if " by hand " not in line]
            reply = msgspec.structs.replace(reply, text="\n".join(kept))
        return msgspec.structs.replace(reply, text=reply.text.replace("</obs", f"* 🟢 (00:00) answer {nth}\n</obs"))


RESOURCES = ("harold", "albert")
THREADS = ("t-0", "t-1", "t-2")
_BUSY = 5  # activities that are under way at once


_CACHES = (
    {},
    {"prompt_cache__timing": "cache", "prompt_cache__minimum": "0", "prompt_cache__lifetime": "1s"},
    {"prompt_cache__timing": "price", "prompt_cache__minimum": "0", "prompt_cache__lifetime": "5m"},
)


class Verb(NamedTuple):
    """What may happen in a step, how often, in which games, and what the report calls and counts ("": nothing)."""

    play: Callable[["Game"], None]
    weight: float
    label: str
    group: str
    counted: str


VERBS: dict[str, Verb] = {}
ALWAYS, ARCHIVE, ALIASES, CLUSTER = "always", "archive", "aliases", "cluster"  # groups: every game has those of ALWAYS


def verb(weight, label="", group=ALWAYS, counted=""):
    """Register a function of a game as a verb; the report counts it, or an event that it causes."""

    def register(play):
        VERBS[play.__name__] = Verb(play, weight, label, group, counted or play.__name__)
        return play

    return register


class Game:
    """Who is under way, what was done, what was accepted. `client` is plain redis-py on a real server.

    Verbs are functions of a game (agents.py, workers.py, owners.py and others). `world`, `resource`, `thread` and `dice`
    are those of the verb that is done now; `held` is the store as the last check saw it; `plain_ids` are those that a plain
    writer wrote, `reviewed` the reviews that somebody decided, `histories` what clients hold who sync, each of a thread;
    `syncing` is what they are doing; `cold` is the archive, which every second game has.
    """

    def __init__(self, seed: int, client: redis.Redis, prefix: str):
        self.client, self.prefix = client, prefix
        self.history: list[str] = []
        self.held: dict[str, Held] = {}
        self.verbs: Counter[str] = Counter()
        self.expected, self.watch = Expected(), Watch()
        self.running: list[Activity] = []
        self.n = 0
        self.syncing: dict[tuple[str, str], Activity] = {}
        self.histories: dict[tuple[str, str], list[Turn]] = {}
        self.kept = WorkingMemory()
        self.plain_ids: set[tuple[str, str]] = set()
        self.reviewed: set[str] = set()
        self.aliasing: Counter[str] = Counter()  # resources of which an alias is being made
        self.half_cleared: set[str] = set()  # resources of which a clear was not answered
        self.dice = random.Random(f"{seed}:begin")
        self.model = Moody(random.Random(f"{seed}:model"))
        self.slots = client.slots if isinstance(client, Everywhere) else None
        options = {
            "message_threshold": self.dice.choice(["500", "1000"]),
            "observation_threshold": "500",
            "max_reflections": "1000",
            "scope": self.dice.choice(["resource", "thread"]),
            "min_recent_messages": self.dice.choice("01"),
            "observer__max_attempts": "2",
            "ttl_days": "1",
            "working_memory__template": TEMPLATE,
            "reflection__review": self.dice.choice(["off", "off", "ask"]),
        }
        options |= _CACHES[seed % len(_CACHES)]
        if seed % 20 in {12, 14, 19}:  # notes are set aside in groups: nobody reviews what no model wrote
            options |= {"reflection__mode": "archive", "reflection__review": "off"}
        if self.slots:  # else a new store would have 64 parts there, each of which is asked by every claim
            client.set(f"{prefix}:partitions", self.dice.choice(['{"count":1}', '{"count":3,"former":[1]}']))
        self.cold = Cold() if has_archive(seed) else None
        options |= self.cold.options if self.cold else {}
        self.stoppable = [self._stoppable() for _ in range(2)]
        self.worlds = [World(each, prefix, model=self.model, **options) for each in self.stoppable]
        for world in self.worlds if self.cold else ():
            self.cold.put_into(world)
        self.world, self.resource, self.thread = self.worlds[0], RESOURCES[0], THREADS[0]

    def _stoppable(self) -> Any:
        if self.slots:
            return self.slots.stoppable()
        kwargs = self.client.connection_pool.connection_kwargs
        return Stoppable(host=kwargs["host"], port=kwargs["port"], db=kwargs.get("db", 0))

    def close(self):
        """Stop every thread, let connections go and remove all keys."""
        for activity in self.running:
            activity.kill(reply_lost=False)
        for world in self.worlds:
            world.services.heartbeat.stop()
        for client in self.stoppable:
            client.close()
        if self.cold:
            self.cold.close()
        if self.slots:
            self.slots.rest()
        if left := list(self.client.scan_iter(f"{self.prefix}*", count=10_000)):
            self.client.unlink(*left)

    def begin(self, name: str, work: Callable[[], Any]) -> Activity:
        """Begin an activity: it runs to its end, or stops somewhere on the way."""
        if len(self.running) >= _BUSY:
            self.dice.choice(self.running).finish()
        activity = self.start(name, work)
        how_far = self.dice.choice([1, 3, 8, activity.think, activity.commit, activity.commit, ALL, ALL, ALL])
        if callable(how_far):
            how_far()
        else:
            activity.go(how_far)
        return activity

    def overtake(self, slow: Activity, fast: Activity, at: str = ""):
        """Before one of two commits, or comes to a certain command, let the other come to its end."""
        if at:
            slow.come_to(at)
        else:
            slow.commit()
        fast.finish()
        slow.finish()

    def start(self, name: str, work: Callable[[], Any]) -> Activity:
        self.running.append(Activity(f"{name} {self.resource} {self.thread}", work))
        return self.running[-1]

    def bury(self):
        """Take away who came to an end; raise what no handler of the product should have let through."""
        for activity in [activity for activity in self.running if activity.finished]:
            self.running.remove(activity)
            if failure := activity.failure:  # or what somebody was told who was to ask elsewhere, or later, and did not
                sent_on = any(word in str(failure) for word in ("MOVED", "ASK", "TRYAGAIN", "CROSSSLOT"))
                if sent_on or not isinstance(failure, OMError):
                    raise failure
                self.history.append(f"    {activity.name} failed: {str(failure)[:150]}")

    def fresh(self, letter: str) -> str:
        self.n += 1
        return f"{letter}-{self.n:04}"

    def look(self, resource: str) -> Held:
        return self._look()[resource]

    def _look(self) -> dict[str, Held]:
        found = read(self.client, self.prefix)
        return with_archive(found, self.cold.rows()) if self.cold else found

    def parts(self, index: str) -> list[str]:
        """The parts of an index that take entries, however many it has now."""
        pattern = re.compile(rf"{self.prefix}:{index}(:[0-9]+:[0-9]+)?")
        names = [key.decode() for key in self.client.scan_iter(f"{self.prefix}:{index}*", count=1000)]
        return sorted(name for name in names if pattern.fullmatch(name) and self.client.type(name) == b"zset")

    def go_where(self, kind: str, *states: bytes) -> str:
        """Turn to a resource and thread that have such a thing; its name, '' when nobody has."""
        found = [
            (resource, tail)
            for resource in RESOURCES
            for tail, value in self.held[resource].of(kind).items()
            if not states or value[b"state"] in states
        ]
        if not found:
            return ""
        self.resource, tail = self.dice.choice(sorted(found))
        named = self.held[self.resource].of("chunk")[tail][b"thread"].decode() if states else tail.split(":")[-1]
        self.thread = named or self.thread
        return tail

    def check(self):
        """P1, P2, P3, P10 and the counters, from outside."""
        self.held = self._look()
        somebody_else()
        for resource in RESOURCES:
            held = self.held[resource]
            self.expected.check(resource, held)
            check_shape(resource, held, expires=self.cold is not None)
            if self.expected.removing(resource):
                self.watch.forget(resource)
            else:
                self.watch.check(resource, held)
            self.kept.check(resource, self.client.hget(f"{self.prefix}:{{{resource}}}:working", "value:"))
            check_recall(self.world.om, resource, held, self.expected.ever(resource))
