"""What a reader remembers changes what a look costs, and nothing of what it says."""

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
    words,
    write_plainly,
)

from om_api.domain.messages import Message
from om_api.domain.values import Observation, Outcome, Stored
from om_api.store.memory import clear, reading, restore
from om_api.store.memory.context_query import Names, commands
from om_api.store.memory.decode_cache import FIELD, Past, weight_of, weight_of_hash

MEMBERS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=8)


def look(store, past=None, known=None):
    return store.run(reading.snapshot(store.keys, "harold", "t1", known or Names(HAROLD, {}, ()), past))


def forget_one(store):
    (stored, *_) = store.run(reading.observations(store.keys, HAROLD))
    assert store.run(clear.forget(store.keys, HAROLD, record(store).epoch, stored)) is Outcome.CLEARED


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
    "a restored generation": lambda store: store.run(restore.restore(store.keys, HAROLD, 0, 100, 1_000, AT, words)),
    "one forgotten": forget_one,
    "one forgotten and one more": lambda store: [forget_one(store), activate(store, "c4", by="a4")],
    "a thread cleared": lambda store: store.run(clear.clear_thread(store.keys, HAROLD, "t2", len)),
    "all cleared": lambda store: store.run(clear.clear(store.keys, "harold")),
    "another life": lambda store: [
        store.run(clear.clear(store.keys, "harold")),
        ready(store, "c4", 5, 6),
    ],
    "a lost second": lose_the_last_second,
}


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


# -- its weight --------------------------------------------------------------------------------------------------------

LONG = "x" * 100_000


def weight(**fields):
    return weight_of((b"", 0.0), Message(**{"role": "user", "content": "", **fields}))


def test_a_member_weighs_what_its_bytes_do_and_its_place():
    assert weight_of((b"x" * 500, 0.0), None) - weight_of((b"", 0.0), None) == 500
    assert weight_of((b"", 0.0), None) > 1_000


@pytest.mark.parametrize(
    ("fields", "times"),
    [
        ({"content": LONG}, 3),
        ({"content": [{"type": "text", "text": LONG}]}, 3),
        ({"content": [{"type": "tool-call", "id": "1", "name": "f", "args": {"a": [{"b": LONG}]}}]}, 3),
        ({"metadata": {"a": {"b": [LONG]}}}, 1),
    ],
    ids=["text", "a part", "deep in a call", "metadata"],
)
def test_what_is_said_weighs_as_often_as_it_is_rendered(fields, times):
    assert weight(**fields) - weight() == pytest.approx(times * len(LONG), rel=0.05)


def test_an_observation_weighs_its_text_and_the_names_of_its_messages():
    def of(text, ids):
        said = Observation(id="o", thread_id="t", text=text, message_ids=ids)
        return weight_of((b"", 0.0), Stored(1.0, said, b""))

    assert of(LONG, ()) - of("", ()) == 3 * len(LONG)
    assert of("", ("m",) * 1_000) - of("", ()) >= 30_000


def test_a_hash_weighs_its_fields_and_their_values():
    assert weight_of_hash({b"a": b"12345", b"b": b""}) == 2 * FIELD + 5
    assert weight_of_hash({}) == 0
