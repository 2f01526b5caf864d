"""Namespaces: how they are written in keys, which of them there are, and letting those go in which nothing is kept."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, unquote

from om_api.domain.errors import InvalidInputError
from om_api.store.driver.replies import as_int, as_pairs, number, server_ms, write
from om_api.store.driver.steps import Batch, Steps, Verb, batch, by_name, each, exact, if_permitted
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

AT_ONCE = 200  # namespaces that are asked for in one round trip
_FORGOTTEN_MS = 86_400_000  # nobody writes for so long between telling the index and keeping an item
Namespace: TypeAlias = tuple[str, ...]


class Listed(NamedTuple):
    """A namespace as its index has it: how it is written, and the time (ms) at which something was last put there."""

    name: str
    at: float


def name_of(namespace: Namespace) -> str:
    """A namespace as a part of keys, /harold/notes: no two are equal, none closes a brace, and no id of a resource looks like it.

    Raises InvalidInputError for one without labels, or with a label that is empty.
    """
    if not namespace or not all(namespace):
        raise InvalidInputError(f"a namespace needs labels, and letters in each: got {namespace!r}")
    return "".join(f"/{quote(label, safe=':@+', errors='surrogatepass')}" for label in namespace)


def namespace_of(name: str) -> Namespace:
    """The namespace that is written so."""
    return tuple(unquote(label, errors="surrogatepass") for label in name[1:].split("/"))


def tell(keys: Keys, clock: ServerClock, namespaces: Iterable[Namespace]) -> Steps[None]:
    """Have the indexes know namespaces, before anything is kept there."""
    roots: dict[str, list[str]] = {}
    for namespace in namespaces:
        roots.setdefault(name_of(namespace[:1]), []).append(name_of(namespace))
    at = clock.ms()
    told = [("ZADD", keys.namespaces(root), "GT", *_scored(at, names)) for root, names in roots.items()]
    if told:
        yield from write(("ZADD", keys.namespace_roots, "GT", *_scored(at, roots)), *told)


def under(keys: Keys, prefix: Namespace) -> Steps[list[Listed]]:
    """The namespaces that begin with some labels, by name; of those in which nothing is kept any more, too."""
    if prefix:
        roots = [name_of(prefix[:1])]
    else:
        found = yield from as_pairs("ZRANGE", keys.namespace_roots, 0, -1, "WITHSCORES")
        roots = [root.decode() for root, _ in found]
    listed: list[Listed] = []
    for start in range(0, len(roots), AT_ONCE):
        some = roots[start : start + AT_ONCE]
        for members in (yield from each(as_pairs("ZRANGE", keys.namespaces(r), 0, -1, "WITHSCORES") for r in some)):
            listed += [Listed(name.decode(), at) for name, at in members]
    whole = name_of(prefix) if prefix else ""
    return sorted(each for each in listed if not prefix or each.name == whole or each.name.startswith(f"{whole}/"))


def inhabited(keys: Keys, listed: Sequence[Listed]) -> Steps[list[str]]:
    """Those of some namespaces in which items live, in their order; the others are let go."""
    now = yield from server_ms()
    found: list[str] = []
    for start in range(0, len(listed), AT_ONCE):
        some = [each.name for each in listed[start : start + AT_ONCE]]
        counts = yield from by_name(some, lambda name: _counts(keys, name, now))
        found += [name for name, (kept, expired) in counts.items() if kept > expired]
    yield from let_go(keys, listed, found, now)
    return found


def _counts(keys: Keys, name: str, now: int) -> Batch[tuple[int, int]]:
    return batch(as_int("HLEN", keys.items(name)), as_int("ZCOUNT", keys.expiring(name), "-inf", now))


def let_go(keys: Keys, listed: Iterable[Listed], inhabited: Collection[str], now: int) -> Steps[None]:
    """Take namespaces off their index in which nothing lives, and nothing was put for a day; a reader's user takes off none.

    Time 0: somebody sees that nothing is kept there. Time 1: another one tells the index of it again, to put something there.
    Time 2: the first takes it off, unless its time is another one by now. A day is how long time 1 may take to be followed by
    the item.
    """
    kept, gone = {*inhabited}, dict[str, list[str]]()
    for name, at in listed:
        if name not in kept and at < now - _FORGOTTEN_MS:
            gone.setdefault(f"/{name[1:].partition('/')[0]}", []).extend((name, exact(at)))
    for root, named in gone.items():
        yield from if_permitted(Verb("drop_names", [keys.namespaces(root)], named, number), 0)
    yield from if_permitted(_let_roots_go(keys, [*gone], now), None)


def _let_roots_go(keys: Keys, roots: Sequence[str], now: int) -> Steps[None]:
    """The same of first labels with which no namespace begins any more."""
    if not roots:
        return
    left = yield from by_name(roots, lambda root: as_int("ZCARD", keys.namespaces(root)))
    known = yield from as_pairs("ZRANGE", keys.namespace_roots, "-inf", now - _FORGOTTEN_MS, "BYSCORE", "WITHSCORES")
    gone = [word for root, at in known if left.get(root.decode()) == 0 for word in (root, exact(at))]
    if gone:
        yield from Verb("drop_names", [keys.namespace_roots], gone, number)


def _scored(at: int, names: Iterable[str]) -> list[str | int]:
    return [word for name in names for word in (at, name)]
