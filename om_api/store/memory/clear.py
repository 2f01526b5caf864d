"""Ending a memory, or a part of it: a whole resource, one thread, one observation, or what has been idle for too long."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from om_api.domain import pieces
from om_api.domain.errors import StoreError
from om_api.domain.notes.pins import Notes, pins_of, written
from om_api.domain.values import Generation, Outcome, Scope, Stored, new_id
from om_api.patterns.pattern import Pattern
from om_api.store.driver.partitions import asked
from om_api.store.driver.replies import as_bytes, as_hash, as_int, as_list, command, outcome, says, scored, word, write
from om_api.store.driver.steps import Batch, Steps, Verb, batch, exact, if_permitted
from om_api.store.memory import due, model_cooldown
from om_api.store.memory.content import Content, content
from om_api.store.memory.decoding import KEPT, as_generation, unsealed_threads
from om_api.store.memory.keys import Keys, ResourceKeys, tail_of
from om_api.store.memory.quarantine import PLACEHOLDER, as_listed, as_rejected
from om_api.store.memory.reading import as_scope, generations, observations, stored_scope

_TRIES = 8
_FOLDED = Pattern(r"<thread id=\"([^\"]+)\">\n?[\s\S]*?</thread>\n?")


class Cleared(NamedTuple):
    """What clearing did: how many messages were in no observation yet, and how many observations there were.

    `merged` names the observations whose content a reflection merged beyond recognition.
    """

    outcome: Outcome
    messages: int
    observations: int
    merged: tuple[str, ...] = ()


def threads_of(keys: Keys, resource: str) -> Steps[list[str]]:
    """Every thread a resource is known to have: unsealed, met by the workers, or waiting for adoption.

    The last are left out for an ACL user who may not read the hints, which name everybody.
    """
    met = yield from threads_met(keys, resource)
    waiting = yield from if_permitted(_hinted(keys, resource), set())
    return sorted({*met, *waiting})


def threads_met(keys: Keys, resource: str) -> Steps[list[str]]:
    """The same without those that only wait for adoption: of these nothing is counted, nor observed."""
    of = keys.of(resource)
    tokens, met = yield from batch(as_hash("HGETALL", of.tokens), as_list("ZRANGE", of.threads, 0, -1))
    return sorted({*unsealed_threads(tokens), *(name.decode() for name in met)})


def _hinted(keys: Keys, resource: str) -> Steps[set[str]]:
    names = set[str]()
    for part in keys.adopt.every(resource):
        names |= yield from _hinted_at(keys, resource, part)
    return names


def _hinted_at(keys: Keys, resource: str, part: str) -> Steps[set[str]]:
    names, cursor, pattern = set[str](), 0, keys.of(resource).messages("*")
    while True:
        cursor, found = yield from command(_scanned, "ZSCAN", part, cursor, "MATCH", pattern, "COUNT", 1000)
        for key in found:
            parsed = keys.parse_messages(key)
            if parsed and parsed.resource == resource:
                names.add(parsed.thread)
        if not cursor:
            return names


def _scanned(reply: Any) -> tuple[int, list[str]]:
    cursor, found = reply
    return int(cursor), [key.decode() for key, _ in scored(list(found))]


def clear(keys: Keys, resource: str, *, retention: bool = False) -> Steps[Cleared]:
    """Unlink a resource's whole memory in one step; with `retention`, only if nothing came since it was read."""
    for _ in range(_TRIES):
        met = yield from threads_of(keys, resource)
        counters = yield from as_hash("HGETALL", keys.of(resource).tokens)
        unsealed = unsealed_threads(counters)
        standing = yield from as_list("HKEYS", keys.of(resource).aliases)
        threads = sorted({*met, *unsealed, *(name.decode() for name in standing)})
        memories: list[Content] = []
        # of both scopes: a request that waits, or a client that believes in the other one, makes a record too
        for scope in [Scope(resource), *(Scope(resource, thread) for thread in threads)]:
            memories += [(yield from content(keys, scope))]
        yield from _forget_marks(keys, resource, met)
        counts = {thread: unsealed.get(thread, (0, 0))[1] for thread in threads}
        names, args = _whole(keys.of(resource), memories, counts)
        args = [int(retention), len(memories), counters.get(KEPT, b"0"), *args]
        done = yield from Verb("clear", names, args, word)
        if done == "cleared":
            found = sum(len(memory.observations) for memory in memories)
            sealed = sum(chunk.messages for memory in memories for chunk in memory.chunks)
            return Cleared(Outcome.CLEARED, sealed + sum(counts.values()), found)
        # What stays needs its marks again: those that were removed may have been of the push that came between.
        yield from due.mark(keys.due_observe, [Scope(resource)])
        if done == "superseded":
            return Cleared(Outcome.SUPERSEDED, 0, 0)
    raise StoreError(f"{resource} changes faster than it can be cleared: stop its writers, then repeat.", stored=False)


def _whole(of: ResourceKeys, memories: Sequence[Content], counts: Mapping[str, int]) -> tuple[list[str], list[Any]]:
    names = [of.tokens, of.threads, of.aliases, *(of.record(memory.scope) for memory in memories)]
    names += [*map(of.messages, counts), *_names(of, counts, memories)]
    args: list[Any] = [word for memory in memories for word in (memory.epoch, memory.seq, memory.generation)]
    return names, args + [word for pair in counts.items() for word in pair]


def _names(of: ResourceKeys, threads: Iterable[str], memories: Sequence[Content]) -> list[str]:
    names = [of.scope, of.rejected, of.working, of.redacted, of.archived, of.lock(model_cooldown.LOCK), of.lock("mend")]
    for thread in threads:
        names += _thread_names(of, thread)
    for memory in memories:
        scope = memory.scope
        names += [of.chunks(scope), of.observations(scope), of.reflections(scope), of.draft(scope)]
        for part in memory.chunks:
            names += [of.chunk(part.id), of.sealed(part.id), of.segment(part.id), *_locks(of, [part.id])]
        names += _behind(of, (stored.observation.id for stored in memory.observations))
        names += _notes(of, memory.observations)
        for n, history in memory.histories.items():
            names += [of.reflected(scope, n), *_notes(of, history)]
            names += _behind(of, (stored.observation.id for stored in history))
        for _, member in memory.generations:
            ids = as_generation(member).observation_ids
            names += [*_behind(of, ids), *_locks(of, [name for name in ids if "." in name])]
    return names


def _behind(of: ResourceKeys, names: Iterable[str]) -> list[str]:
    """What stands behind observations: their messages, and the index of these."""
    return [key for name in names for key in (of.source(name), of.segment(name))]


def _notes(of: ResourceKeys, stored: Sequence[Stored]) -> list[str]:
    """What may stand of the work on those chunks that could not be observed at once: their halves, and placeholders."""
    found = [each.observation for each in stored]
    return _locks(of, [each.id for each in found if "." in each.id or each.model == PLACEHOLDER])


def _locks(of: ResourceKeys, chunks: Iterable[str]) -> list[str]:
    return [lock for chunk in chunks for lock in model_cooldown.locks(of, chunk)]


def _thread_names(of: ResourceKeys, thread: str) -> list[str]:
    return [of.messages(thread), of.known(thread), of.thread(thread), of.sources(thread)]


def _forget_marks(keys: Keys, resource: str, threads: Sequence[str]) -> Steps[None]:
    # Before the memory, never after: a push that comes after the clear marks its scope, and that mark must stay.
    scopes = [resource, *(str(Scope(resource, thread)) for thread in threads)]
    of = keys.of(resource)
    hints = [of.messages(thread) for thread in threads or ["-"]]

    def forget() -> Batch[None]:
        return write(
            ("ZREM", keys.due_observe.of(resource), *scopes),
            ("ZREM", keys.due_reflect.of(resource), *scopes),
            ("ZREM", keys.resources.of(resource), resource),
            *(("ZREM", part, *hints) for part in keys.adopt.every(resource)),
            atomic=False,
        )

    yield from asked(keys.layout, forget)


def clear_thread(keys: Keys, scope: Scope, thread: str, count: Callable[[str], int]) -> Steps[Cleared]:
    """Remove one thread from a memory: messages, chunks, observations, history, quarantine, its sections of generations.

    What was written under an alias of it, and was not adopted yet, goes too.
    """
    of = keys.of(scope.resource)
    for _ in range(_TRIES):
        standing = yield from as_hash("HGETALL", of.aliases)
        thread = standing.get(thread.encode(), thread.encode()).decode()
        scope = Scope(scope.resource, scope.thread and thread)
        memory = yield from content(keys, scope)
        unsealed, quarantine = yield from batch(
            as_int("HGET", of.tokens, "#" + thread), as_list("LRANGE", of.rejected, 0, -1)
        )
        own = memory.of_thread(thread)
        plain = [alias.decode() for alias, name in standing.items() if name.decode() == thread]
        names = [*_part(of, own, thread), *map(of.messages, plain)]
        args = _words(memory, own, thread, plain, count, quarantine)
        said = "resource" if scope.thread is None else "thread"
        version = [said, memory.epoch, new_id(), memory.seq, memory.generation]
        if (yield from Verb("clear_thread", names, [*version, thread, *args], says(b"cleared"))):
            with suppress(StoreError):  # it is cleared; whoever takes the hint up finds nothing
                parts = keys.adopt.every(scope.resource)
                yield from write(*(("ZREM", part, of.messages(thread)) for part in parts), atomic=False)
            sealed = sum(chunk.messages for chunk in own.chunks)
            return Cleared(Outcome.CLEARED, unsealed + sealed, len(own.observations), _merged(own))
        scope = as_scope(scope.resource, thread, (yield from stored_scope(keys, scope.resource)) or said)
    raise StoreError(f"{scope} changes faster than it can be cleared: repeat.", stored=False)


def _part(of: ResourceKeys, own: Content, thread: str) -> list[str]:
    scope, stored = own.scope, [*own.observations, *own.history]
    histories = [of.reflected(scope, n) for n in own.histories]
    names = [of.tokens, of.record(scope), of.messages(thread), of.chunks(scope), of.observations(scope)]
    names += [of.reflections(scope), of.threads, of.rejected, of.scope, of.working, of.aliases, of.archived, *histories]
    names += [of.draft(scope), *_thread_names(of, thread)]
    names += [name for chunk in own.chunks for name in (of.chunk(chunk.id), of.sealed(chunk.id), of.segment(chunk.id))]
    names += _locks(of, (chunk.id for chunk in own.chunks))
    names += [*_behind(of, (each.observation.id for each in stored)), *_notes(of, stored)]
    if scope.thread is not None:  # nothing of the memory is another thread's
        names += [of.record(scope), of.reflections(scope), *histories]
    return names


def _words(
    memory: Content,
    own: Content,
    thread: str,
    plain: Sequence[str],
    count: Callable[[str], int],
    quarantine: Sequence[bytes],
) -> list[Any]:
    stored = [*own.observations, *own.history]
    entries = [entry for entry in quarantine if as_rejected(entry).thread_id == thread]
    args: list[Any] = [len(own.histories), len(own.chunks), len(stored), len(entries), *as_listed(quarantine)]
    args += [_pinned(memory, thread), len(plain), *plain]
    args += [word for chunk in own.chunks for word in (chunk.id, chunk.tokens)]
    args += [word for each in stored for word in (exact(each.seq), each.observation.tokens)]
    args += entries
    gone = {each.observation.id for each in stored}
    for n, member in own.generations:
        args += _rewritten(n, member, thread, gone, count)
    return args


def _pinned(memory: Content, thread: str) -> bytes:
    """The pins of what is left without a thread."""
    others = [each.observation for each in memory.observations if each.observation.thread_id != thread]
    rest = _rest(memory.in_force, thread)[1] if memory.in_force else ""
    left = Notes(rest, others, pooled=memory.scope.thread is None)
    return written(pin for pin in memory.pins if pin.thread != thread and left.hold(pin))


def _merged(own: Content) -> tuple[str, ...]:
    """Of what is cleared, what a reflection has merged: what stands outside of any section is of several threads."""
    common = _FOLDED.sub("", own.in_force.text).strip() if own.in_force else ""
    return tuple(stored.observation.id for stored in own.history) if common else ()


def _rewritten(n: int, member: bytes, thread: str, gone: Collection[str], count: Callable[[str], int]) -> list[Any]:
    """A generation without a thread's sections, and without naming what is gone among what could come back."""
    was = as_generation(member)
    moved, rest = _rest(was, thread)
    dropped = [name for name in was.observation_ids if name in gone]
    extracted = {name: values for name, values in was.extracted.items() if name != thread}
    if rest == was.text and not dropped and len(extracted) == len(was.extracted):
        return []
    tokens = was.tokens if rest == was.text else count(rest)
    kept = [name for name in was.observation_ids if name not in gone]
    gone_ids = list(dict.fromkeys([*was.dropped_ids, *dropped]))
    said = {"text": rest, "tokens": tokens, "observation_ids": kept, "dropped_ids": gone_ids, "extracted": extracted}
    said["pieces"] = [each.piece for each in moved]
    return [n, msgspec.json.encode({**msgspec.json.decode(member), **said}), tokens]


def _rest(was: Generation, thread: str) -> tuple[list[pieces.Slice], str]:
    """What is left of a generation without a thread: the pieces of one that was moved, and the text."""
    moved = pieces.without(pieces.cut(was, pooled=True), thread)
    return moved, pieces.text_of(moved, pooled=True) if moved else without_thread(was.text, thread)


def without_thread(text: str, thread: str) -> str:
    """A generation's text without one thread's sections."""
    return _FOLDED.sub(lambda found: "" if found[1] == thread else found[0], text)


def forget(keys: Keys, scope: Scope, epoch: str, stored: Stored) -> Steps[Outcome]:
    """Remove one observation, the messages behind it and its quarantine entry, because their owner says so.

    What was pinned of it, and stands nowhere else in the memory, is pinned no longer.
    """
    of, name = keys.of(scope.resource), stored.observation.id
    quarantined, pinned, others, newest = yield from batch(
        as_list("LRANGE", of.rejected, 0, -1),
        as_bytes("HGET", of.record(scope), "pins"),
        observations(keys, scope),
        generations(keys, scope, newest=1),
    )
    left = Notes.of(newest[-1:], [each.observation for each in others if each.observation.id != name], scope)
    gone = Notes.of([], [stored.observation], scope)
    kept = written(pin for pin in pins_of(pinned or b"") if left.hold(pin) or not gone.hold(pin))
    entries = [entry for entry in quarantined if as_rejected(entry).observation == name]
    names = [of.record(scope), of.observations(scope), of.source(name), of.segment(name), of.draft(scope)]
    names += [of.rejected, of.known(stored.observation.thread_id), of.thread(stored.observation.thread_id), of.archived]
    last = "".join(stored.observation.message_ids[-1:])
    args = [epoch, exact(stored.seq), stored.observation.tokens, pinned or b"", kept, last]
    args += [tail_of(of, of.source(name)), *entries]
    return (yield from Verb("forget", names, args, outcome))
