"""What a reader remembers changes what a look costs, and nothing of what it says."""

import msgspec
from scene import (
    AT,
    HAROLD,
    activate,
    buffer,
    emptied,
    filled,
    member,
    observed,
    ready,
    record,
    reflect,
    seal,
    words,
    write_plainly,
)

from om_api.domain.values import Outcome
from om_api.store.memory import clear, reading, restore
from om_api.store.memory.context_query import Names
from om_api.store.memory.decode_cache import Past


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
    "a copy with another score": lambda store: write_plainly(store, member(7), score=AT + 99_000),
    "an observation": lambda store: buffer(store, "c5"),
    "two activations": lambda store: [activate(store, "c4", by="a4"), observed(store, "o6", 45, thread="t3")],
    "a seal": lambda store: seal(store, "c9", 12),
    "a reflection": lambda store: reflect(store, "o2"),
    "a restored generation": lambda store: store.run(restore.restore(store.keys, HAROLD, 0, 100, 1_000, AT, words)),
    "one forgotten and one more": lambda store: [forget_one(store), activate(store, "c4", by="a4")],
    "all cleared": lambda store: store.run(clear.clear(store.keys, "harold")),
    "another life": lambda store: [store.run(clear.clear(store.keys, "harold")), ready(store, "c4", 5, 6)],
    "a lost second": lose_the_last_second,
}


def test_a_reader_that_remembers_says_what_a_new_one_says_whatever_came_meanwhile(store):
    for came, meanwhile in MEANWHILE.items():
        filled(emptied(store))
        past = Past()
        _, names = look(store, past)
        meanwhile(store)
        (known, _), (fresh, _) = look(store, past, names), look(store)
        assert msgspec.structs.replace(known, now=0) == msgspec.structs.replace(fresh, now=0), came
