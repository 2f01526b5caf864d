"""What is kept of a thread comes oldest first, from every tier, and no further back than asked for."""

import pytest
from scene import HAROLD, activate, observed, push, ready, seal

from om_api.domain.values import Scope
from om_api.store.memory.kept import kept, living

T1 = Scope("harold", "t1")


def ids(store, scope=HAROLD, thread="t1", enough=lambda _: False):
    return [message.id for message in store.run(kept(store.keys, scope, thread, enough))]


def filled(store, scope=HAROLD):
    for n in range(1, 26):
        observed(store, f"o{n}", n, scope=scope)
    seal(store, "c1", 26, 27, scope=scope)
    push(store, 28)
    if scope == HAROLD:
        seal(store, "c2", 31, thread="t2")


@pytest.mark.parametrize("scope", [HAROLD, T1])
def test_everything_is_there_in_order(store, scope):
    filled(store, scope)

    assert ids(store, scope) == [f"m{n}" for n in range(1, 29)]


def test_sources_are_read_the_newest_first_until_it_is_enough(store):
    filled(store)

    assert ids(store, enough=lambda _: True) == ["m26", "m27", "m28"]
    assert ids(store, enough=lambda found: len(found) > 3) == [f"m{n}" for n in range(6, 29)]


def test_an_unknown_thread_has_nothing(store):
    assert ids(store) == []
    assert store.run(living(store.keys, HAROLD, "t1")) == []


@pytest.mark.parametrize("scope", [HAROLD, T1])
def test_what_lives_of_a_thread_is_raw_or_sealed(store, scope):
    filled(store, scope)

    assert [message.id for message in store.run(living(store.keys, scope, "t1"))] == ["m26", "m27", "m28"]


@pytest.mark.parametrize("newest", [1, 2, 3, 9])
def test_the_newest_of_what_lives_are_the_end_of_all_of_it(store, newest):
    filled(store)
    every = [message.id for message in store.run(living(store.keys, HAROLD, "t1"))]

    assert every == ["m26", "m27", "m28"]
    assert [message.id for message in store.run(living(store.keys, HAROLD, "t1", newest))] == every[-newest:]


def test_a_chunk_that_is_activated_between_two_looks_is_not_missed(store):
    """Time 0: the chunk is listed. Time 1: it is activated. Time 2: its sealed set is gone, and its source not yet asked for."""
    ready(store, "c1", 1)
    steps = kept(store.keys, HAROLD, "t1", lambda _: False)
    asked = next(steps)
    replies = store.run(_one(asked))
    activate(store, "c1")
    step = steps.send(replies)
    with pytest.raises(StopIteration) as end:
        while True:
            step = steps.send(store.run(_one(step)))

    assert [message.id for message in end.value.value] == ["m1"]


def _one(step):
    return (yield step)
