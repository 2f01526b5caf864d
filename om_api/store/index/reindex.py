"""Making the index of what has none: what an older version observed, what was imported, what an erasure left."""

from collections.abc import Iterable, Mapping
from typing import Any

from om_api.domain.values import Scope
from om_api.recall.analysis import VERSION
from om_api.recall.segment import encode, is_current
from om_api.store.driver.replies import as_bool, as_bytes, as_list, says
from om_api.store.driver.steps import Steps, Verb, batch, by_name
from om_api.store.driver.tolerant_read import of_many
from om_api.store.index.distant import archived
from om_api.store.index.indexing import findable
from om_api.store.index.segments import Members, members
from om_api.store.memory.keys import Keys
from om_api.store.memory.reading import own_calls

_HEAD = 16  # bytes of a segment, among them its version
_AT_ONCE = 20  # chunks in one step: about 120,000 tokens


def reindex(keys: Keys, scope: Scope, epoch: str, threads: Iterable[str], language: str, most: int) -> Steps[int]:
    """Index what of a scope lacks it, up to `most` chunks, and note in its record when nothing does; how many there were.

    What is not ready yet gets its index with its observation.
    """
    of = keys.of(scope.resource)
    lacking = yield from _lacking(keys, scope, list(threads))
    some = dict(list(lacking.items())[:most])
    done = len(some) == len(lacking)
    names = list(some)
    for start in range(0, max(len(names), 1), _AT_ONCE):
        part = {name: some[name] for name in names[start : start + _AT_ONCE]}
        last = done and start + _AT_ONCE >= len(names)
        held = (yield from members(of, part)) if part else {}
        kept = {name: each for name, each in held.items() if isinstance(each, Members)}
        yield from _index(keys, scope, epoch, kept, language, last=last)
    return len(some)


def _lacking(keys: Keys, scope: Scope, threads: list[str]) -> Steps[dict[str, str]]:
    """Ready chunks and observations of which the messages are kept, and whose segment is none of this version."""
    of = keys.of(scope.resource)
    chunks, sources = yield from batch(
        as_list("ZRANGE", of.chunks(scope), 0, -1),
        by_name(threads, lambda name: as_list("ZRANGE", of.sources(name), 0, -1)),
    )
    owners = {name.decode(): "" for name in chunks} | {
        name.decode(): thread for thread, names in sources.items() for name in names
    }
    for name in (yield from archived(keys, scope.resource, owners)):
        del owners[name]  # has an index there, or is read as messages
    heads = yield from of_many(lambda name: as_bytes("GETRANGE", of.segment(name), 0, _HEAD - 1), list(owners))
    found = yield from by_name(
        owners,
        lambda name: batch(
            as_bytes("HGET", of.chunk(name), "state"),
            as_bool("EXISTS", of.sealed(name), of.source(name)),
        ),
        atomic=False,
    )
    return {
        name: owners[name]
        for name, (state, kept) in found.items()
        if kept and state != b"sealed" and not is_current(heads.get(name) or b"")
    }


def _index(
    keys: Keys, scope: Scope, epoch: str, kept: Mapping[str, Members], language: str, *, last: bool
) -> Steps[bool]:
    of = keys.of(scope.resource)
    names, args = [of.record(scope)], list[Any]([epoch, str(VERSION) if last else ""])
    own = (yield from own_calls(keys, scope.resource, {held.thread for held in kept.values()})) if kept else {}
    for name, held in kept.items():
        names += [of.segment(name), of.chunk(name), of.sealed(name), of.source(name)]
        messages = findable(held.pairs, held.thread, scope.resource, own[held.thread])
        args += [len(held.pairs), encode(held.thread, messages, language)]
    return (yield from Verb("index", names, args, says(b"indexed")))
