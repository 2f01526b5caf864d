"""verify finds nothing in what the library made, and every break made by hand."""

import pytest
from scene import (
    HAROLD,
    SETTINGS,
    activate,
    breaches,
    filled,
    key_of,
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

from om_api.domain.events import Event
from om_api.domain.values import Observation, Outcome, Scope
from om_api.store.audit.invariants import Breach
from om_api.store.audit.verify import verify
from om_api.store.driver.connection import Connection
from om_api.store.driver.steps import Wait
from om_api.store.fleet import breaker, event_stream, presence, rates, webhook_queue, webhook_records
from om_api.store.memory import chunks, clear, due, migrate, reading, requests, scope_state
from om_api.store.memory.keys import queued


def test_an_empty_store_has_no_breach(store):
    assert breaches(store) == []


def test_a_filled_memory_has_no_breach(store):
    filled(store)

    assert breaches(store) == []


def test_every_verb_leaves_a_memory_without_breach(store):
    filled(store)
    look = store.run(scope_state.look(store.keys, HAROLD))
    store.run(chunks.split(store.keys, HAROLD, look.chunks[1], 1, 10, 1))
    assert activate(store, "c4", by="a2") is Outcome.ACTIVATED
    assert reflect(store, "o2", "o3", keep=1) is Outcome.REFLECTED

    assert breaches(store) == []


def test_a_cleared_thread_leaves_no_breach(store):
    filled(store)
    store.run(clear.clear_thread(store.keys, HAROLD, "t2", words))

    assert breaches(store) == []


def test_a_forgotten_observation_leaves_no_breach(store):
    filled(store)
    stored = store.run(reading.observations(store.keys, HAROLD))[0]
    store.run(clear.forget(store.keys, HAROLD, record(store).epoch, stored))

    assert breaches(store) == []


@pytest.mark.parametrize("and_back", [False, True])
def test_a_moved_memory_has_no_breach(store, and_back):
    observed(store, "o1", 1, 2)
    reflect(store, "o1", text='* both\n<thread id="t1">\n* one\n</thread>')
    observed(store, "o2", 3, 4)
    observed(store, "o3", 31, 32, thread="t2")
    for to in ("thread", "resource") if and_back else ("thread",):
        assert store.run(migrate.migrate(store.keys, "harold", to, words, SETTINGS)) is Outcome.ACTIVATED

    assert breaches(store) == []


def test_a_cleared_store_has_no_breach(store):
    filled(store)
    store.run(clear.clear(store.keys, "harold"))

    assert breaches(store) == []


@pytest.mark.one_server
def test_what_workers_share_of_a_model_is_no_breach(store):
    store.run(breaker.report(store.keys, breaker.Attempt("a model", "t", 60), "failed"))
    store.run(breaker.enter(store.keys, breaker.Attempt("a model", "t", 60), 2))
    shared = rates.RateLimiter(Connection(store.client), store.keys)
    assert shared.take("a model", rates.Rate(requests_per_minute=9, tokens_per_minute=9), 1) == 0

    store.run(presence.lasted(store.keys, "observe|a model", 1.5))

    assert len(store.client.keys(f"{store.keys.prefix}:lock:*")) >= 6
    assert breaches(store) == []


@pytest.mark.one_server
@pytest.mark.parametrize("work", ["due_observe", "due_reflect"])
def test_scopes_that_wait_as_tasks_are_no_breach(store, work):
    index = getattr(store.keys, work)
    filled(store)
    store.client.zadd(index, {"harold": 1})
    (claimed,) = store.run(due.claim(index, 5))

    assert store.client.exists(queued(index))
    assert breaches(store) == []

    store.client.rename(queued(index), queued(index + "s"))
    assert Breach(queued(index + "s"), "is no name of ours") in breaches(store)
    store.run(due.done(index, claimed))
    store.client.delete(queued(index + "s"))


def test_webhooks_and_what_waits_for_them_are_no_breach(store):
    webhook = store.run(webhook_records.add(store.keys, "https://example.org", (), (), allow_private=False))
    told = [Event(kind="failed", resource="harold")] * 2
    store.run(event_stream.publish(store.keys, told, event_stream.Caps(100, 10), 1))
    store.run(webhook_queue.fan_out(store.keys, [webhook], 10))
    first, _ = store.run(webhook_queue.due_now(store.keys, webhook.id, store.run(due.server_ms()), 2))
    store.run(webhook_queue.attempted(store.keys, webhook.id, first, "dead", "answered 500"))
    store.run(due.claim(store.keys.due_webhooks, 1))

    assert store.client.exists(store.keys.waiting(webhook.id), store.keys.dead(webhook.id)) == 2
    assert breaches(store) == []


def test_members_that_wait_for_adoption_are_no_breach(store):
    filled(store)
    write_plainly(store, b'{"role":"user","content":"no tokens here"}', member(7), b"not even JSON")

    assert breaches(store) == []


def test_a_scope_that_rests_below_its_wake_need_not_be_in_the_index(store):
    push(store, 1)
    store.client.hset(key_of(store, "tokens"), "*wake", 11)
    store.client.delete(store.keys.due_observe)

    assert breaches(store) == []


def test_a_breach_that_heals_while_it_is_looked_at_is_not_reported(store):
    filled(store)
    broken = key_of(store, "record", HAROLD)
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
    "an unknown key": (
        lambda s: s.client.set(key_of(s, "lock", "x").replace("lock", "luck"), 1, ex=9),
        "luck:x",
        "no name",
    ),
    "a living key with a TTL": (lambda s: s.client.expire(key_of(s, "messages", "t1"), 900), "messages:t1", "no TTL"),
    "a key of the wrong type": (
        lambda s: (s.client.delete(key_of(s, "threads")), s.client.set(key_of(s, "threads"), 1)),
        "threads",
        "is a string",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_was_broken_by_hand_is_named(store, what):
    break_it, where, says = BREAKS[what]
    filled(store)
    break_it(store)

    told = breaches(store)

    assert [b for b in told if b.where == f"{store.keys.of('harold').base}:{where}" and says in b.what], told


@pytest.mark.parametrize("name", ["source", "sources"])
def test_a_key_that_must_expire_and_does_not_is_named(store, name):
    filled(store)
    (victim, *_) = sorted(store.client.scan_iter(f"{store.keys.prefix}:*:{name}:*"))
    store.client.persist(victim)

    assert breaches(store) == [Breach(victim.decode(), "has no TTL and would stay for ever")]
    store.client.expire(victim, 60)


@pytest.mark.parametrize("work", ["raw", "sealed", "forced"])
def test_a_due_scope_missing_from_the_index_is_named(store, work):
    push(store, 1, 2)
    if work != "raw":
        store.run(sealing(store, "c1", 1, 2))
    if work == "forced":
        store.run(chunks.buffer(store.keys, "harold", _noted("c1"), "w"))
        store.run(requests.force(store.keys, HAROLD, "force"))
    store.client.delete(store.keys.due_observe)

    assert [breach.where for breach in breaches(store)] == ["harold"]


def _noted(chunk):
    return Observation(id=chunk, thread_id="t1", text="* noted", message_ids=("m1", "m2"))


def test_a_paused_scope_need_not_be_in_the_index(store):
    seal(store, "c1", 1)
    store.run(requests.pause(store.keys, "harold", on=True))
    store.client.delete(store.keys.due_observe)

    assert breaches(store) == []


def test_a_mark_for_the_other_scope_will_do(store):
    push(store, 1)
    store.client.delete(store.keys.due_observe)
    store.run(due.mark(store.keys.due_observe, [Scope("harold", "t1")]))

    assert breaches(store) == []


def test_thread_scope_is_walked_like_resource_scope(store):
    scope = Scope("harold", "t1")
    observed(store, "o1", 1, 2, scope=scope)
    ready(store, "c2", 3, scope=scope)
    store.run(due.mark(store.keys.due_observe, [scope]))

    assert breaches(store) == []
    store.client.hincrby(key_of(store, "record", scope), "seq", -1)
    assert [breach.where for breach in breaches(store)] == [key_of(store, "chunks", scope)]


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
    resources = {breach.where.split("}")[0].rpartition("{")[2] for breach in breaches(store)}

    assert {"ada", "harold"} <= resources
