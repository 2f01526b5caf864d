"""Moving the indexes into another number of parts, while everybody goes on.

Time 0: the new parts take entries. Time 1: the number is written; who reads it goes by it. Time 2: a client that does not
know it marks a scope in an old part; it is moved with the rest. Time 3: an old part is empty, and closed in the same step; from
now on that client is refused, and learns the number. Time 4: whoever moves dies; whoever comes next goes on where it stopped.
What is only added up, the counters, is not moved: it is read from where it stands. So are hints, which plain writers put
wherever they like.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.store.driver.partitions import MOST, PartedIndex, Partitions, UnreadableError, learn
from om_api.store.driver.replies import Pair, as_bytes, as_pairs, number, says, write
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory.due import LEASE_MS
from om_api.store.memory.keys import Keys, queued

_SLICE = 500
_CLOSED_S = 30 * 86_400  # of parts among many; the only one is closed for good, for clients of before there were any


def repartition(keys: Keys, count: int) -> Steps[int]:
    """Have `count` parts from now on; returns how many entries were moved. Safe to repeat, and to be overtaken.

    Raises InvalidInputError for a number that cannot be, or where somebody else moves into another one.
    """
    if not 1 <= count <= MOST:
        raise InvalidInputError(f"{count} partitions cannot be; permitted: 1 to {MOST:,}")
    now = yield from _known(keys, count)
    if now.moving and now.count != count:
        raise InvalidInputError(
            f"the store is on its way to {now.count} partitions: repeat om partitions {now.count} first"
        )
    if now.count != count:
        yield from _reopen(keys, count)
        former = tuple(n for n in dict.fromkeys((*now.former, now.count)) if n != count)
        if not (yield from _write(keys, Partitions(count=count, former=former, moving=True))):
            raise InvalidInputError("somebody else moves partitions at the same time: repeat when that is done")
    return (yield from go_on(keys))


def _known(keys: Keys, count: int) -> Steps[Partitions]:
    """How many parts there are; where that cannot be read, `count`, which is written anew: whoever asks knows what there was."""
    try:
        return (yield from learn(keys.layout))
    except UnreadableError:
        keys.layout.said = (yield from as_bytes("GET", keys.partitions)) or b""
        former = (1,) if count > 1 else ()
        yield from _write(keys, Partitions(count=count, former=former, moving=count > 1))
        return keys.layout.now


def go_on(keys: Keys) -> Steps[int]:
    """End a move that was begun, if one was; how many entries were moved. The only part of before is closed in any case.

    Time 0: somebody moves back into one part, and opens it. Time 1: who does so dies before the number is written. Time 2: a
    new client, which believes in one part until the server refuses, marks a scope there: nobody would look.

    Time 0: somebody opens the parts that he moves to. Time 1: a sweep, which knows nothing of it yet, closes the one part of
    before again. Time 2: the number is written; from now on nobody closes what it names, so it is opened once more here.
    """
    now = yield from learn(keys.layout)
    olds = [old for old in (now.former if now.moving else (1,)) if old != now.count]
    if now.moving or now.count == 1:
        yield from _reopen(keys, now.count)
    try:
        entries = yield from _empty_all(keys, olds)
    except StoreError:
        yield from _open_again(keys, olds)
        raise
    if now.moving:
        yield from _write(keys, msgspec.structs.replace(now, moving=False))  # unless somebody did in the meantime
    yield from _open_again(keys, olds)
    return entries


def _empty_all(keys: Keys, olds: Sequence[int]) -> Steps[int]:
    entries = 0
    for index in keys.layout.moved:
        for old in olds:
            for part in index.parts(old):
                entries += yield from _empty(index, part, 0 if old == 1 else _CLOSED_S)
    return entries


def _open_again(keys: Keys, olds: Sequence[int]) -> Steps[None]:
    """Open what was closed here while somebody else moved there."""
    if olds and (yield from learn(keys.layout)).count in olds:
        yield from _reopen(keys, keys.layout.now.count)


def _reopen(keys: Keys, count: int) -> Steps[None]:
    for part in (part for index in keys.layout.moved for part in index.parts(count)):
        yield from Verb("reopen", [part], [], number)


def _write(keys: Keys, becomes: Partitions) -> Steps[bool]:
    words = [keys.layout.said, msgspec.json.encode(becomes)]
    written = yield from Verb("relayout", [keys.partitions], words, says(b"written"))
    yield from learn(keys.layout)
    return written


def _empty(index: PartedIndex, part: str, kept_s: int) -> Steps[int]:
    """Move what stands in a part, and close it; how many entries that was. Places of tasks that wait go before their scopes.

    Time 0: a place is put. Time 1: who knows only the old part begins that task: no place is left there, nor must one be here.
    Who ends it too within that moment leaves one, which is lost ten leases later.
    """
    keys, put, entries = [part, queued(part)], set[bytes](), 0
    while (yield from Verb("vacate", keys, [kept_s], number)):
        pairs = yield from as_pairs("ZRANGE", part, 0, _SLICE - 1, "WITHSCORES")
        places = dict((yield from as_pairs("ZRANGE", queued(part), 0, -1, "WITHSCORES")))
        waiting = {name: places[name] for name, _ in pairs if name in places}
        yield from _forget(index, [name for name, _ in pairs if name in put - waiting.keys()])
        put |= waiting.keys()
        yield from _put(index, [*waiting.items()], queued)
        yield from _put(index, pairs, str)
        words = [
            word for name, at in pairs for word in (name, exact(at), exact(waiting[name]) if name in waiting else "")
        ]
        yield from Verb("vacate", keys, [kept_s, *words], number)
        entries += len(pairs)
    return entries


def _forget(index: PartedIndex, begun: Iterable[bytes]) -> Steps[None]:
    for part, names in index.by_part(name.decode("utf-8", "surrogateescape") for name in begun).items():
        yield from write(("ZREM", queued(part), *(name.encode("utf-8", "surrogateescape") for name in names)))


def _put(index: PartedIndex, pairs: Sequence[Pair], key_of: Callable[[str], str]) -> Steps[None]:
    """Entries where they belong now, no later than they were or than they are there."""
    scores = {member.decode("utf-8", "surrogateescape"): exact(score) for member, score in pairs}
    for part, names in index.by_part(scores).items():
        words = [word for name in names for word in (scores[name], name.encode("utf-8", "surrogateescape"))]
        yield from write(("ZADD", key_of(part), "LT", *words))
        if key_of is queued:
            yield from write(("PEXPIRE", queued(part), 20 * LEASE_MS))
