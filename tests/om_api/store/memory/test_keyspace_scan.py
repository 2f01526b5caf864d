"""What no index names is found, in bounded slices, and what is not ours is left alone."""

from scene import AT, member, push, write_plainly

from om_api.store.memory import keyspace_scan


def messages(store, thread, resource="harold"):
    return store.keys.of(resource).messages(thread)


def test_hints_are_taken_once_and_those_that_are_put_back_come_again(store):
    for n in range(3):
        write_plainly(store, member(n, f"t{n}"), thread=f"t{n}")
    taken = store.run(keyspace_scan.waiting_for_adoption(store.keys, 2))
    rest = store.run(keyspace_scan.waiting_for_adoption(store.keys, 5))

    assert sorted(taken + rest) == [messages(store, f"t{n}") for n in range(3)]
    store.run(keyspace_scan.hint(store.keys, taken))
    assert sorted(store.run(keyspace_scan.waiting_for_adoption(store.keys, 5))) == sorted(taken)


def test_adoptable_is_what_holds_more_or_less_than_was_counted(store):
    push(store, 1, 2)
    push(store, 3, 6, thread="t2")
    write_plainly(store, member(4))
    store.client.zrem(messages(store, "t2"), member(3, "t2"))
    push(store, 5, thread="t3")
    older = f"{store.keys.prefix}:messages:t9"
    store.client.zadd(older, {member(9): AT})
    names = [*(messages(store, thread) for thread in ("t1", "t2", "t3", "t4")), older]

    found = store.run(keyspace_scan.adoptable(store.keys, names))
    assert found == [messages(store, "t1"), messages(store, "t2"), older]


def test_who_names_what_holds_no_messages_stops_no_other(store):
    """Who may hint may name anything, and may have made it of another type."""
    write_plainly(store, member(1))
    spoilt = messages(store, "t1", "ada")
    store.client.zadd(spoilt, {member(1): AT})
    store.client.set(store.keys.of("ada").tokens, "no hash", ex=60)
    store.client.set(messages(store, "t2"), "no sorted set", ex=60)
    names = ["anything", store.keys.of("harold").tokens, messages(store, "t2"), spoilt, messages(store, "t1")]

    assert store.run(keyspace_scan.adoptable(store.keys, names)) == [messages(store, "t1")]


def test_messages_of_which_no_index_tells_are_found_by_their_keys(store):
    push(store, 1)
    push(store, 2, thread="t2")
    store.client.zadd(messages(store, "t2"), {b"plain": AT})
    store.client.zadd(messages(store, "t1", "ada"), {b"plain": AT})
    older = f"{store.keys.prefix}:messages:t9"
    store.client.zadd(older, {b"plain": AT})
    store.client.zadd(store.keys.resources, {"harold": 1})

    strays = store.run(keyspace_scan.stray_keys(store.keys, 1_000))
    assert sorted(strays) == sorted([messages(store, "t2"), messages(store, "t1", "ada"), older])


def test_every_resource_is_met_though_it_is_looked_at_meanwhile(store):
    """Catches a walk by time of the last look, which passes over whoever a worker looks at on the way."""
    names = {f"agent-{n}" for n in range(500)}
    store.client.zadd(store.keys.resources, dict.fromkeys(names, 1))
    cursor, met = 0, list[str]()
    while True:
        cursor, some = store.run(keyspace_scan.some_resources(store.keys, 0, cursor, 50))
        met += some
        store.client.zadd(store.keys.resources, dict.fromkeys(sorted(names)[:250], len(met)))
        if not cursor:
            break

    assert set(met) == names
