"""A client, workers and a scripted model in one process, driven step by step by the test."""

import contextlib
import json
import math
import os
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from om_api import Message, ObservationalMemory, load_settings
from om_api.domain.errors import OMError
from om_api.domain.values import Outcome
from om_api.store.driver.partitions import PartedIndex, learn
from om_api.store.memory import due
from om_workers.calls.admission import Passage
from om_workers.calls.model_calls import ModelCalls
from om_workers.calls.redacted_requests import RedactedRequests
from om_workers.llm.base import Model
from om_workers.llm.scripted import Scripted
from om_workers.tasks import wiring
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.observer import Observer
from om_workers.work.reflector import Reflector
from om_workers.work.scope_worker import ScopeWorker
from om_workers.work.sweep import Sweeper

SMALL = {
    "OM_MESSAGE_THRESHOLD": "1000",
    "OM_OBSERVATION_THRESHOLD": "4000",
    "OM_MIN_RECENT_MESSAGES": "0",
    "OM_TOKENIZER": "estimate",
    "OM_BUFFER_ACTIVATION": "0.8",
    "OM_REFLECTION__BUFFER_ACTIVATION": "0.5",
    "OM_PROMPT_CACHE__TIMING": "threshold",  # what is promised of a prompt cache is promised in tests of their own
}


# Multiplies every deadline of `wait_until`: raise it on a machine that is busy with other things.
PATIENCE = float(os.environ.get("TEST_PATIENCE", "2"))


def wait_until(predicate: Callable[[], Any], description: str, seconds: float = 30) -> None:
    """Poll until the predicate holds; fail with the description after `seconds` times TEST_PATIENCE."""
    end = time.monotonic() + seconds * PATIENCE
    while not predicate():
        if time.monotonic() > end:
            pytest.fail(f"timed out after {seconds * PATIENCE:g} s waiting for {description}")
        time.sleep(0.02)


def contents(client: Any, pattern: str) -> dict[bytes, Any]:
    """What every key holds, locks left out. Not its DUMP: a server may write one hash in two orders."""
    reads = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"stream": client.xrange,
    }
    found = sorted(key for key in client.scan_iter(pattern, count=1000) if b":lock:" not in key)
    return {key: reads[client.type(key)](key) for key in found}


class Inline:
    """Passes work on to a queue in this process; tests run it, lose it or double it. `elsewhere` as many tasks wait."""

    def __init__(self) -> None:
        self.queue: deque[tuple[str, tuple[str, ...]]] = deque()
        self.elsewhere = 0
        self.taken: dict[str, list[str]] = {}

    def observe(self, scope: str, lease: str) -> None:
        self.queue.append(("observe", (scope, lease)))

    def reflect(self, scope: str, lease: str) -> None:
        self.queue.append(("reflect", (scope, lease)))

    def adopt(self, *keys: str) -> None:
        self.queue.append(("adopt", keys))

    def ticks(self, name: str, n: int) -> None:
        self.queue.extend([("ticks", (name,))] * n)

    def try_models(self, n: int) -> None:
        self.queue.extend([("try_model", ())] * n)

    def waiting(self, queue: str) -> int:
        return self.elsewhere

    def held(self, queue: str) -> list[str]:
        return self.taken.get(queue, [])


class Everybody:
    """Admits every call at once: a model that is set to fail fails as often as it was told."""

    @contextlib.contextmanager
    def admit(self, *_: Any) -> Any:
        yield Passage()


class Uncounted:
    """Counts no call and knows no budget; what a reply costs is what its model says."""

    def open(self, *_: Any) -> None:
        """Nothing is counted."""

    def cancel(self, _entry: None) -> None:
        """Nothing was counted."""

    def close(self, _entry: None, _usage: Any, **_: Any) -> float | None:
        return None


class World:
    """`om` is the client, `tick` what beat and workers do; nothing happens by itself. `face` makes clients."""

    face: Callable[..., Any] = ObservationalMemory

    def __init__(
        self, client: Any, prefix: str, model: Model | None = None, config_dir: Any = None, **changed: str
    ) -> None:
        named = {f"OM_{name.upper()}": value for name, value in changed.items()}
        small = {} if config_dir else SMALL  # the environment wins over files
        self.settings = load_settings(config_dir, {**small, **named, "OM_PREFIX": prefix})
        self.client, self.prefix = client, prefix
        self.model = model or Scripted.echo()
        self.om = type(self).face(self.settings, client=client)
        self.dispatch = Inline()
        self.services = self.new_services()

    def new_services(self, *, guarded: bool = False) -> wiring.Services:
        """A worker's workshop; only a guarded one has breakers, limits and second tries, and models by their names."""
        services = wiring.build(self.settings, self.dispatch, self.client)
        if guarded:
            return services
        services.registry.model_for = lambda name, tokens: self.model
        return services._replace(
            models=ModelCalls(
                services.registry,
                Everybody(),
                Uncounted(),
                self.settings,
                services.count,
                tries=1,
                redacted=RedactedRequests(services.redacting, services.connection),
            )
        )

    # -- what agents do

    def say(
        self,
        *texts: str,
        thread: str = "t-1",
        resource: str = "harold",
        tokens: int = 100,
        memory: Any = None,
        **fields: Any,
    ) -> list[str]:
        messages = [
            Message(role="user", content=text, thread_id=thread, resource_id=resource, tokens=tokens, **fields)
            for text in texts
        ]
        return list(self.om.add_messages(messages, memory=memory).ids)

    def plainly(self, name: str, content: str, thread: str = "t-1") -> None:
        """A writer that knows no script writes a message and hints at it; it is adopted."""
        key = f"{self.prefix}:{{harold}}:messages:{thread}"
        member = json.dumps({"id": name, "role": "user", "content": content})
        self.client.zadd(key, {member: time.time() * 1000})
        self.client.zadd(f"{self.prefix}:adopt", {key: 0})
        self.sweep()

    def context(self, thread: str = "t-1", resource: str = "harold", **options: Any) -> Any:
        return self.om.get_context(thread, resource, **options)

    # -- what workers do

    def scope_worker(self) -> ScopeWorker:
        return ScopeWorker(self.services)

    def observer(self) -> Observer:
        return Observer(self.services)

    def reflector(self) -> Reflector:
        return Reflector(self.services)

    def sweep(self) -> Any:
        return Sweeper(self.services).sweep()

    def claim(self) -> None:
        self._refill()
        self._claim(self.services.keys.due_reflect, self.dispatch.reflect)

    def _refill(self) -> None:
        self._claim(self.services.keys.due_observe, self.dispatch.observe)

    def _claim(self, index: PartedIndex, send: Callable[[str, str], None]) -> None:
        self.services.run(learn(index.layout))
        for part in index.parts():
            for claim in self.services.run(due.claim(part, 100)):
                send(claim.scope, claim.lease)

    def work(self) -> list[Outcome]:
        """Run what is queued until the queue is empty; the outcomes in order."""
        outcomes = []
        while self.dispatch.queue:
            verb, ids = self.dispatch.queue.popleft()
            outcomes.append(self.perform(verb, *ids))
            if verb == "observe_chunk":
                self._refill()
        return outcomes

    def perform(self, verb: str, *ids: str) -> Outcome:
        """Do a task; what a look is to observe itself comes next in the queue, so that tests can lose or double that too."""
        if verb == "adopt":
            return [Sweeper(self.services).adopt(key) for key in ids][-1]
        if verb == "observe_chunk":
            return self.observer().observe_chunks(*ids).outcome
        if len(ids) > 1 and not Dispatcher(self.services).begin(verb, *ids):
            return Outcome.SUPERSEDED
        if verb == "reflect":
            return self.reflector().reflect(ids[0])
        looked = self.scope_worker().observe(ids[0], until=math.inf)
        if looked.chunks:
            self.dispatch.queue.appendleft(("observe_chunk", (ids[0], *looked.chunks)))
        return looked.outcome

    def tick(self) -> list[Outcome]:
        """One tick of both kinds, and everything that follows from it."""
        self.claim()
        return self.work()

    def tick_forgiving(self) -> None:
        """A tick whose failed units of work end with `failed`, as the task boundary has it."""
        self.claim()
        while self.dispatch.queue:
            verb, ids = self.dispatch.queue.popleft()
            with contextlib.suppress(OMError):
                self.perform(verb, *ids)
            if verb == "observe_chunk":
                self._refill()

    def until_given_up(self) -> None:
        """Try to observe t-1 again and again: what cannot be observed is found, and a placeholder stands for it."""
        for _ in range(18):
            self.om.force_observe("t-1", "harold")
            self.sweep()
            self.tick_forgiving()

    def while_it_thinks(self, meanwhile: Callable[[], Any], purpose: str = "") -> None:
        """The model is asked once, for anything or for a purpose, and something happens before it answers."""
        answer = self.model.complete

        def complete(request: Any) -> Any:
            if purpose in {"", request.purpose}:
                self.model.complete = answer
                meanwhile()
            return answer(request)

        self.model.complete = complete

    def next_task(self) -> tuple[str, ...]:
        """Take the oldest task that was passed on: its verb and its ids."""
        verb, ids = self.dispatch.queue.popleft()
        return verb, *ids

    def observe_now(self, thread: str | None = "t-1", resource: str = "harold") -> None:
        """What is raw is observed, as an owner asks for it."""
        self.om.force_observe(thread, resource)
        self.settle()

    def reflect_now(self, resource: str = "harold", thread: str | None = None) -> None:
        """What was observed is reflected, as an owner asks for it."""
        self.om.force_reflect(resource, thread)
        self.settle()

    def settle(self) -> None:
        """Tick until nothing is due at once."""
        for _ in range(30):
            if not self.tick():
                return
        raise AssertionError("the workers never come to rest")

    # -- where each message is

    def covering(self, resource: str = "harold") -> list[str]:
        """The id of every message, once for each place that covers it, read from outside with plain commands."""
        base, found = f"{self.prefix}:{{{resource}}}", []
        for key in self.client.scan_iter(f"{base}:*", count=1000):
            kind = key.decode()[len(base) + 1 :].split(":")[0]
            if kind in {"messages", "sealed"}:
                found += [json.loads(member)["id"] for member in self.client.zrange(key, 0, -1)]
            elif kind in {"observations", "reflected"}:
                for member in self.client.zrange(key, 0, -1):
                    found += json.loads(member)["message_ids"]
        return sorted(found)
