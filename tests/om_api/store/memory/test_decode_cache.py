"""What a reader remembers changes what a look costs, and nothing of what it says."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene import (
    AT,
    HAROLD,
    activate,
    buffer,
    filled,
    member,
    observed,
    push,
    ready,
    record,
    reflect,
    seal,
    write_plainly,
)

from om_api.domain.values import Outcome
from om_api.store.memory import clear, forget, reading, restore
from om_api.store.memory.context_query import Names, commands
from om_api.store.memory.decode_cache import Past

MEMBERS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=8)


def look(store, past=None, known=None):
    return store.run(reading.snapshot(store.keys, "harold", "t1", known or Names(HAROLD, {}, ()), past))


def forget_one(store):
    (stored, *_) = store.run(reading.observations(store.keys, HAROLD))
    assert store.run(forget.forget(store.keys, HAROLD, record(store).epoch, stored)) is Outcome.CLEARED


def lose_the_last_second(store):
    """A crash takes the last activation, and another one takes its place."""
    key = store.keys.of("harold").observations(HAROLD)
    ((gone, seq),) = store.client.zrange(key, -1, -1, withscores=True)
    store.client.zrem(key, gone)
    store.client.zadd(key, {gone.replace(b"noted", b"anew_"): seq})


MEANWHILE = {
    "a push": lambda store: push(store, 12),
    "a late message": lambda store: write_plainly(store, member(0), score=AT - 5_000),
    "a copy with another score": lambda store: write_plainly(store, member(7), score=AT + 99_000),
    "something malformed": lambda store: write_plainly(store, b"no JSON", score=AT + 10_500),
    "an observation": lambda store: buffer(store, "c5"),
    "an activation": lambda store: activate(store, "c4", by="a4"),
    "two activations": lambda store: [activate(store, "c4", by="a4"), observed(store, "o6", 45, thread="t3")],
    "a seal": lambda store: seal(store, "c9", 12),
    "another thread": lambda store: push(store, 41, thread="t4"),
    "a reflection": lambda store: reflect(store, "o2"),
    "a restored generation": lambda store: store.run(restore.restore(store.keys, HAROLD, 0, 100, 1_000, AT)),
    "one forgotten": forget_one,
    "one forgotten and one more": lambda store: [forget_one(store), activate(store, "c4", by="a4")],
    "a thread cleared": lambda store: store.run(clear.clear_thread(store.keys, HAROLD, "t2", AT, len)),
    "all cleared": lambda store: store.run(clear.clear(store.keys, "harold", int(time.time() * 1000))),
    "another life": lambda store: [
        store.run(clear.clear(store.keys, "harold", int(time.time() * 1000))),
        ready(store, "c4", 5, 6),
    ],
    "a lost second": lose_the_last_second,
}


@pytest.mark.parametrize("client", ["server"], indirect=True)  # what a reader remembers is no server's
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_whatever_came_meanwhile_a_reader_that_remembers_says_what_a_new_one_says(store, meanwhile):
    filled(store)
    past = Past()
    _, names = look(store, past)
    MEANWHILE[meanwhile](store)
    (known, _), (fresh, _) = look(store, past, names), look(store)

    assert msgspec.structs.replace(known, now=0) == msgspec.structs.replace(fresh, now=0)


def test_what_stays_as_it_is_is_neither_asked_for_nor_decoded_again(store):
    filled(store)
    past = Past()
    before, names = look(store, past)
    push(store, 12)
    asked = [word for command in commands(store.keys.of("harold"), "t1", names, past.held) for word in command]
    after, _ = look(store, past, names)

    assert not [word for word in asked if ":sealed:" in str(word) or str(word).endswith(":chunk:c4")]
    assert all(new is old for new, old in zip(after.messages, before.messages, strict=False))
    assert all(new is old for new, old in zip(after.observations, before.observations, strict=True))


@given(looks=st.lists(MEMBERS, max_size=5))
def test_messages_come_as_one_sorted_set_has_them_whatever_was_met_before(looks):
    past = Past()
    for numbers in looks:
        pairs = [(member(n), float(AT + at)) for n, at in numbers]
        last = dict(pairs)
        found = past.messages({"t1": pairs}, "harold")["t1"]

        assert [m.id for m in found] == [f"m{n}" for n, _ in _sorted(last)]


def _sorted(last):
    numbers = {member(n): n for n in range(9)}
    return [(numbers[one], at) for one, at in sorted(last.items(), key=lambda pair: (pair[1], pair[0]))]
