"""What a memory's owner asks of the workers: to observe or reflect now, or to stop; it stands in the memory until it is done."""

from collections.abc import Mapping, Sequence

from om_api.domain.values import Scope, new_id
from om_api.store.driver.partitions import asked
from om_api.store.driver.replies import as_bool, as_hash, server_ms, write
from om_api.store.driver.steps import Steps, if_permitted
from om_api.store.memory.keys import Keys


def force(keys: Keys, scope: Scope, field: str) -> Steps[str]:
    """Ask the workers for something; returns the request's id, which stands in the record until it is answered."""
    request = new_id()
    yield from write(("HSET", keys.of(scope.resource).record(scope), field, request))
    return request


def requests(keys: Keys, scope: Scope) -> Steps[dict[str, bytes]]:
    """The forced observations that a scope's record holds: field -> request."""
    record = yield from as_hash("HGETALL", keys.of(scope.resource).record(scope))
    found = {name.decode(): value for name, value in record.items()}
    return {name: value for name, value in found.items() if name == "force" or name.startswith("force:")}


def hand_on(keys: Keys, asked: Scope, waiting: Mapping[str, bytes], meant: Sequence[Scope]) -> Steps[None]:
    """Hand requests that stood in a record of one scope to the records that are meant now."""
    of = keys.of(asked.resource)
    for field, request in waiting.items():
        thread = field.partition(":")[2] or asked.thread
        for scope in meant:
            if scope.thread is None or thread in {None, scope.thread}:
                name = f"force:{thread}" if scope.thread is None and thread else "force"
                yield from write(("HSET", of.record(scope), name, request.partition(b"@")[0]))
        yield from write(("HDEL", of.record(asked), field))


def _listed(keys: Keys, resource: str, now: int) -> Steps[None]:
    index = keys.resources
    yield from asked(index.layout, lambda: write(("ZADD", index.of(resource), "NX", now, resource)))


def pause(keys: Keys, resource: str, *, on: bool) -> Steps[bool]:
    """Stop (or let go on) everything that calls a model for a resource; False if that was so before.

    Messages are kept, contexts served.
    """
    tokens = keys.of(resource).tokens
    words = ("HSET", tokens, "*paused", 1) if on else ("HDEL", tokens, "*paused")
    changed = yield from as_bool(*words).writing()
    if on:  # of which nothing else may be kept: the sweep lets it go in time, if it is listed
        yield from if_permitted(_listed(keys, resource, (yield from server_ms())), None)
    return changed
