"""Keys, decoding, requests and states of a scope."""

import inspect
from collections import defaultdict
from itertools import product

import pytest
from acl_house import every_key
from redis.crc import key_slot
from scene import HAROLD, activate, at_step, call, push, ready, seal

from om_api.domain.values import Scope
from om_api.store.driver.partitions import PartedIndex
from om_api.store.memory import decoding, model_cooldown, requests, scope_state
from om_api.store.memory.kept import kept
from om_api.store.memory.keys import Keys, queued

PLAIN = b'{"id":"m","role":"user","content":"hi","tokens":3}'
PARTS = b'{"id":"p","role":"user","content":[{"type":"text","text":"hi"}]}'
MARKED = b'{"id":"k","role":"user","content":"hi","metadata":{"a":1}}'


@pytest.mark.parametrize("said", [PLAIN, PARTS, MARKED])
def test_who_changes_a_message_that_was_met_changes_nobody_elses(said):
    first = decoding.parsed_once((said, 1.0), "t", "r")
    first.content = [{"type": "text", "text": "else"}] if isinstance(first.content, str) else first.content
    for part in first.content:
        part["text"] = "else"
    if first.metadata:
        first.metadata["a"] = 2
    assert decoding.parsed_once((said, 1.0), "t", "r") == decoding.message_of((said, 1.0), "t", "r")


def test_a_chunk_that_is_activated_between_two_looks_is_not_missed(store):
    """Time 0: the chunk is listed. Time 1: it is activated. Time 2: its sealed set is gone, and its source not yet asked for."""
    ready(store, "c1", 1)
    steps = kept(store.keys, HAROLD, "t1", lambda _: False)
    found = store.run(at_step(steps, 1, lambda: activate(store, "c1")))
    assert [message.id for message in found] == ["m1"]


KEYS = Keys("p:om")


def test_all_keys_of_a_resource_are_in_one_slot():
    own = every_key(KEYS, "harold")
    own = {name for name in own if name.startswith("p:om:{harold}")}

    assert len(own) > 15
    assert {key_slot(name.encode()) for name in own} == {key_slot(b"harold")}


def keys_made(holder, names):
    """Each key that a holder makes of these names, with what makes it."""
    words = {"step": [600], "day": ["2026-11-21"], "generation": [1], "transfer": ["x"]}
    for name, text in vars(holder).items():
        if isinstance(text, PartedIndex):
            yield from ((part, (name, count)) for count in (1, 64) for part in text.parts(count))
            yield from ((queued(part), ("queued", name, count)) for count in (1, 64) for part in text.parts(count))
        elif isinstance(text, str) and name not in {"prefix", "base"}:
            yield text, (name, holder.base)
    for name, method in inspect.getmembers(holder, inspect.ismethod):
        shape = inspect.signature(method)
        given = words | {"scope": [Scope("a"), *(Scope("a", each) for each in names)]}
        if name == "lock":  # its names are of ours, with one of a thread or a chunk
            given["name"] = [f"reflect:{each}" for each in names]
        for args in (
            product(*(given.get(each, names) for each in shape.parameters)) if shape.return_annotation is str else ()
        ):
            yield method(*args), (name, holder.base, args)


def test_no_two_keys_are_equal_whatever_names_they_hold():
    """Names may hold colons, and what other keys are made of."""
    names = [
        "a",
        "a:b",
        "64:0",
        "1",
        "a:messages:t1",
        "messages",
        "tokens",
        "used",
        "archive",
        "queued",
        "x:waiting",
        "roots",
    ]
    owners = defaultdict(set)
    for holder in (KEYS, *map(KEYS.of, names)):
        for key, owner in keys_made(holder, names):
            owners[key].add(owner)
    assert len(owners) > 3_000
    assert {key: owner for key, owner in owners.items() if len(owner) > 1} == {}


def test_that_a_half_was_observed_is_noted_for_a_day_and_not_of_one_that_is_gone(store):
    seal(store, "c1", 1)
    of = store.keys.of("harold")
    store.run(model_cooldown.observed(store.keys, "harold", "c1"))
    _, mark = model_cooldown.locks(of, "c1")

    assert store.client.ttl(mark) in {86_400, 86_399}
    assert [call(store, "observed", [of.chunk(name), mark], [60]) for name in ("c1", "c9")] == [1, 0]


def test_a_resource_waits_until_it_is_over_and_no_other_one_does(store):
    def waiting():
        return [store.run(model_cooldown.waits(store.keys, name)) for name in ("harold", "ada")]

    store.run(model_cooldown.wait(store.keys, "harold"))
    assert waiting() == [True, False]
    store.run(model_cooldown.over(store.keys, "harold"))
    assert waiting() == [False, False]


T1, T2 = Scope("harold", "t1"), Scope("harold", "t2")


def asked(store, scope):
    return store.run(requests.requests(store.keys, scope))


@pytest.mark.parametrize(
    ("scope", "field", "meant", "found"),
    [
        (HAROLD, "force", [T1, T2], [{"force"}, {"force"}]),
        (HAROLD, "force:t1", [T1, T2], [{"force"}, set()]),
        (T1, "force", [HAROLD], [{"force:t1"}]),
    ],
    ids=["all into threads", "one thread's", "a thread's into the pool"],
)
def test_a_request_is_handed_on_to_whom_it_means_and_stands_no_longer_where_it_was(store, scope, field, meant, found):
    store.run(requests.force(store.keys, scope, field))
    store.run(requests.hand_on(store.keys, scope, asked(store, scope), meant))

    assert [set(asked(store, each)) for each in meant] == found
    assert asked(store, scope) == {}


def test_a_pause_is_for_a_whole_resource_until_it_is_ended(store):
    push(store, 1)
    tokens = store.keys.of("harold").tokens
    before = store.client.hgetall(tokens)
    for on in (True, False):
        assert [store.run(requests.pause(store.keys, "harold", on=on)) for _ in range(2)] == [True, False], on
        assert store.client.hget(tokens, "*paused") == (b"1" if on else None)
    assert store.client.hgetall(tokens) == before


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
