"""Looks at several scopes at once: what one look at each says, in a number of round trips that does not grow with them."""

from __future__ import annotations

import pytest
from scene import push, ready, seal
from world import World

from om_api.store import looking
from om_api.values import Scope


def test_looks_at_several_scopes_say_what_one_look_at_each_says(store):
    for n, thread in enumerate(("t1", "t2", "t3")):
        ready(store, f"d{n}", 60 + n, thread=thread, scope=Scope("harold", thread))
        seal(store, f"e{n}", 70 + n, thread=thread, scope=Scope("harold", thread))
    push(store, 80, thread="t3")
    scopes = [Scope("harold"), *(Scope("harold", thread) for thread in ("t1", "t2", "t3", "nobody"))]
    together = store.run(looking.looks(store.keys, scopes))
    apart = [store.run(looking.look(store.keys, scope)) for scope in scopes]

    assert [look._replace(now=0) for look in together] == [look._replace(now=0) for look in apart]
    assert [len(look.chunks) for look in together] == [0, 2, 2, 2, 0]


@pytest.mark.parametrize("thread", [None, "t1", "nobody"])
def test_to_meet_a_scope_is_to_look_at_it_and_at_the_heads_of_its_threads(store, thread):
    ready(store, "d1", 60, thread="t1")
    push(store, 70, thread="t1")
    push(store, 80, thread="t2")
    scope, threads = Scope("harold", thread), [thread] if thread else ["t1", "t2"]
    look, heads = store.run(looking.meet(store.keys, scope))

    assert look._replace(now=0) == store.run(looking.look(store.keys, scope))._replace(now=0)
    assert heads == store.run(looking.heads(store.keys, "harold", threads))


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_stats_take_a_dozen_round_trips_however_many_threads_there_are(client, prefix, monkeypatch, scope):
    house = World(client, prefix, scope=scope)
    trips, perform = [], house.om._connection._perform
    monkeypatch.setattr(house.om._connection, "_perform", lambda step: trips.append(step) or perform(step))
    taken = []
    for threads in (2, 20):
        for n in range(threads):
            house.say(f"message {n}", thread=f"t-{n}")
        house.tick()
        trips.clear()
        assert house.om.stats("harold").threads == threads
        taken.append(len(trips))

    assert max(taken) <= 12
