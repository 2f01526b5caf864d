"""An index in parts: who knows another number is refused, learns it, and goes on; nothing is written elsewhere."""

import pytest
from scene import HAROLD, emptied, push
from stores import Store

from om_api.domain.errors import SettingsError, StoreError
from om_api.domain.values import Scope
from om_api.store.driver.partitions import Layout, PartedIndex, part_of, sure
from om_api.store.fleet.repartition import repartition
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keys import Keys


def again(store, partitions=None, usual=1):
    """Another process on the same store."""
    return Store(Keys(store.keys.prefix, partitions, usual), store.clock, store.client)


def names(store):
    """Every due scope, by the key that it stands in."""
    found = {}
    for key in store.client.scan_iter(f"{store.keys.prefix}:due:observe*"):
        if store.client.type(key) == b"zset" and b"queued" not in key:
            found |= {name.decode(): key.decode() for name in store.client.zrange(key, 0, -1)}
    return found


def test_a_resource_and_its_threads_stand_in_one_part_that_any_language_can_name():
    """By CRC-32 as zlib and gzip have it: is what other languages count by."""
    index = PartedIndex("x", Layout("p", 64))

    assert index.of("harold") == index.of("harold|thread-1") == f"x:64:{part_of('harold', 64)}"
    assert part_of("123456789", 2**32) == 0xCBF43926  # the check value of the standard
    assert len({part_of(f"agent-{n}", 64) for n in range(1_000)}) == 64


def test_a_process_that_asks_for_another_number_is_told_each_time_and_writes_nothing(store):
    store.run(repartition(store.keys, 4))
    before = sorted(store.client.scan_iter(f"{store.keys.prefix}*"))
    for wanted in (1, 16, 16):
        process, says = again(store, wanted), rf"partitions is {wanted} here, and 4 in the store: set partitions to 4"
        for _ in range(2):
            with pytest.raises(SettingsError, match=says):
                process.run(due.mark(process.keys.due_observe, [HAROLD]))
            with pytest.raises(SettingsError, match="leave it out, or move the store with om partitions"):
                push(process, 3)
    assert sorted(store.client.scan_iter(f"{store.keys.prefix}*")) == before


def test_who_knows_another_number_learns_it_at_the_first_refusal(store):
    """Time 0: a client marks in one part. Time 1: there are four. Time 2: it marks, pushes, looks, and is served by the four."""
    stale = again(store)
    push(stale, 1)
    store.run(repartition(store.keys, 4))
    push(stale, 1, thread="t-2")
    stale.run(due.mark(stale.keys.due_reflect, [HAROLD]))

    assert names(store) == {"harold": f"{store.keys.due_observe}:4:{part_of('harold', 4)}"}
    assert store.run(keyspace_scan.places(store.keys, [HAROLD]))[0].reflect_at
    assert store.client.zcard(store.keys.of("harold").messages("t-2")) == 1


def test_a_number_that_nobody_can_read_is_said(store):
    for said in ("many", '{"count":0}', '{"count":-4}', '{"count":1000000000}', '{"count":4,"former":[0]}'):
        store.client.set(store.keys.partitions, said, ex=60)
        process = again(store, usual=64)
        with pytest.raises(StoreError, match="cannot be read: write the number that there was anew with om partitions"):
            process.run(sure(process.keys.layout))


def test_hints_of_plain_writers_are_found_however_many_parts_there_are(store):
    store.run(repartition(store.keys, 4))
    store.client.zadd(f"{store.keys.prefix}:adopt", {"plain": 0})
    store.run(keyspace_scan.hint(store.keys, [store.keys.of(f"agent-{n}").messages("t") for n in range(9)]))

    taken = store.run(keyspace_scan.waiting_for_adoption(store.keys, 100))
    assert len(taken) == 10
    assert "plain" in taken
    assert store.run(keyspace_scan.waiting_for_adoption(store.keys, 100)) == []


def test_a_new_store_gets_as_many_as_are_wanted_and_one_of_before_has_one(store):
    """Catches a Cluster whose entries nobody finds any more since everybody looks for them in 64 parts."""
    for wanted, usual, count in ((None, 1, 1), (None, 64, 64), (16, 1, 16), (16, 64, 16)):
        process = again(emptied(store), wanted, usual)
        process.run(due.mark(process.keys.due_observe, [HAROLD]))
        later = again(store, None, usual)
        later.run(due.mark(later.keys.due_observe, [HAROLD]))
        assert names(store) == {"harold": process.keys.due_observe.part(part_of("harold", count), count)}
        assert later.keys.layout.now.count == count

    before = again(emptied(store))
    before.client.zadd(before.keys.due_observe, {"harold": 1})
    process = again(store, usual=64)
    process.run(due.mark(process.keys.due_observe, [Scope("albert")]))
    assert names(store) == dict.fromkeys(("harold", "albert"), f"{store.keys.prefix}:due:observe")


def test_a_client_of_before_there_were_parts_is_refused_and_a_foreign_key_is_no_closed_part(store):
    store.run(repartition(store.keys, 4))
    assert store.client.type(store.keys.due_observe) == b"string"
    with pytest.raises(Exception, match="WRONGTYPE"):
        store.client.zadd(store.keys.due_observe, {"harold": 1}, lt=True)

    process = again(emptied(store))
    process.client.set(process.keys.due_observe, "not ours", ex=60)
    with pytest.raises(StoreError, match="WRONGTYPE"):
        process.run(due.mark(process.keys.due_observe, [HAROLD]))
