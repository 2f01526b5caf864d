"""A memory moved by single verbs: what the store's tests say in one line each."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import redis
import world

from om_api.domain.messages import Message
from om_api.domain.values import Generation, Observation, Outcome, Scope
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.recall.segment import encode
from om_api.settings import load_settings, recorded_settings
from om_api.store.audit.verify import verify
from om_api.store.backup.exporting import Outgoing
from om_api.store.backup.importing import Incoming
from om_api.store.driver.partitions import sure
from om_api.store.driver.steps import Leniently, Steps, Verb
from om_api.store.erasing.erase import Eraser, a_text
from om_api.store.index.indexing import findable
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import clear, decoding, due, migrate, quarantine, reading, restore, scope_state
from om_api.store.memory import reflect as reflect_steps
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.adopt import Adopted, rejection
from om_api.store.memory.adopt import adopt as adopt_set
from om_api.store.memory.push import Pushed
from om_api.store.memory.push import push as push_batch
from om_api.store.reviews.drafts import Draft, Review
from om_api.store.threads.aliasing import Aliasing
from om_api.store.working import working

HAROLD = Scope("harold")
AT = 1_763_600_000_000  # message n is n seconds later
TTL = 1_000  # s
WAITS = Review("r1", 5, 9)
SETTINGS = recorded_settings.of(load_settings(None, {}).memory)


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


def push(store: Any, *numbers: int, thread: str = "t1", tokens: int = 10, thread_scope: bool = False) -> Pushed:
    messages = [message(n, thread, tokens) for n in numbers]
    return store.run(pushing(store, messages, thread_scope=thread_scope))


def pushing(store: Any, messages: list[Message], **options: Any) -> Steps[Pushed]:
    encoded = [EncodedMessage(message, encode_message(message)) for message in messages]
    on_a_cluster = isinstance(store.client, redis.RedisCluster)
    mark = options.pop("mark", True)
    if mark and on_a_cluster:
        yield from sure(store.keys.layout)
    pushed = yield from push_batch(
        store.keys, store.clock, "harold", encoded, mark=mark and not on_a_cluster, **options
    )
    if mark and on_a_cluster:  # the due index is in another slot
        yield from due.mark(store.keys.due_observe, pushed.due, now=pushed.now)
    return pushed


def write_plainly(store: Any, *members: bytes, thread: str = "t1", score: float = AT) -> None:
    key = store.keys.of("harold").messages(thread)
    store.client.zadd(key, dict.fromkeys(members, score))
    store.client.zadd(store.keys.adopt, {key: 0})


def adopt(store: Any, thread: str = "t1", scope: Scope = HAROLD) -> Steps[Adopted | None]:
    return adopt_set(store.keys, store.clock, scope.resource, thread, words)


def record(store: Any, scope: Scope = HAROLD) -> Any:
    return store.run(scope_state.look(store.keys, scope)).record


def sealing(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD) -> Steps[Outcome]:
    members = [member(n, thread) for n in numbers]
    epoch = record(store, scope).epoch
    return seal_steps.seal(store.keys, scope, epoch, thread, members, 10 * len(members), chunk)


def seal(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD) -> Outcome:
    """Push what is named and seal it."""
    push(store, *numbers, thread=thread)
    return store.run(sealing(store, chunk, *numbers, thread=thread, scope=scope))


def observation(store: Any, chunk: str, thread: str = "t1", task: str = "") -> Observation:
    found = decoding.as_chunk(chunk, 0, store.client.hgetall(store.keys.of("harold").chunk(chunk)))
    covered = store.run(scope_state.sealed_messages(store.keys, "harold", found))
    ids = tuple(m.id for m in covered)
    return Observation(
        id=chunk,
        thread_id=thread,
        text=f"* noted {chunk}",
        tokens=5,
        message_ids=ids,
        source_range=(ids[0], ids[-1]) if ids else (),
        from_=covered[0].at if ids else 0,
        to=covered[-1].at if ids else 0,
        task_state=task,
        created_at=AT,
    )


def buffer(store: Any, chunk: str, by: str = "worker", **said: Any) -> Outcome:
    noted = observation(store, chunk, **said)
    return store.run(chunks_steps.buffer(store.keys, "harold", noted, by, segment(store, chunk, noted.thread_id)))


def segment(store: Any, chunk: str, thread: str = "t1") -> bytes:
    pairs = store.client.zrange(store.keys.of("harold").sealed(chunk), 0, -1, withscores=True)
    return encode(thread, findable(pairs, thread, "harold"))


def ready(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD, task: str = "") -> None:
    """A chunk with its observation."""
    assert seal(store, chunk, *numbers, thread=thread, scope=scope) is Outcome.SEALED
    assert buffer(store, chunk, thread=thread, task=task) is Outcome.BUFFERED


def expiring(store: Any, *names: str) -> list[str]:
    """The keys of observations that expire: their messages, and the index of these."""
    of = store.keys.of("harold")
    return [key for name in names for key in (of.source(name), of.segment(name))]


def activating(store: Any, *chunks: str, scope: Scope = HAROLD, epoch: str = "", by: str = "a1") -> Steps[Outcome]:
    look = store.run(scope_state.look(store.keys, scope))
    return activate_steps.activate(
        store.keys, scope, epoch or look.record.epoch, look.chunks, chunks, TTL, by, count=lambda _: 0
    )


def activate(store: Any, *chunks: str, scope: Scope = HAROLD, by: str = "a1") -> Outcome:
    return store.run(activating(store, *chunks, scope=scope, by=by))


def observed(store: Any, chunk: str, *numbers: int, thread: str = "t1", scope: Scope = HAROLD) -> None:
    """An observation, with the messages behind it."""
    ready(store, chunk, *numbers, thread=thread, scope=scope)
    assert activate(store, chunk, scope=scope, by=f"a-{chunk}") is Outcome.ACTIVATED


def reflecting(
    store: Any,
    *chunks: str,
    scope: Scope = HAROLD,
    text: str = "* all of it",
    keep: int = 10,
    epoch: str = "",
    patterns: tuple[str, ...] = (),
    dropped: tuple[str, ...] = (),
    proposed: str = "",
) -> Steps[Outcome]:
    now = record(store, scope)
    replaced = [s for s in store.run(reading.observations(store.keys, scope)) if s.observation.id in chunks]
    generation = Generation(
        n=now.generation + 1,
        text=text,
        tokens=3,
        observation_ids=chunks,
        dropped_ids=dropped,
        created_at=AT,
        patterns=patterns,
    )
    read = msgspec.structs.replace(now, epoch=epoch or now.epoch, proposed=proposed)
    return reflect_steps.reflect(store.keys, scope, read, generation, replaced, keep, TTL)


def reflect(store: Any, *chunks: str, **said: Any) -> Outcome:
    return store.run(reflecting(store, *chunks, **said))


def keeps(store: Any, keep: int = 10, **fields: str) -> Outcome:
    """Write the working memory of a resource, of which `keep` former versions are kept."""
    was = store.run(working.read(store.keys, "harold", ""))
    value = {field: [said, 1] for field, said in fields.items()}
    return store.run(working.update(store.keys, HAROLD, "", was, value, "lotte", keep))


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


def each_step(steps: Steps[Any], before: Callable[[Any], Any]) -> Steps[Any]:
    """The same steps, and a call with each of them right before it is made."""
    try:
        step = next(steps)
        while True:
            before(step)
            step = steps.send((yield step))
    except StopIteration as end:
        return end.value


def interrupted(steps: Steps[Any], verb: str, meanwhile: Callable[[], Any]) -> Steps[Any]:
    """The same steps, with something happening right before the first call of a verb, or of a batch that begins so."""
    waiting = [meanwhile]

    def before(step: Any) -> None:
        if waiting and verb in {getattr(step, "name", ""), getattr(step, "commands", [[""]])[0][0]}:
            waiting.pop()()

    return each_step(steps, before)


def at_step(steps: Steps[Any], number: int, meanwhile: Callable[[], Any] | None) -> Steps[Any]:
    """The same steps, with something happening right before the one of a number; None for a death there."""
    reply, at = None, 0
    try:
        while True:
            step = steps.send(reply)
            if at == number and meanwhile is None:
                return None
            if at == number:
                meanwhile()
            at += 1
            reply = yield step
    except StopIteration as end:
        return end.value


def call(store: Any, name: str, keys: list[str], args: list[Any]) -> Any:
    """Call a verb as it is, past the functions that know how."""

    def steps() -> Steps[Any]:
        return (yield from Verb(name, keys, args, lambda reply: reply))

    return store.run(steps())


def contents(store: Any) -> dict[bytes, tuple[Any, bool]]:
    """What every key holds, and whether it expires."""
    held = world.contents(store.client, f"{store.keys.prefix}*")
    return {key: (value, store.client.ttl(key) >= 0) for key, value in held.items()}


@contextmanager
def nothing_changes(store: Any) -> Iterator[None]:
    before = contents(store)
    yield
    assert contents(store) == before


def trips(steps):
    """Steps that return how many round trips they were as well."""
    made = []
    found = yield from each_step(steps, made.append)
    return found, sum(not isinstance(step, Leniently) for step in made)  # which asks nobody


def exported(store: Any, resource: Any = "harold") -> Any:
    """The whole file."""
    outgoing, pieces = Outgoing(store.keys, resource), []
    while piece := store.run(outgoing.more()):
        pieces.append(piece)
    return b"".join(pieces)


def incoming(store: Any, file: Any, resource: Any = None) -> Any:
    # the tokens that its notes and generations say
    found = Incoming(store.keys, resource, lambda _: None, lambda text: 5 if "noted" in text else 3)
    store.run(found.take(file))
    return found


def import_(store: Any, file: Any, resource: Any = None) -> Any:
    return store.run(incoming(store, file, resource).commit())


def cleared(store: Any) -> Any:
    assert store.run(clear.clear(store.keys, "harold")).outcome == "cleared"


def lines(file: Any) -> Any:
    return [json.loads(line) for line in file.splitlines()]


def rewritten(file: Any, change: Any) -> Any:
    """The file with other lines, and an end that fits them."""
    texts = [json.dumps(line) for line in change(lines(file)[:-1])]
    body = "".join(text + "\n" for text in texts).encode()
    end = {"kind": "end", "lines": len(texts), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


def clearing_thread(store: Any, thread: Any, scope: Any = HAROLD) -> Any:
    return clear.clear_thread(store.keys, scope, thread, words)


def erasing(store: Any, text: str, scope: Any = HAROLD) -> Any:
    def every() -> Iterator[Any]:
        return [scope]
        yield

    return Eraser(store.keys, store.clock, every, words, lambda _: None).erase("harold", a_text(text))


def forget_first(store: Any) -> Any:
    """The owner forgets the oldest observation."""
    first, *_ = store.run(reading.observations(store.keys, HAROLD))
    return store.run(clear.forget(store.keys, HAROLD, record(store).epoch, first))


def put_up(
    store: Any, *names: str, review: Review = WAITS, was: str = "", comment: str = "", text: str = "* all"
) -> Outcome:
    """Keep a reflection of observations for its review."""
    now, stored = record(store), store.run(reading.observations(store.keys, HAROLD))
    covered = [each for each in stored if each.observation.id in names]
    made = Generation(n=now.generation + 1, text=text, tokens=3, observation_ids=names)
    draft = msgspec.json.encode(Draft(made, tuple(each.seq for each in covered), comment))
    place = store.keys, HAROLD, now.epoch, now.generation
    return store.run(reflect_steps.draft(*place, draft, TTL, covered=covered, was=was, review=review))


def aliased(store: Any, alias: str, thread: str, scope: Any = HAROLD) -> Any:
    def apart() -> Iterator[Any]:
        return scope
        yield

    return Aliasing(store.keys, store.clock, words, "harold", versions=3, redacts=lambda _: None).alias(
        alias, thread, apart
    )


def moving(store: Any, to: Any = "thread") -> Any:
    return migrate.migrate(store.keys, "harold", to, words, SETTINGS)


def restoring(store: Any, n: Any, scope: Any = HAROLD, keep: Any = 100) -> Any:
    return restore.restore(store.keys, scope, n, keep, TTL, AT, words)


def restored(store: Any, n: Any, **said) -> Any:
    return store.run(restoring(store, n, **said))


def entries(store: Any, resource: Any = "harold") -> Any:
    return store.run(quarantine.entries(store.keys, resource))


def only(store: Any) -> Any:
    (entry,) = entries(store)
    return entry


def retrying(store: Any, entry: Any = "", resource: Any = "harold") -> Any:
    return quarantine.retry(store.keys, resource, entry or only(store).id, "resource")


def retry(store: Any, entry: Any = "") -> Any:
    return store.run(retrying(store, entry))


def quarantined(store: Any, chunk: Any = "c1", n: Any = 1, thread: Any = "t1", scope: Any = HAROLD) -> Any:
    """A chunk of one message that a placeholder stands for."""
    assert seal(store, chunk, n, thread=thread, scope=scope) is Outcome.SEALED
    unobservable(store, chunk, n, thread)


def unobservable(store: Any, chunk: Any, n: Any, thread: Any = "t1") -> None:
    """A worker gives a chunk of one message up."""
    found = observation(store, chunk, thread=thread)
    placeholder = type(found)(
        id=chunk,
        thread_id=thread,
        text="* none",
        tokens=5,
        message_tokens=10,
        message_ids=found.message_ids,
        model=quarantine.PLACEHOLDER,
        created_at=AT,
    )
    entry = rejection("unobservable", member(n, thread), thread, "blocked", AT, observation=chunk)
    assert store.run(chunks_steps.buffer(store.keys, "harold", placeholder, "w", b"", entry)) is Outcome.BUFFERED


def activated(store: Any, chunk: Any = "c1", n: Any = 1, **where) -> Any:
    quarantined(store, chunk, n, **where)
    assert activate(store, chunk, scope=where.get("scope", HAROLD), by=f"a-{chunk}") is Outcome.ACTIVATED


def breaches(store: Any) -> Any:
    """What verify finds."""
    return store.run(verify(store.keys, lambda message: words(message.text())))


def key_of(store: Any, name: str, *ids: Any) -> Any:
    """A key of harold's by what it is."""
    found = getattr(store.keys.of("harold"), name)
    return found(*ids) if ids else found


def emptied(store: Any) -> Any:
    """The store without any of its keys: for the next row of a loop."""
    for key in list(store.client.scan_iter(f"{store.keys.prefix}*", count=1000)):
        store.client.unlink(key)
    return store


def disturbed(steps: Steps[Any], meanwhile: Callable[[], Any]) -> Steps[Any]:
    """The same steps, with something happening before every call of a script."""
    return each_step(steps, lambda step: meanwhile() if isinstance(step, Verb) else None)


def overtaken(store: Any, steps: Steps[Any], verb: str, meanwhile: Callable[[], Any]) -> Any:
    """What interrupted steps end with, which change nothing after what happened meanwhile."""
    watch = nothing_changes(store)
    ended = store.run(interrupted(steps, verb, lambda: (meanwhile(), watch.__enter__())))
    watch.__exit__(None, None, None)
    return ended


def repeating(store: Any, steps: Steps[Any], verb: str) -> Callable[[], Any]:
    """Run steps; what is returned sends their call of a verb once more, as after a lost reply."""
    sent = []
    store.run(each_step(steps, sent.append))
    (made,) = [step for step in sent if getattr(step, "name", "") == verb]
    return lambda: call(store, made.name, made.keys, made.args)


def unchanged(store: Any, steps: Steps[Any]) -> Any:
    """What steps return that change nothing."""
    with nothing_changes(store):
        return store.run(steps)


def counts(store: Any) -> dict[str, int]:
    """The counters of unsealed messages."""
    found = store.client.hgetall(store.keys.of("harold").tokens)
    return {name.decode(): int(n) for name, n in found.items() if name not in {b"*key", b"*ids"}}


def in_force(store: Any, scope: Scope = HAROLD) -> list[str]:
    """The ids of the observations in force."""
    return [each.observation.id for each in store.run(reading.observations(store.keys, scope))]
