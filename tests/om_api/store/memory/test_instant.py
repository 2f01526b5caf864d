"""What keys hold at one instant: read by their types, and again until nothing that was read names one that was not."""

import time

import pytest
from scene import trips

from om_api.store.memory.instant import settled


def at(store, name):
    return f"{store.keys.prefix}:lock:{name}"


def put(store, **texts):
    for name, text in texts.items():
        store.client.set(at(store, name), at(store, text), ex=60)


def read(store, *names):
    """What strings hold, each of which names another one."""
    wanted = {(at(store, name), "string") for name in names}

    def implied(found):
        return {(text.decode(), "string") for text in found.strings.values() if text}

    return store.run(trips(settled(wanted, lambda found: found, implied)))


def test_every_type_is_read_as_it_is(store):
    client, key = store.client, {kind: at(store, kind) for kind in ("string", "hash", "zset", "list", "set")}
    client.set(key["string"], "text")
    client.hset(key["hash"], "a", 1)
    client.zadd(key["zset"], {"one": 1.5})
    client.rpush(key["list"], "b", "a")
    client.sadd(key["set"], "z", "x", "y")
    for name in key.values():
        client.expire(name, 60)
    wanted = {(name, kind) for kind, name in key.items()} | {(key["list"], "lifetime")}
    found, rests = store.run(settled(wanted, lambda found: found, lambda _: set()))

    assert rests
    assert (found.strings, found.hashes) == ({key["string"]: b"text"}, {key["hash"]: {b"a": b"1"}})
    assert found.zsets == {key["zset"]: [(b"one", 1.5)]}
    assert found.lists == {key["list"]: [b"b", b"a"], key["set"]: [b"x", b"y", b"z"]}
    assert found.lifetimes == {key["list"]: pytest.approx(60_000, abs=2_000)}
    assert found.now == pytest.approx(time.time() * 1000, abs=2_000)


def test_what_is_named_is_read_in_one_more_round_trip_together_with_what_named_it(store):
    put(store, a="b", b="c")
    a, b, c = (at(store, name) for name in "abc")
    (found, rests), taken = read(store, "a")

    assert rests
    assert found.strings == {a: b.encode(), b: c.encode(), c: None}
    assert taken == 3


def test_what_is_known_beforehand_takes_one_round_trip(store):
    put(store, a="b")
    (_, rests), taken = read(store, "a", "b")

    assert (rests, taken) == (True, 1)


def test_what_names_ever_more_is_given_up_and_says_so(store):
    put(store, **{f"n{n}": f"n{n + 1}" for n in range(30)})
    (found, rests), taken = read(store, "n0")

    assert not rests
    assert taken == len(found.strings) == 20
