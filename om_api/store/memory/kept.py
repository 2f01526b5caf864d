"""The messages that are kept of a thread: raw, sealed, and behind observations as far back as is asked for."""

from collections.abc import Callable, Sequence

from om_api.domain.errors import StoreError
from om_api.domain.messages import Message
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, as_bytes, as_list, as_pairs
from om_api.store.driver.steps import Batch, Steps, batch, by_name
from om_api.store.memory.decoding import messages_of
from om_api.store.memory.keys import Keys

_AT_ONCE = 20  # sources read in one round trip
_TRIES = 5


def kept(keys: Keys, scope: Scope, thread: str, enough: Callable[[Sequence[Message]], bool]) -> Steps[list[Message]]:
    """What is kept of a thread, oldest first; sources are read, the newest first, until it is `enough`."""
    of = keys.of(scope.resource)
    found = yield from living(keys, scope, thread)
    names = yield from as_list("ZRANGE", of.sources(thread), 0, -1, "REV")
    while names and not enough(found):
        some, names = names[:_AT_ONCE], names[_AT_ONCE:]
        sets = yield from by_name(some, lambda name: _members(of.source(name.decode())), atomic=False)
        pairs = [pair for members in sets.values() for pair in members]
        found = _ordered(messages_of(pairs, thread, scope.resource) + found)
    return found


def living(keys: Keys, scope: Scope, thread: str, newest: int = 0) -> Steps[list[Message]]:
    """What is raw or sealed, or the `newest` of it; read again when a chunk went between two looks.

    One that is empty twice is a damaged one.
    """
    of, before = keys.of(scope.resource), set[str]()
    for _ in range(_TRIES):
        raw, chunks = yield from batch(
            _members(of.messages(thread), newest), as_list("ZRANGE", of.chunks(scope), 0, -1)
        )
        names = [chunk.decode() for chunk in chunks]
        sets = yield from by_name(
            names, lambda name: batch(as_bytes("HGET", of.chunk(name), "thread"), _members(of.sealed(name), newest))
        )
        empty = {name for name, (_, members) in sets.items() if not members}
        if empty <= before:
            sealed = (pair for own, members in sets.values() if own == thread.encode() for pair in members)
            return _ordered(messages_of([*raw, *sealed], thread, scope.resource))[-newest:]
        before = empty
    raise StoreError(f"{scope} changes faster than it can be read: repeat.", stored=False)


def _members(key: str, newest: int = 0) -> Batch[list[Pair]]:
    return as_pairs("ZRANGE", key, -newest, -1, "WITHSCORES")


def _ordered(messages: list[Message]) -> list[Message]:
    unique = {message.id: message for message in messages}
    return sorted(unique.values(), key=lambda message: message.at)
