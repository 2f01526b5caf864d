"""Items of namespaces: putting, dropping, using and reading them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from om_api.store.driver.replies import as_hash, as_pairs, number, server_ms
from om_api.store.driver.steps import Batch, Steps, Verb, batch, each, if_permitted
from om_api.store.items.item_records import ItemPut, StoredItem, item_of
from om_api.store.items.namespaces import AT_ONCE, Listed, Namespace, let_go, name_of, namespace_of, tell, under
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

_Record = tuple[bytes | None, float | None]  # and until when (ms) it lives; None: it stays


def put_items(keys: Keys, clock: ServerClock, puts: Sequence[ItemPut]) -> Steps[None]:
    """Put and drop items, all of a namespace in one step; safe to repeat. Raises InvalidInputError for an empty namespace."""
    changes: dict[str, list[Any]] = {}
    for put in puts:
        change = ("drop", _bytes(put.key), b"", 0)
        if put.body is not None:
            change = ("put", _bytes(put.key), put.body, put.ttl_ms)
        changes.setdefault(name_of(put.namespace), []).extend(change)
    yield from tell(keys, clock, dict.fromkeys(put.namespace for put in puts if put.body is not None))
    for name, words in changes.items():
        clock.seen((yield from _keep(keys, name, words)) // 1000)


def use_items(keys: Keys, items: Iterable[StoredItem]) -> Steps[None]:
    """Have the lifetimes of items begin anew; those of a reader, who may not write, go on."""
    used: dict[str, list[Any]] = {}
    for item in items:
        if item.ttl_ms:
            used.setdefault(name_of(item.namespace), []).extend(("touch", _bytes(item.key), b"", 0))
    for name, words in used.items():
        yield from if_permitted(_keep(keys, name, words), 0)


def get_items(keys: Keys, wanted: Sequence[tuple[Namespace, str]]) -> Steps[list[StoredItem | None]]:
    """The items of some keys, None for each that is not kept: one round trip."""
    if not wanted:
        return []
    asked = each(_record(keys, name_of(namespace), key) for namespace, key in wanted)
    now, found = yield from batch(server_ms(), asked)
    return [_living(*place, *record, now) for place, record in zip(wanted, found, strict=True)]


def items_under(keys: Keys, prefix: Namespace) -> Steps[list[StoredItem]]:
    """All items of the namespaces that begin with some labels, as they were kept first, the oldest first."""
    listed, now = (yield from under(keys, prefix)), 0
    items: list[StoredItem] = []
    for start in range(0, len(listed), AT_ONCE):
        some = listed[start : start + AT_ONCE]
        now, found = yield from batch(server_ms(), each(_records(keys, one) for one in some))
        for one, (records, lives) in zip(some, found, strict=True):
            items += _all_living(one.name, records, dict(lives), now)
    yield from let_go(keys, listed, {name_of(item.namespace) for item in items}, now)
    return sorted(items, key=lambda item: (item.created, item.namespace, item.key))


def _keep(keys: Keys, name: str, words: Sequence[Any]) -> Verb[int]:
    return Verb("keep_items", [keys.items(name), keys.expiring(name)], words, number)


def _record(keys: Keys, name: str, key: str) -> Batch[_Record]:
    commands = [("HGET", keys.items(name), _bytes(key)), ("ZSCORE", keys.expiring(name), _bytes(key))]
    return Batch(commands, _read)


def _read(replies: Iterator[Any]) -> _Record:
    record, until = next(replies), next(replies)
    return record, None if until is None else float(until)


def _records(keys: Keys, listed: Listed) -> Batch[tuple[dict[bytes, bytes], list[tuple[bytes, float]]]]:
    until = as_pairs("ZRANGE", keys.expiring(listed.name), 0, -1, "WITHSCORES")
    return batch(as_hash("HGETALL", keys.items(listed.name)), until)


def _all_living(name: str, records: dict[bytes, bytes], until: dict[bytes, float], now: int) -> Iterator[StoredItem]:
    namespace = namespace_of(name)
    for key, record in records.items():
        item = _living(namespace, key.decode("utf-8", "surrogatepass"), record, until.get(key), now)
        if item:
            yield item


def _living(namespace: Namespace, key: str, record: bytes | None, until: float | None, now: int) -> StoredItem | None:
    if record is None or (until is not None and until <= now):
        return None
    return item_of(namespace, key, record)


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
