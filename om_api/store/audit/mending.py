"""Repairs what can be derived in one memory: damage by workers of an older version, or by the loss of a key."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from om_api.domain.identity import KnownId, mark, record_of
from om_api.domain.values import Observation, Scope
from om_api.store.audit import resource_dump
from om_api.store.audit.invariants import decoded, observed_threads, places, unlisted_sources
from om_api.store.audit.resource_dump import Part, ResourceDump
from om_api.store.driver.replies import as_bool, as_int, number, says, write
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.clear import threads_met
from om_api.store.memory.decoding import as_observation, message_of
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import COMPLETE, day_of, held_records, learn

_MISSING, _NO_LIFETIME = -2, -1  # replies of PTTL
_EVERY_S = 86_400


def is_due(keys: Keys, resource: str) -> Steps[bool]:
    """Whether a memory was not repaired within a day. True at most once a day: the caller repairs it."""
    return (yield from as_bool("SET", keys.of(resource).lock("mend"), 1, "NX", "EX", _EVERY_S))


def mend(keys: Keys, resource: str, ttl_s: int) -> Steps[int]:
    """Read a whole memory and repair what `verify` would report; returns the number of repairs. `ttl_s` is its retention.

    Segments and sources without a lifetime get one, ids are stored where their messages are, and lost indexes of threads and
    sources and lost states of threads are derived from the observations.
    """
    of, threads = keys.of(resource), set((yield from threads_met(keys, resource)))
    named, held = {of.threads}, None
    for _ in range(2):  # observations name sources, and threads that may be in no index any more
        named |= {
            key for name in threads for key in (of.messages(name), of.known(name), of.thread(name), of.sources(name))
        }
        held = yield from resource_dump.read(keys, resource, named)
        noted = [own for part in held.parts.values() for own in _observations(held, part)]
        threads |= {own.thread_id for own in noted}
        named |= {key for own in noted for key in (of.source(own.id), of.segment(own.id))}
    if held is None or not held.settled:
        return 0
    mended = yield from _lifetimes(held, ttl_s)
    for part in held.parts.values():
        mended += yield from _threads(held, part, ttl_s)
    return mended + (yield from _ids(keys, held))


def _observations(held: ResourceDump, part: Part) -> list[Observation]:
    """A part's observations of messages; first those that generations replaced."""
    replaced = (members for (_, thread), members in sorted(held.reflected.items(), key=lambda each: each[0][0])
                if thread == part.scope.thread)  # fmt: skip
    every = [own for members in (*replaced, part.observations) for own in decoded(members, as_observation)]
    return [own for own in every if own.message_ids and not own.shared_from]


def _lifetimes(held: ResourceDump, ttl_s: int) -> Steps[int]:
    """Give segments of activated chunks the lifetime of their messages, and remove those whose messages expired."""
    mended = 0
    for name, (_, left) in held.segments.items():
        if left != _NO_LIFETIME or name in held.chunks:
            continue
        source = yield from as_int("PTTL", held.of.source(name))
        if source == _MISSING:
            yield from write(("UNLINK", held.of.segment(name)))
        else:
            keys = (held.of.segment(name), held.of.source(name))
            yield from write(*(("PEXPIRE", key, source if source > 0 else ttl_s * 1000, "NX") for key in keys))
        mended += 1
    return mended


def _threads(held: ResourceDump, part: Part, ttl_s: int) -> Steps[int]:
    """Write again what is lost of the threads that a part has observations of."""
    observed, unlisted = observed_threads(held), unlisted_sources(held)
    wrong = {thread for thread in observed if thread not in held.threads or thread not in held.states} | unlisted.keys()
    own = defaultdict[str, list[Observation]](list)
    for each in _observations(held, part):
        if each.thread_id in wrong:
            own[each.thread_id].append(each)
    if not own:
        return 0
    of, epoch = held.of, part.record.get(b"epoch", b"")
    names = [of.record(part.scope), of.threads]
    args: list[Any] = [epoch, ttl_s]
    for thread, some in own.items():
        names += [of.thread(thread), of.sources(thread)]
        args += _lost(thread, some, unlisted.get(thread, set()))
    done = yield from Verb("mend", names, args, says(b"mended"))
    return len(own) * done


def _lost(thread: str, observations: Sequence[Observation], unlisted: set[str]) -> Iterator[Any]:
    """The arguments of `mend` for one thread; the script writes only what is missing."""
    last = observations[-1]
    noted = next((own for own in reversed(observations) if own.task_state or own.no_task), last)
    sources = [(own.id, _activated(own)) for own in observations if own.id in unlisted]
    yield from (thread, max(own.to for own in observations), _activated(last))
    yield from (noted.task_state, noted.to, noted.source_range[-1] if noted.source_range else "", len(sources))
    for source in sources:
        yield from source


def _activated(own: Observation) -> int:
    return own.activated_at or own.created_at


def _ids(keys: Keys, held: ResourceDump) -> Steps[int]:
    """Store the ids of all sealed and observed messages, as sealed."""
    if COMPLETE not in held.tokens:
        return 0  # the sweep learns them all
    mended, unknown = 0, set[str]()
    records = {thread: held_records(found) for thread, found in held.known.items()}
    for key, thread, members in places(held):
        if not thread or thread.startswith("?") or thread in held.aliases:
            continue
        name, at = key.rpartition(":")[2], held.now
        if name in held.chunks:
            at = int(held.chunks[name].get(b"sealed_at", b"") or at)
        day, raw, args = day_of(at), key == held.of.messages(thread), list[Any]()
        for pair in members:
            message = message_of(pair, thread, held.resource)
            known = records.get(thread, {}).get(mark(message.id)) if message else None
            if message and known is None:
                unknown.add(thread)
            elif message and known and not raw and KnownId.of(known).day == 0:
                args += [record_of(message, day), pair[0]]
        if args:
            ms = 0 if name in held.chunks else at
            mended += yield from Verb("relearn", [held.of.known(thread), key], [day, ms, *args], number)
    for thread in sorted(unknown):
        scope = Scope(held.resource, thread if held.scope == "thread" else None)
        yield from learn(keys, scope, [thread], complete=False)
    return mended + len(unknown)
