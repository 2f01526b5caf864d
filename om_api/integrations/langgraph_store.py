"""LangGraph's long-term store on any Redis or Valkey, without modules: `create_agent(…, store=RedisStore())`."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from om_api.client.redacting import Redacting
from om_api.integrations.framework_memory import store_errors_in_log
from om_api.integrations.importing import importing
from om_api.recall.ranked_texts import ranked
from om_api.settings import Settings, load_settings
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.steps import Steps
from om_api.store.items.item_filter import check_filter, matches
from om_api.store.items.item_records import Fields, ItemPut, StoredItem, body_of, ttl_ms_of
from om_api.store.items.keeping_items import get_items, items_under, put_items, use_items
from om_api.store.items.namespaces import Namespace, inhabited, namespace_of, under
from om_api.store.memory.keys import keys_of
from om_api.store.memory.push import ServerClock

with importing("langgraph", "langchain"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RedisStore(BaseStore):
    """Keeps items by namespace and key in the store that settings name; `client` is one of redis-py's to use instead.

    `query` finds items by their words, of all fields or of those that `index` names; nothing is embedded. Thread-safe; the
    asyncio methods run in a thread, whatever the loop. Raises StoreError while the store is away, InvalidNamespaceError for a
    namespace and InvalidInputError for a value, a filter or a lifetime that cannot be.
    """

    supports_ttl = True

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        client: Any = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        settings = settings or load_settings(warn_unknown=True)
        self._connection = Connection(client if client is not None else open_client(settings.redis_url))
        self._owns = client is None
        self._keys, self._clock = keys_of(settings, cluster=self._connection.cluster), ServerClock()
        self._redacting = Redacting(settings, self._keys)
        self._fields, self.ttl_config = (index or {}).get("fields"), ttl

    @store_errors_in_log()
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer operations in their order. What they read is what was kept before; of several puts of a key the last counts."""
        given = list(ops)
        return self._connection.run(self._answered(given, list(self._puts(given))))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in asyncio."""
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Give the connections back, unless the client is somebody else's."""
        if self._owns:
            self._connection.close()

    def _puts(self, ops: Sequence[Op]) -> Iterator[ItemPut]:
        """What is to be kept; raises for what cannot be, before anything is."""
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, GetOp | PutOp) and not op.namespace:
                raise InvalidNamespaceError("a namespace cannot be empty: name at least one label")
            if isinstance(op, SearchOp):
                check_filter(op.filter)
        last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        for op in last.values():
            if op.value is None:
                yield ItemPut(op.namespace, op.key, None)
            else:
                value = self._redacting.item(op.namespace[0], op.value)
                yield ItemPut(op.namespace, op.key, body_of(value, op.index), ttl_ms_of(op.ttl))

    def _answered(self, ops: Sequence[Op], puts: Sequence[ItemPut]) -> Steps[list[Result]]:
        got = iter((yield from get_items(self._keys, [(op.namespace, op.key) for op in ops if isinstance(op, GetOp)])))
        results, used = list[Result](), list[StoredItem]()
        for op in ops:
            found: Sequence[StoredItem] = ()
            if isinstance(op, GetOp):
                item = next(got)
                found = [item] if item else []
                results.append(Item(**_told(item)) if item else None)
            elif isinstance(op, SearchOp):
                hits = self._ordered(op, (yield from items_under(self._keys, op.namespace_prefix)))
                hits = hits[op.offset : op.offset + op.limit]
                found = [item for item, _ in hits]
                results.append([SearchItem(**_told(item), score=score) for item, score in hits])
            else:
                results.append((yield from self._namespaces(op)) if isinstance(op, ListNamespacesOp) else None)
            used += found if getattr(op, "refresh_ttl", False) else ()
        yield from use_items(self._keys, used)
        yield from put_items(self._keys, self._clock, puts)
        return results

    def _ordered(self, op: SearchOp, items: Sequence[StoredItem]) -> list[tuple[StoredItem, float | None]]:
        """The items that a filter leaves, the oldest first; those with words of the query before them, best first."""
        kept = [item for item in items if matches(item.value, op.filter)]
        best = ranked(op.query, [self._text(item) for item in kept]) if op.query else []
        scored = dict(best)
        return [(kept[n], score) for n, score in best] + [(i, None) for n, i in enumerate(kept) if n not in scored]

    def _text(self, item: StoredItem) -> str:
        fields: Fields = self._fields if item.fields is None else item.fields
        if isinstance(fields, bool) or fields is None or "$" in fields:
            return "" if fields is False else item.text
        return "\n".join(text for path in fields for text in get_text_at_path(item.value, tokenize_path(path)))

    def _namespaces(self, op: ListNamespacesOp) -> Steps[list[Namespace]]:
        conditions = op.match_conditions or ()
        paths = [each.path[:1] for each in conditions if each.match_type == "prefix" and "*" not in each.path[:1]]
        listed = yield from under(self._keys, paths[0] if paths else ())
        listed = [one for one in listed if all(_fits(namespace_of(one.name), each) for each in conditions)]
        names = yield from inhabited(self._keys, listed)
        found = sorted({namespace_of(name)[: op.max_depth] for name in names})
        return found[op.offset : op.offset + op.limit]


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    size = len(condition.path)
    part = namespace[:size] if condition.match_type == "prefix" else namespace[max(len(namespace) - size, 0) :]
    return len(part) == size and all(asked in ("*", label) for asked, label in zip(condition.path, part, strict=True))


def _told(item: StoredItem) -> dict[str, Any]:
    created, updated = (_EPOCH + timedelta(microseconds=us) for us in (item.created, item.updated))
    place = {"namespace": item.namespace, "key": item.key}
    return {**place, "value": item.value, "created_at": created, "updated_at": updated}
