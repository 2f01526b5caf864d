"""verify finds nothing in what the library made, and every break made by hand."""

from __future__ import annotations

import msgspec
import pytest
from scene import (
    AT,
    HAROLD,
    SETTINGS,
    activate,
    filled,
    member,
    observed,
    push,
    ready,
    record,
    reflect,
    seal,
    sealing,
    words,
    write_plainly,
)

from om_api.store import breaker, clearing, commits, due, looking, migrating, rates, reading
from om_api.store.connection import Connection
from om_api.store.keys import queued
from om_api.store.steps import Wait
from om_api.store.verify import Breach, verify
from om_api.values import Observation, Outcome, Scope


def found(store):
    return store.run(verify(store.keys, lambda message: words(message.text())))


def key(store, name, *ids):
    found = getattr(store.keys.of("harold"), name)
    return found(*ids) if ids else found


def test_an_empty_store_has_no_breach(store):
    assert found(store) == []


def test_a_filled_memory_has_no_breach(store):
    filled(store)

    assert found(store) == []


def test_every_verb_leaves_a_memory_without_breach(store):
    filled(store)
    look = store.run(looking.look(store.keys, HAROLD))
    store.run(commits.split(store.keys, HAROLD, look.chunks[1], 1, 10, 1))
    assert activate(store, "c4", by="a2") is Outcome.ACTIVATED
    assert reflect(store, "o2", "o3", keep=1) is Outcome.REFLECTED

    assert found(store) == []


def test_a_cleared_thread_leaves_no_breach(store):
    filled(store)
    store.run(clearing.clear_thread(store.keys, HAROLD, "t2", AT, words))

    assert found(store) == []


def test_a_forgotten_observation_leaves_no_breach(store):
    filled(store)
    stored = store.run(reading.observations(store.keys, HAROLD))[0]
    store.run(commits.forget(store.keys, HAROLD, record(store).epoch, stored))

    assert found(store) == []


@pytest.mark.parametrize("and_back", [False, True])
def test_a_moved_memory_has_no_breach(store, and_back):
    observed(store, "o1", 1, 2)
    reflect(store, "o1", text='* both\n<thread id="t1">\n* one\n</thread>')
    observed(store, "o2", 3, 4)
    observed(store, "o3", 31, 32, thread="t2")
    for to in ("thread", "resource") if and_back else ("thread",):
        assert store.run(migrating.migrate(store.keys, "harold", to, words, SETTINGS)) is Outcome.ACTIVATED

    assert found(store) == []


def test_a_cleared_store_has_no_breach(store):
    filled(store)
    store.run(clearing.clear(store.keys, "harold", store.run(looking.look(store.keys, HAROLD)).now))

    assert found(store) == []


def test_what_workers_share_of_a_model_is_no_breach(store):
    store.run(breaker.report(store.keys, breaker.Call("a model", "t", 60), "failed"))
    store.run(breaker.enter(store.keys, breaker.Call("a model", "t", 60), 2))
    shared = rates.Rates(Connection(store.client), store.keys)
    assert shared.take("a model", rates.Rate(requests_per_minute=9, tokens_per_minute=9), 1) == 0

    assert len(store.client.keys(f"{store.keys.prefix}:lock:*")) >= 5
    assert found(store) == []


@pytest.mark.parametrize("work", ["due_observe", "due_reflect"])
def test_scopes_that_wait_as_tasks_are_no_breach(store, work):
    index = getattr(store.keys, work)
    filled(store)
    store.client.zadd(index, {"harold": 1})
    (claimed,) = store.run(due.claim(index, 5))

    assert store.client.exists(queued(index))
    assert found(store) == []

    store.client.rename(queued(index), queued(index + "s"))
    assert Breach(queued(index + "s"), "is no name of ours") in found(store)
    store.run(due.done(index, claimed))
    store.client.delete(queued(index + "s"))


def test_members_that_wait_for_adoption_are_no_breach(store):
    filled(store)
    write_plainly(store, b'{"role":"user","content":"no tokens here"}', member(7), b"not even JSON")

    assert found(store) == []


def test_a_scope_that_rests_below_its_wake_need_not_be_in_the_index(store):
    push(store, 1)
    store.client.hset(key(store, "tokens"), "*wake", 11)
    store.client.delete(store.keys.due_observe)

    assert found(store) == []


def test_a_breach_that_heals_while_it_is_looked_at_is_not_reported(store):
    filled(store)
    broken = key(store, "record", HAROLD)
    store.client.hincrby(broken, "chunk_tokens", 1)

    def healed_at_the_first_pause():
        steps, pauses = verify(store.keys), 0
        step = next(steps)
        try:
            while True:
                if isinstance(step, Wait):
                    pauses += 1
                    store.client.hset(broken, "chunk_tokens", 50)
                step = steps.send((yield step))
        except StopIteration as end:
            return end.value, pauses

    assert store.run(healed_at_the_first_pause()) == ([], 1)


BREAKS = {
    "a chunk without its sealed set": (lambda s: s.client.delete(key(s, "sealed", "c5")), "sealed:c5", "nowhere"),
    "a chunk without its hash": (lambda s: s.client.delete(key(s, "chunk", "c5")), "chunk:c5", "is missing"),
    "a sealed set without chunk": (
        lambda s: s.client.zadd(key(s, "sealed", "c9"), {b"{}": 1}),
        "sealed:c9",
        "belongs to no chunk",
    ),
    "a chunk that no index names": (lambda s: s.client.zrem(key(s, "chunks", HAROLD), "c5"), "chunk:c5", "in no scope"),
    "a message raw and sealed": (
        lambda s: (
            s.client.zadd(key(s, "messages", "t1"), {member(7): AT}),
            s.client.hincrby(key(s, "tokens"), "#t1", 1),
        ),
        "messages:t1",
        "holds too",
    ),
    "a message in two chunks": (
        lambda s: s.client.zadd(key(s, "sealed", "c4"), {member(7): AT + 7000}),
        "sealed:c4",
        "holds too",
    ),
    "an id in two sets": (
        lambda s: s.client.zadd(key(s, "sealed", "c4"), {b'{"id":"m7","role":"user","content":"other"}': AT + 7000}),
        "sealed:c4",
        "holds message m7",
    ),
    "a sealed message behind an observation too": (
        lambda s: s.client.zadd(key(s, "source", "o2"), {member(7): AT + 7000}),
        "sealed:c5",
        "holds too",
    ),
    "a message behind two observations": (
        lambda s: s.client.zadd(key(s, "source", "o2"), {member(1): AT + 1000}),
        "source:o1",
        "holds too",
    ),
    "a message counter off by one": (
        lambda s: s.client.hincrby(key(s, "tokens"), "#t1", 1),
        "messages:t1",
        "3 are counted",
    ),
    "a message counter short by one": (lambda s: s.client.hincrby(key(s, "tokens"), "#t1", -1), "tokens", "t1 is 20"),
    "a token counter off by one": (lambda s: s.client.hincrby(key(s, "tokens"), "t1", 1), "tokens", "t1 is 21"),
    "a total off by one": (lambda s: s.client.hincrby(key(s, "tokens"), "*", -1), "tokens", "* is 29"),
    "a counter alone": (lambda s: s.client.hset(key(s, "tokens"), "#t7", 0), "tokens", "only one of"),
    "chunk tokens off by one": (
        lambda s: s.client.hincrby(key(s, "record", HAROLD), "chunk_tokens", 1),
        "record",
        "chunk_tokens is 51",
    ),
    "observation tokens off": (
        lambda s: s.client.hincrby(key(s, "record", HAROLD), "observation_tokens", 1),
        "record",
        "observation_tokens is 11",
    ),
    "observations miscounted": (
        lambda s: s.client.hincrby(key(s, "record", HAROLD), "observation_count", 1),
        "record",
        "observation_count is 3",
    ),
    "reflection tokens off": (
        lambda s: s.client.hset(key(s, "record", HAROLD), "reflection_tokens", 9),
        "record",
        "reflection_tokens is 9",
    ),
    "a chunk's messages miscounted": (
        lambda s: s.client.hincrby(key(s, "chunk", "c5"), "messages", 1),
        "chunk:c5",
        "says 4 messages",
    ),
    "a chunk's tokens off": (
        lambda s: s.client.hset(key(s, "chunk", "c5"), "tokens", 31),
        "chunk:c5",
        "says 31 tokens",
    ),
    "a chunk in no known state": (
        lambda s: s.client.hset(key(s, "chunk", "c5"), "state", "lost"),
        "chunk:c5",
        "neither",
    ),
    "an observation deleted": (
        lambda s: s.client.zremrangebyrank(key(s, "observations", HAROLD), 0, 0),
        "source:o2",
        "no generation covers it",
    ),
    "a source missing before its time": (
        lambda s: s.client.delete(key(s, "source", "o2")),
        "source:o2",
        "before its time",
    ),
    "a source that lost a message": (
        lambda s: s.client.zremrangebyrank(key(s, "source", "o2"), 0, 0),
        "source:o2",
        "other messages",
    ),
    "an observation there twice": (
        lambda s: s.client.zadd(key(s, "observations", HAROLD), {_other_words(s): 1}),
        "source:o2",
        "there twice",
    ),
    "two observations with one seq": (
        lambda s: s.client.zadd(key(s, "observations", HAROLD), {b'{"id":"x","thread_id":"t1","text":""}': _seq(s)}),
        "observations",
        "two observations have the seq",
    ),
    "two chunks with one seq": (
        lambda s: s.client.zadd(key(s, "chunks", HAROLD), {"c4": s.client.zscore(key(s, "chunks", HAROLD), "c5")}),
        "chunks",
        "two chunks have the seq",
    ),
    "a generation missing": (
        lambda s: s.client.delete(key(s, "reflections", HAROLD)),
        "reflections",
        "the record says 1",
    ),
    "a gap in the generations": (
        lambda s: (
            s.client.zadd(key(s, "reflections", HAROLD), {msgspec.json.encode({"n": 3, "text": "", "tokens": 3}): 3}),
            s.client.hset(key(s, "record", HAROLD), "generation", 3),
        ),
        "reflections",
        "lacks or doubles",
    ),
    "a memory outside the scope in force": (
        lambda s: s.client.set(key(s, "scope"), "thread"),
        "record",
        "the scope in force is thread",
    ),
    "a memory without scope": (lambda s: s.client.delete(key(s, "scope")), "scope", "is missing"),
    "an unknown key": (
        lambda s: s.client.set(key(s, "lock", "x").replace("lock", "luck"), 1, ex=9),
        "luck:x",
        "no name",
    ),
    "a living key with a TTL": (lambda s: s.client.expire(key(s, "messages", "t1"), 900), "messages:t1", "no TTL"),
    "a key of the wrong type": (
        lambda s: (s.client.delete(key(s, "threads")), s.client.set(key(s, "threads"), 1)),
        "threads",
        "is a string",
    ),
}


def _other_words(store):
    stored = store.run(reading.observations(store.keys, HAROLD))[0]
    return msgspec.json.encode(msgspec.structs.replace(stored.observation, text="* in other words"))


def _seq(store):
    return store.run(reading.observations(store.keys, HAROLD))[0].seq


@pytest.mark.parametrize("client", ["server"], indirect=True)  # what is found was read by the same commands
@pytest.mark.parametrize("what", BREAKS)
def test_what_was_broken_by_hand_is_named(store, what):
    break_it, where, says = BREAKS[what]
    filled(store)
    break_it(store)

    breaches = found(store)

    assert [b for b in breaches if b.where == f"{store.keys.of('harold').base}:{where}" and says in b.what], breaches


@pytest.mark.parametrize("name", ["seen", "source", "sources"])
def test_a_key_that_must_expire_and_does_not_is_named(store, name):
    filled(store)
    (victim, *_) = sorted(store.client.scan_iter(f"{store.keys.prefix}:*:{name}:*"))
    store.client.persist(victim)

    assert found(store) == [Breach(victim.decode(), "has no TTL and would stay for ever")]
    store.client.expire(victim, 60)


@pytest.mark.parametrize(("hours", "early"), [(23, True), (25, False)])
def test_a_source_may_be_gone_after_a_day_the_shortest_retention_there_is(store, hours, early):
    """The index outlives it where retention was lengthened since: its lifetime tells nothing of this one's."""
    filled(store)
    source, index = key(store, "source", "o2"), key(store, "sources", "t1")
    store.client.delete(source)
    store.client.expire(index, 90 * 86_400)
    store.client.zincrby(index, -hours * 3_600_000, "o2")

    assert found(store) == [Breach(source, "is missing before its time")] * early


@pytest.mark.parametrize("work", ["raw", "sealed", "forced"])
def test_a_due_scope_missing_from_the_index_is_named(store, work):
    push(store, 1, 2)
    if work != "raw":
        store.run(sealing(store, "c1", 1, 2))
    if work == "forced":
        store.run(commits.buffer(store.keys, "harold", _noted("c1"), "w"))
        store.run(commits.force(store.keys, HAROLD, "force"))
    store.client.delete(store.keys.due_observe)

    assert [breach.where for breach in found(store)] == ["harold"]


def _noted(chunk):
    return Observation(id=chunk, thread_id="t1", text="* noted", message_ids=("m1", "m2"))


def test_a_paused_scope_need_not_be_in_the_index(store):
    seal(store, "c1", 1)
    store.run(commits.pause(store.keys, "harold", on=True))
    store.client.delete(store.keys.due_observe)

    assert found(store) == []


def test_a_mark_for_the_other_scope_will_do(store):
    push(store, 1)
    store.client.delete(store.keys.due_observe)
    store.run(due.mark(store.keys.due_observe, [Scope("harold", "t1")]))

    assert found(store) == []


def test_thread_scope_is_walked_like_resource_scope(store):
    scope = Scope("harold", "t1")
    observed(store, "o1", 1, 2, scope=scope)
    ready(store, "c2", 3, scope=scope)
    store.run(due.mark(store.keys.due_observe, [scope]))

    assert found(store) == []
    store.client.hincrby(key(store, "record", scope), "seq", -1)
    assert [breach.where for breach in found(store)] == [key(store, "chunks", scope)]


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("tokens", lambda client, at: client.hset(at, b"#\xff\xfe", 3)),
        ("tokens", lambda client, at: client.hset(at, "*wake", "soon")),
        ("tokens", lambda client, at: client.hset(at, "*dropped", "many")),
        ("threads", lambda client, at: client.zadd(at, {b"\xff": 1})),
        ("threads", lambda client, at: client.zadd(at, {"t-1": "inf"})),
        ("scope", lambda client, at: client.set(at, b"\xff")),
        ("chunks", lambda client, at: client.zadd(at, {b"\xff": 1})),
        ("reflections", lambda client, at: client.zadd(at, {b"[]": "inf"})),
        ("observations", lambda client, at: client.zadd(at, {b'{"id":"\xff"}': 2, b"[" * 100_000: 3})),
    ],
)
def test_a_resource_that_cannot_be_read_is_a_breach_and_hides_no_other(store, client, name, spoil):
    """Catches bytes of one writer that ended the walk, and with it the daily check of everybody."""
    filled(store)
    at = f"{store.keys.prefix}:{{ada}}:{name}"
    spoil(client, at)
    client.hset(store.keys.of("harold").tokens, "*", 99)
    resources = {breach.where.split("}")[0].rpartition("{")[2] for breach in found(store)}

    assert {"ada", "harold"} <= resources
