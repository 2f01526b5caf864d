"""Which memories have a reflection that waits for its review: one index for all, by when it counts by itself.

What waits is in the memory; the index only says where to look. It is written first, and whoever lists checks what it says: a
crash leaves nothing in it that anybody sees. The sweep takes out what is left of such.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, as_bool, as_fields, as_int, as_pairs, says, write
from om_api.store.driver.steps import Batch, Steps, Verb, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory.keys import Keys
from om_api.store.reviews.drafts import Review, WaitingReview

MOST = 10_000  # of which a list tells
_FIELDS = ("proposed", "proposed_at", "proposed_until")


def expect(keys: Keys, scopes: dict[Scope, int]) -> Steps[None]:
    """Have it known that memories may have something to review, and until when (server ms)."""
    if scopes:
        yield from write(("ZADD", keys.reviews, *(word for scope, at in scopes.items() for word in (at, str(scope)))))


def decided(keys: Keys, scope: Scope, expires_at: int) -> Steps[None]:
    """Forget one again, unless the next one waits already."""
    yield from Verb("done", [keys.reviews], [str(scope), expires_at, ""], says(b"rest"))


def count(keys: Keys) -> Steps[int]:
    """About how many there are, at most."""
    return (yield from as_int("ZCARD", keys.reviews))


def waiting(keys: Keys, resources: Collection[str] | None = None) -> Steps[list[WaitingReview]]:
    """What waits, of all or of some resources, what counts soonest first; of the first 10,000 that the index names."""
    pairs = yield from as_pairs("ZRANGE", keys.reviews, 0, MOST - 1, "WITHSCORES")
    named = [scope for scope in map(_scope, pairs) if scope and (resources is None or scope.resource in resources)]
    return sorted((yield from of_scopes(keys, named)).values(), key=lambda one: one.expires_at)


def of_scopes(keys: Keys, scopes: Sequence[Scope]) -> Steps[dict[Scope, WaitingReview]]:
    """What waits in each of some memories."""
    found = yield from of_many(lambda scope: _review(keys, scope), scopes)
    return {
        scope: WaitingReview(resource=scope.resource, thread=scope.thread, **review._asdict())
        for scope, review in found.items()
        if review.waits
    }


def mend(keys: Keys, now: int, n: int) -> Steps[None]:
    """Take out what should have been decided by now and is not there, of the n that should be for longest."""
    pairs = yield from as_pairs("ZRANGE", keys.reviews, "-inf", now, "BYSCORE", "LIMIT", 0, n, "WITHSCORES")
    there = yield from of_scopes(keys, [scope for scope in map(_scope, pairs) if scope])
    for name, at in pairs:
        if _scope((name, at)) not in there:
            yield from Verb("done", [keys.reviews], [name, f"{at:.17g}", ""], says(b"rest"))


def _scope(pair: Pair) -> Scope | None:
    with suppress(InvalidInputError, UnicodeDecodeError):
        return Scope.parse(pair[0].decode())
    return None


def _review(keys: Keys, scope: Scope) -> Batch[Review]:
    """What is said of the draft of a memory; nothing where there is none."""
    of = keys.of(scope.resource)
    read = batch(as_bool("EXISTS", of.draft(scope)), as_fields("HMGET", of.record(scope), *_FIELDS), atomic=False)
    return read.then(lambda found: _read(found[1]) if found[0] else Review())


def _read(said: Sequence[bytes | None]) -> Review:
    proposed, *times = ((each or b"").decode() for each in said)
    return Review(proposed, *(int(at or 0) for at in times))
