"""RedisStore beside LangGraph's own InMemoryStore: the same random operations on both, and the same results.

Runs in the framework's environment: `python langgraph_store.py [seed]`; ends with 0, or with the first difference.
"""

import asyncio
import random
import sys
import time

from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from om_api import InvalidInputError, StoreError, load_settings
from om_api.integrations.langgraph_store import RedisStore

ROUNDS, ALL = 600, 10_000
LABELS = ["user", "users", "notes", "a}b", "{a}", "ä b*", "harold:1"]
KEYS = ["k-1", "k-2", "", "ключ", "a:b"]
FILTERS = [None, {"n": 3}, {"n": {"$gt": 3}}, {"n": {"$gte": 2, "$lt": 6}}, {"kind": {"$ne": "x"}}, {"deep": {"m": 1}}]
FILTERS += [{"tags": ["a", "b"]}, {"n": {"$lte": 4}, "kind": "x"}, {"kind": {"$eq": "y"}}, {"absent": None}]


def a_namespace(chance):
    return tuple(chance.choices(LABELS, k=chance.randint(1, 3)))


def a_value(chance):
    kind, deep = chance.choice("xyz"), {"m": chance.randint(0, 2), "list": [1, None, "é"]}
    return {"n": chance.randint(0, 9), "kind": kind, "deep": deep, "tags": chance.sample(["a", "b"], 2)}


def a_listing(chance):
    conditions = [
        MatchCondition(kind, tuple(chance.choices([*LABELS, "*"], k=chance.randint(1, 2))))
        for kind in chance.sample(["prefix", "suffix"], chance.randint(0, 2))
    ]
    depth = chance.choice([None, 1, 2])
    return ListNamespacesOp(tuple(conditions), depth, limit=chance.choice([1, 5, ALL]), offset=chance.choice([0, 0, 2]))


def an_operation(chance, places):
    kind = chance.choices(["put", "drop", "get", "search", "list"], weights=[8, 3, 4, 4, 2])[0]
    if kind == "put":
        return PutOp(*place_of(chance, places), a_value(chance))
    if kind == "drop":
        return PutOp(*place_of(chance, places), None)
    if kind == "get":
        return GetOp(*place_of(chance, places))
    if kind == "list":
        return a_listing(chance)
    prefix = chance.choice([(), *(namespace[: chance.randint(1, 3)] for namespace, _ in places)])
    return SearchOp(prefix, chance.choice(FILTERS), limit=ALL)


def place_of(chance, places):
    if chance.random() < 0.5 or not places:
        places.append((a_namespace(chance), chance.choice(KEYS)))
    return chance.choice(places)


def by_namespace(items):
    """A search's items: LangGraph's come namespace by namespace, ours in the order in which they were kept; within one alike."""
    found = {}
    for item in items:
        found.setdefault(item.namespace, []).append((item.key, item.value, item.score))
    return found


def plain(op, result):
    if isinstance(op, SearchOp):
        return by_namespace(result)
    return (result.namespace, result.key, result.value) if isinstance(op, GetOp) and result else result


def expected(memory, op):
    """What LangGraph's own answers, but for namespaces that were only asked for or emptied, which it lists."""
    for namespace in [namespace for namespace, items in memory._data.items() if not items]:
        del memory._data[namespace]
    return plain(op, memory.batch([op])[0])


def same_results(store, seed):
    chance, memory, places = random.Random(seed), InMemoryStore(), []
    for n in range(ROUNDS):
        ops = [an_operation(chance, places) for _ in range(chance.choice([1, 1, 1, 6]))]
        wanted = [expected(memory, op) for op in ops if not isinstance(op, PutOp)]
        memory.batch([op for op in ops if isinstance(op, PutOp)])
        found = asyncio.run(store.abatch(ops)) if n % 3 == 0 else store.batch(ops)
        assert [result for op, result in zip(ops, found, strict=True) if isinstance(op, PutOp) and result] == []
        reads = [plain(op, result) for op, result in zip(ops, found, strict=True) if not isinstance(op, PutOp)]
        assert reads == wanted, (seed, n, ops, reads, wanted)
    whole = store.search((), limit=ALL)
    assert len(whole) > 20
    assert [item.created_at for item in whole] == sorted(item.created_at for item in whole)
    for offset in range(0, len(whole), 7):
        assert store.search((), limit=7, offset=offset) == whole[offset : offset + 7]


def found_by_words(store):
    for key, text in (("fish", "Ada eats fish on Fridays"), ("cats", "Ada has two cats"), ("trip", "A trip to Oslo")):
        store.put(("words",), key, {"text": text, "source": "fish market"})
    hits = store.search(("words",), query="Who likes a cat?")
    assert [(hit.key, hit.score is not None) for hit in hits] == [("cats", True), ("fish", False), ("trip", False)]
    assert store.search(("words",), query="Who likes a cat?", limit=1, offset=1) == hits[1:2]
    store.put(("words",), "fish", {"text": "Ada eats fish", "source": "market"}, index=["text"])
    store.put(("words",), "cats", {"text": "Ada has cats", "source": "market"}, index=False)
    assert [hit.key for hit in store.search(("words",), query="market") if hit.score] == ["trip"]
    assert [hit.key for hit in store.search(("words",), query="ada fish") if hit.score] == ["fish", "trip"]
    fields = RedisStore(index={"fields": ["text"]})
    assert [hit.key for hit in fields.search(("words",), query="market") if hit.score] == []
    assert [hit.key for hit in fields.search(("words",), query="oslo") if hit.score] == ["trip"]
    fields.close()


def lives_for_its_time(store):
    store.put(("ttl",), "a", {}, ttl=0.005)
    store.put(("ttl",), "used", {}, ttl=0.01)
    store.put(("ttl",), "stays", {})
    for _ in range(4):
        time.sleep(0.2)
        assert store.get(("ttl",), "used") is not None
    assert [item.key for item in store.search(("ttl",), refresh_ttl=False)] == ["used", "stays"]
    time.sleep(0.8)
    assert [item.key for item in store.search(("ttl",))] == ["stays"]
    brief = RedisStore(ttl={"default_ttl": 0.01, "refresh_on_read": False})
    brief.put(("ttl", "brief"), "a", {})
    for _ in range(4):
        time.sleep(0.2)
        brief.get(("ttl", "brief"), "a")
    assert brief.get(("ttl", "brief"), "a") is None
    assert ("ttl", "brief") not in brief.list_namespaces(prefix=("ttl",))
    brief.close()


def refuses(store):
    nowhere = RedisStore(load_settings(None, {"OM_REDIS_URL": "redis://127.0.0.1:1/0"}))
    bad = [
        (InvalidNamespaceError, lambda: store.put((), "a", {})),
        (InvalidNamespaceError, lambda: store.put(("a.b",), "a", {})),
        (InvalidNamespaceError, lambda: store.batch([PutOp((), "a", {})])),
        (InvalidNamespaceError, lambda: store.batch([PutOp(("good",), "a", {}), GetOp(("a.b",), "a")])),
        (InvalidNamespaceError, lambda: store.search(("",))),
        (InvalidInputError, lambda: store.put(("good",), "a", {"a": object()})),
        (InvalidInputError, lambda: store.put(("good",), "a", {}, ttl=0)),
        (InvalidInputError, lambda: store.put(("good",), "a", {}, index=[5])),
        (InvalidInputError, lambda: store.search(("good",), filter={"a": {"$in": [1]}})),
        (StoreError, lambda: nowhere.get(("a",), "k")),
    ]
    for error, ask in bad:
        try:
            ask()
            raise AssertionError(f"no {error}")
        except error:
            pass
    assert store.search(("good",)) == []


if __name__ == "__main__":
    own = RedisStore()
    found_by_words(own)
    lives_for_its_time(own)
    refuses(own)
    for label in ("words", "ttl"):
        for item in own.search((label,), limit=ALL):
            own.delete(item.namespace, item.key)
    same_results(own, int(sys.argv[1]) if sys.argv[1:] else 0)
    own.close()
