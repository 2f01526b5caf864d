"""Looks at scopes: what a worker decides by, in a number of round trips that does not grow with them."""

import pytest
from scene import HAROLD, filled, message, push, ready, seal, trips
from world import World

from om_api.domain.values import Scope
from om_api.store.memory import reading, requests, scope_state


def test_looks_at_several_scopes_say_what_one_look_at_each_says(store):
    for n, thread in enumerate(("t1", "t2", "t3")):
        ready(store, f"d{n}", 60 + n, thread=thread, scope=Scope("harold", thread))
        seal(store, f"e{n}", 70 + n, thread=thread, scope=Scope("harold", thread))
    push(store, 80, thread="t3")
    scopes = [Scope("harold"), *(Scope("harold", thread) for thread in ("t1", "t2", "t3", "nobody"))]
    together = store.run(scope_state.looks(store.keys, scopes))
    apart = [store.run(scope_state.look(store.keys, scope)) for scope in scopes]

    assert [look._replace(now=0) for look in together] == [look._replace(now=0) for look in apart]
    assert [len(look.chunks) for look in together] == [0, 2, 2, 2, 0]


@pytest.mark.parametrize("thread", [None, "t1", "nobody"])
def test_to_meet_a_scope_is_to_look_at_it_and_at_the_raw_sets_of_its_threads(store, thread):
    ready(store, "d1", 60, thread="t1")
    push(store, 70, thread="t1")
    push(store, 80, thread="t2")
    scope, threads = Scope("harold", thread), [thread] if thread else ["t1", "t2"]
    met = store.run(scope_state.meet(store.keys, scope))

    assert met._replace(now=0, raw={}) == store.run(scope_state.look(store.keys, scope))._replace(now=0)
    assert met.raw == store.run(scope_state.raw_sets(store.keys, "harold", threads))


def test_what_is_about_to_be_sealed_is_read_whole_with_the_first_look_and_nothing_else_is(store):
    """Catches a paused or hardly filled memory whose raw messages are read at every push."""
    push(store, 70, 71, 72, thread="t1")

    def read(**options):
        return len(store.run(scope_state.meet(store.keys, Scope("harold"), **options)).raw["t1"].pairs)

    tokens = store.keys.of("harold").tokens
    assert (read(seals=True), read(), read(seals=True, threads=["t1"])) == (3, 1, 1)
    store.client.hset(tokens, "*wake", 31)
    assert read(seals=True) == 1
    store.client.hset(tokens, mapping={"*wake": 30, "*paused": 1})
    assert read(seals=True) == 1


def test_a_look_that_knows_all_names_takes_one_round_trip(store):
    ready(store, "d1", 60)
    push(store, 70, 71)
    before = store.run(scope_state.meet(store.keys, Scope("harold")))
    chunks, threads = [chunk.id for chunk in before.chunks], list(before.unsealed)
    taken = [
        store.run(trips(steps))[1]
        for steps in (
            scope_state.meet(store.keys, Scope("harold")),
            scope_state.meet(store.keys, Scope("harold"), chunks, threads),
            scope_state.look(store.keys, Scope("harold"), chunks),
        )
    ]

    assert taken == [2, 1, 1]


def test_what_is_asked_beside_a_look_comes_in_its_first_round_trip(store):
    ready(store, "d1", 60)
    beside = reading.stored_scope(store.keys, "harold")
    chunks = [chunk.id for chunk in store.run(scope_state.look(store.keys, Scope("harold"))).chunks]
    (look, word), taken = store.run(trips(scope_state.look_beside(store.keys, Scope("harold"), beside, chunks)))

    assert (look.chunks[0].ready, look.word, word, taken) == (True, "resource", "resource", 1)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_stats_take_a_dozen_round_trips_however_many_threads_there_are(client, prefix, monkeypatch, scope):
    house = World(client, prefix, scope=scope)
    endpoint, asked = house.om._connection._endpoint, []
    ask = endpoint.ask
    monkeypatch.setattr(endpoint, "ask", lambda step: asked.append(step) or ask(step))
    taken = []
    for threads in (2, 20):
        for n in range(threads):
            house.say(f"message {n}", thread=f"t-{n}")
        house.tick()
        asked.clear()
        assert house.om.stats("harold").threads == threads
        taken.append(len(asked))

    assert max(taken) <= 12


def test_a_look_says_what_a_worker_decides_by(store):
    filled(store)
    store.run(requests.force(store.keys, HAROLD, "force:t1"))
    look = store.run(scope_state.look(store.keys, HAROLD))

    assert (look.unsealed_tokens, [c.id for c in look.chunks], look.record.generation) == (30, ["c4", "c5"], 1)
    assert list(look.forced) == ["force:t1"]
    assert not look.paused


def test_raw_sets_tell_members_from_counted_ones(store):
    push(store, 1, 2)
    store.client.zadd(store.keys.of("harold").messages("t1"), {b"plain": message(3).at})
    found = store.run(scope_state.raw_sets(store.keys, "harold", ["t1"]))["t1"]

    assert (found.members, found.counted, found.last) == (3, 2, message(3).at)
