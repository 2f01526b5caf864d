"""A memory moved by single verbs: what the store's tests say in one line each."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import world

from om_api import in_force
from om_api.settings import load_settings
from om_api.store import commits, decoding, looking, reading, writing
from om_api.store.steps import Steps, Verb
from om_api.values import Generation, Message, Observation, Outcome, Scope, encode_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HAROLD = Scope("harold")
AT = 1_763_600_000_000  # message n is n seconds later
TTL = 1_000  # s
SETTINGS = in_force.of(load_settings(None, {}).memory)


def message(n: int, thread: str = "t1", tokens: int = 10) -> Message:
    at = AT + n * 1000
    return Message(
        role="user",
        content=f"turn {n}",
        id=f"m{n}",
        thread_id=thread,
        resource_id="harold",
        timestamp=at,
        tokens=tokens,
        at=at,
    )


def member(n: int, thread: str = "t1") -> bytes:
    return encode_message(message(n, thread))


def words(text: str) -> int:
    return len(text.split())


def push(store: Any, *numbers: int, thread: str = "t1", tokens: int = 10, thread_scope: bool = False) -> writing.Pushed:
    messages = [message(n, thread, tokens) for n in numbers]
    return store.run(writing.push(store.keys, store.clock, "harold", messages, thread_scope=thread_scope))


def write_plainly(store: Any, *members: bytes, thread: str = "t1", score: float = AT) -> None:
    key = store.keys.of("harold").messages(thread)
    store.client.zadd(key, dict.fromkeys(members, score))
    store.client.zadd(store.keys.adopt, {key: 0})


def adopt(store: Any, thread: str = "t1", scope: Scope = HAROLD) -> Steps[writing.Adopted | None]:
    return writing.adopt(store.keys, store.clock, scope, thread, words)


def record(store: Any, scope: Scope = HAROLD) -> Any:
    return store.run(looking.look(store.keys, scope)).record


def sealing(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD) -> Steps[Outcome]:
    members = [member(n, thread) for n in numbers]
    epoch = record(store, scope).epoch
    return commits.seal(store.keys, scope, epoch, thread, members, 10 * len(members), chunk)


def seal(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD) -> Outcome:
    """Push what is named and seal it."""
    push(store, *numbers, thread=thread)
    return store.run(sealing(store, chunk, *numbers, thread=thread, scope=scope))


def observation(store: Any, chunk: str, thread: str = "t1", task: str = "") -> Observation:
    found = decoding.as_chunk(chunk, 0, store.client.hgetall(store.keys.of("harold").chunk(chunk)))
    ids = tuple(m.id for m in store.run(looking.sealed_messages(store.keys, "harold", found)))
    return Observation(
        id=chunk, thread_id=thread, text=f"* noted {chunk}", tokens=5, message_ids=ids, task_state=task, created_at=AT
    )


def buffer(store: Any, chunk: str, by: str = "worker", **said: Any) -> Outcome:
    return store.run(commits.buffer(store.keys, "harold", observation(store, chunk, **said), by))


def ready(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD, task: str = "") -> None:
    """A chunk with its observation."""
    assert seal(store, chunk, *numbers, thread=thread, scope=scope) is Outcome.SEALED
    assert buffer(store, chunk, thread=thread, task=task) is Outcome.BUFFERED


def activating(store: Any, *chunks: str, scope: Scope = HAROLD, epoch: str = "", by: str = "a1") -> Steps[Outcome]:
    look = store.run(looking.look(store.keys, scope))
    return commits.activate(store.keys, scope, epoch or look.record.epoch, look.chunks, chunks, TTL, by)


def activate(store: Any, *chunks: str, scope: Scope = HAROLD, by: str = "a1") -> Outcome:
    return store.run(activating(store, *chunks, scope=scope, by=by))


def observed(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD) -> None:
    """An observation, with the messages behind it."""
    ready(store, chunk, *numbers, thread=thread, scope=scope)
    assert activate(store, chunk, scope=scope, by=f"a-{chunk}") is Outcome.ACTIVATED


def reflecting(
    store: Any, *chunks: str, scope: Scope = HAROLD, text: str = "* all of it", keep: int = 10, epoch: str = ""
) -> Steps[Outcome]:
    now = record(store, scope)
    replaced = [s for s in store.run(reading.observations(store.keys, scope)) if s.observation.id in chunks]
    generation = Generation(n=now.generation + 1, text=text, tokens=3, observation_ids=chunks, created_at=AT)
    return commits.reflect(store.keys, scope, epoch or now.epoch, generation, replaced, keep, TTL)


def reflect(store: Any, *chunks: str, **said: Any) -> Outcome:
    return store.run(reflecting(store, *chunks, **said))


def filled(store: Any) -> None:
    """Every tier: a generation of o1, observations o2 and o3 (of t2), chunks c4 (ready) and c5, raw messages in t1 and t2."""
    observed(store, "o1", 1, 2)
    assert reflect(store, "o1") is Outcome.REFLECTED
    observed(store, "o2", 3, 4)
    observed(store, "o3", 31, 32, thread="t2")
    ready(store, "c4", 5, 6, task="mend the roof")
    seal(store, "c5", 7, 8, 9)
    push(store, 10, 11)
    push(store, 33, thread="t2")


def interrupted(steps: Steps[Any], verb: str, meanwhile: Callable[[], Any]) -> Steps[Any]:
    """The same steps, with something happening right before the first call of a verb, or of a batch that begins so."""
    waiting = [meanwhile]
    try:
        step = next(steps)
        while True:
            if waiting and verb in {getattr(step, "name", ""), getattr(step, "commands", [[""]])[0][0]}:
                waiting.pop()()
            step = steps.send((yield step))
    except StopIteration as end:
        return end.value


def call(store: Any, name: str, keys: list[str], args: list[Any]) -> Any:
    """Call a verb as it is, past the functions that know how."""

    def steps() -> Steps[Any]:
        return (yield Verb(name, keys, args))

    return store.run(steps())


def window() -> int:
    return int(time.time() * 1000) // 600_000


def contents(store: Any) -> dict[bytes, tuple[Any, bool]]:
    """What every key holds, and whether it expires."""
    held = world.contents(store.client, f"{store.keys.prefix}*")
    return {key: (value, store.client.ttl(key) >= 0) for key, value in held.items()}


@contextmanager
def nothing_changes(store: Any) -> Iterator[None]:
    before = contents(store)
    yield
    assert contents(store) == before
