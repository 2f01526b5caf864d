"""erase: what is named goes from every tier at once, nothing else changes, and whatever came meanwhile stops or outlives it."""

import json
from contextlib import suppress

import pytest
from scene import (
    HAROLD,
    TTL,
    activate,
    adopt,
    at_step,
    breaches,
    buffer,
    entries,
    expiring,
    exported,
    filled,
    interrupted,
    member,
    message,
    moving,
    nothing_changes,
    observed,
    push,
    quarantined,
    ready,
    record,
    reflect,
    reflecting,
    restored,
    seal,
    unobservable,
    words,
    write_plainly,
)

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.identity import KnownId, Said
from om_api.domain.values import Outcome, Scope
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.erasing.erase import Eraser, a_message, a_text, an_observation
from om_api.store.memory import decoding, quarantine, reading, requests, scope_state
from om_api.store.memory.adopt import rejection
from om_api.store.memory.amend import amend
from om_api.store.memory.known import held_records
from om_api.store.memory.reflect import draft

FOLDED = '* common\n<thread id="t1">\n* a secret\n* own\n</thread>\n<thread id="t2">\n* other\n</thread>'


def eraser(store, *scopes):
    def every():
        return list(scopes or [HAROLD])
        yield

    return Eraser(store.keys, store.clock, every, words, lambda _: None)


def erasing(store, name, thread=None, *scopes):
    return eraser(store, *scopes).erase("harold", a_message("harold", name, thread))


def erasing_text(store, text):
    return eraser(store).erase("harold", a_text(text))


def known_records(store):
    return list(held_records(store.client.hgetall(store.keys.of("harold").known("t1"))).values())


def erase(store, name, thread=None, *scopes):
    return store.run(erasing(store, name, thread, *scopes))


def chunks(store, scope=HAROLD):
    return store.run(scope_state.look(store.keys, scope)).chunks


def in_force(store, scope=HAROLD):
    return [stored.observation.id for stored in store.run(reading.observations(store.keys, scope))]


def kept(store):
    """Every id, by the kind of place where its message is."""
    base, found = store.keys.of("harold").base, {}
    for key in store.client.scan_iter(f"{base}:*", count=1000):
        kind = key.decode().removeprefix(f"{base}:").split(":")[0]
        if kind in {"messages", "sealed", "source"}:
            found |= {json.loads(m)["id"]: kind for m in store.client.zrange(key, 0, -1)}
    return found


def sound(store):
    return breaches(store) == []


@pytest.mark.parametrize("n", [1, 3, 5, 7, 10, 31, 33])
def test_one_message_goes_and_every_other_stays(store, n):
    filled(store)
    before = kept(store)
    done = erase(store, f"m{n}")

    assert [message.id for message in done.messages] == [f"m{n}"]
    assert kept(store).keys() == before.keys() - {f"m{n}"}
    assert member(n) not in repr(exported(store)).encode()
    assert sound(store)


def test_what_is_left_behind_an_observation_is_a_chunk_before_all_others(store):
    filled(store)
    done = erase(store, "m3")

    assert "o2" in done.observed_again
    assert in_force(store) == ["o3"]
    first, *_ = chunks(store)
    assert (first.ready, first.messages, first.tokens, first.thread) == (False, 1, 10, "t1")
    assert store.client.ttl(store.keys.of("harold").sealed(first.id)) == -1
    assert sound(store)


@pytest.mark.parametrize("messages", [(1,), (1, 2)])
def test_all_lines_of_an_observation_that_is_taken_apart_are_told_before_it_goes(store, messages):
    observed(store, "o1", *messages)
    (noted,) = [each.observation.text for each in store.run(reading.observations(store.keys, HAROLD))]
    would = store.run(eraser(store).erase("harold", a_message("harold", "m1", None), dry_run=True))

    assert [(each.id, each.lines) for each in would.observations] == [("o1", tuple(noted.split("\n")))]
    assert would.counts()["observations"] == 1
    assert erase(store, "m1") == would


def test_it_can_be_observed_and_activated_again(store):
    filled(store)
    erase(store, "m3")
    first, *_ = chunks(store)

    assert buffer(store, first.id) is Outcome.BUFFERED
    assert activate(store, first.id) is Outcome.ACTIVATED
    assert kept(store)["m4"] == "source"
    assert sound(store)


@pytest.mark.parametrize("order", [("m1", "m3", "m6"), ("m6", "m1", "m3"), ("m3", "m6", "m1")])
def test_what_is_observed_again_stands_by_its_time_whenever_it_came(store, order):
    for n in (1, 3, 5):
        observed(store, f"o{n}", n, n + 1)
    ready(store, "c7", 7, 8)
    for name in order:
        erase(store, name)

    of = store.keys.of("harold")
    sealed = [store.client.zrange(of.sealed(chunk.id), 0, -1) for chunk in chunks(store)]
    assert [[json.loads(m)["id"] for m in some] for some in sealed] == [["m2"], ["m4"], ["m5"], ["m7", "m8"]]
    assert sound(store)


def test_what_is_observed_again_stands_behind_what_is_older(store):
    observed(store, "o5", 5, 6)
    ready(store, "c1", 1, 2)
    erase(store, "m5")

    assert [chunk.messages for chunk in chunks(store)] == [2, 1]
    assert sound(store)


def test_an_observation_with_nothing_left_behind_it_is_gone(store):
    observed(store, "o1", 1)
    done = erase(store, "m1")

    assert (done.observed_again, in_force(store), chunks(store), kept(store)) == ((), [], [], {})
    assert record(store).observed_messages == 0
    assert sound(store)


def test_a_chunk_with_nothing_left_in_it_is_gone(store):
    seal(store, "c1", 1)
    erase(store, "m1")

    assert (chunks(store), kept(store), record(store).chunk_tokens) == ([], {}, 0)
    assert sound(store)


def test_a_worker_that_had_it_before_a_model_is_refused(store):
    seal(store, "c1", 1, 2)
    erase(store, "m1")

    assert store.client.exists(store.keys.of("harold").chunk("c1")) == 0
    (chunk,) = chunks(store)
    assert (chunk.messages, chunk.attempts, chunk.id == "c1") == (1, 0, False)


def test_whoever_is_before_a_model_beside_it_is_refused_too(store):
    observed(store, "o1", 1, 2)
    ready(store, "c2", 3)
    seal(store, "c3", 4)
    erase(store, "m1")

    names = [chunk.id for chunk in chunks(store)]
    assert "c2" in names
    assert "c3" not in names
    assert kept(store)["m4"] == "sealed"
    assert sound(store)


def test_whoever_is_before_a_model_with_what_was_sealed_since_the_plan_is_refused(store):
    observed(store, "o1", 1)
    push(store, 2)
    store.run(interrupted(erasing(store, "m1"), "erase", lambda: seal(store, "c2", 2)))

    assert [chunk.id for chunk in chunks(store)] != ["c2"]
    assert kept(store) == {"m2": "sealed"}


def test_its_id_stays_known(store):
    filled(store)
    for n in (1, 3, 7, 10):
        erase(store, f"m{n}")
        push(store, n)

    assert kept(store).keys() & {"m1", "m3", "m7", "m10"} == set()
    assert sound(store)


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda store: push(store, 21),
        lambda store: seal(store, "c9", 22),
        lambda store: buffer(store, "c5"),
        lambda store: activate(store, "c4"),
        lambda store: reflect(store, "o2", text="* anew"),
        lambda store: restored(store, 0),
    ],
)
@pytest.mark.parametrize("name", ["m1", "m3", "m6", "m8", "m11"])
def test_what_comes_between_plan_and_commit_is_kept_and_the_rest_planned_again(store, meanwhile, name):
    filled(store)
    before = kept(store).keys()
    did = store.run(interrupted(erasing(store, name), "erase", lambda: meanwhile(store)))

    assert did.outcome is Outcome.CLEARED
    assert kept(store).keys() >= before - {name}
    assert name not in kept(store)
    assert sound(store)


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize(
    ("name", "meanwhile"),
    [
        ("m11", lambda store: seal(store, "c9", 10, 11)),
        ("m6", lambda store: activate(store, "c4")),
        ("m1", lambda store: restored(store, 0)),
    ],
)
def test_what_moves_on_while_it_is_looked_for_is_found(store, name, meanwhile, number):
    filled(store)
    before = kept(store).keys()

    did = store.run(at_step(erasing(store, name), number, lambda: meanwhile(store)))

    assert did.outcome is Outcome.CLEARED
    assert kept(store).keys() == before - {name}
    assert sound(store)


@pytest.mark.parametrize("number", range(10))
def test_what_no_model_could_observe_meanwhile_leaves_the_quarantine_too(store, number):
    """Time 0: the quarantine is read. Time 1: a worker gives the message up, and puts it there. Time 2: it is erased."""
    seal(store, "c1", 1)
    seal(store, "c2", 2)

    did = store.run(at_step(erasing(store, "m1"), number, lambda: unobservable(store, "c1", 1)))

    assert did.outcome is Outcome.CLEARED
    assert (list(kept(store)), entries(store)) == (["m2"], [])
    assert sound(store)


@pytest.mark.parametrize("number", range(9))
def test_what_is_rejected_meanwhile_and_stands_nowhere_else_is_found(store, number):
    push(store, 1)
    write_plainly(store, b'{"role":"nobody","content":"a secret"}')

    did = store.run(at_step(erasing_text(store, "secret"), number, lambda: store.run(adopt(store))))

    assert did.outcome is Outcome.CLEARED
    assert (list(kept(store)), entries(store)) == (["m1"], [])


def test_a_quarantine_that_is_as_long_as_it_was_and_another_is_read_again(store):
    """Catches who counts its entries only: one went, as another came."""
    rejected = store.keys.of("harold").rejected
    one, other, secret = (rejection("malformed", name, "t1", "once", 1) for name in (b"{one", b"{other", b"{turn 1"))
    push(store, 1)
    store.client.rpush(rejected, one, other)

    def meanwhile():
        store.client.lrem(rejected, 1, one)
        store.client.rpush(rejected, secret)

    did = store.run(interrupted(erasing_text(store, "turn 1"), "erase", meanwhile))
    assert did.outcome is Outcome.CLEARED
    assert store.client.lrange(rejected, 0, -1) == [other]


def test_two_memories_are_erased_from_at_one_go_with_their_quarantine(store):
    """Catches a second memory that takes what the first one removed for somebody else's doing."""
    one, two = Scope("harold", "t1"), Scope("harold", "t2")
    quarantined(store, "c1", 1, scope=one)
    observed(store, "o2", 31, thread="t2", scope=two)
    steps, reply, calls = eraser(store, one, two).erase("harold", a_text("turn")), None, list[str]()
    with suppress(StopIteration):
        while True:
            step = steps.send(reply)
            calls.append(getattr(step, "name", ""))
            reply = store.run(once(step))

    assert calls.count("erase") == 2
    assert (kept(store), entries(store)) == ({}, [])


def once(step):
    return (yield step)


@pytest.mark.parametrize("number", range(10))
def test_what_is_retried_while_it_is_looked_for_is_found(store, number):
    of = store.keys.of("harold")
    push(store, 1)
    entry = rejection("malformed", b'{"id":"p-2","role":"user","content":"a secret"}', "t1", "once", 1)
    store.client.rpush(of.rejected, entry)

    def retried():
        store.run(quarantine.retry(store.keys, "harold", quarantine.as_rejected(entry).id, "resource"))

    did = store.run(at_step(erasing_text(store, "secret"), number, retried))

    assert did.outcome is Outcome.CLEARED
    assert "secret" not in repr(exported(store)) + repr(entries(store))
    assert list(kept(store)) == ["m1"]
    assert sound(store)


def test_what_changes_all_the_time_is_said_and_nothing_is_half_done(store):
    filled(store)
    steps, numbers = erasing(store, "m3"), iter(range(100, 200))

    def always(inner):
        reply = None
        try:
            while True:
                step = inner.send(reply)
                if getattr(step, "name", "") == "erase":
                    n = next(numbers)
                    seal(store, f"c{n}", n)
                reply = yield step
        except StopIteration as end:
            return end.value

    with pytest.raises(StoreError, match="harold changes faster than it can be erased from: repeat"):
        store.run(always(steps))
    assert "m3" in kept(store)
    assert sound(store)


def test_a_reflection_that_was_thought_from_the_generation_is_refused(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text="* a secret")
    observed(store, "o2", 2)
    thought = reflecting(store, "o2", text="* a secret and more")

    def erased():
        store.run(erasing_text(store, "secret"))

    assert store.run(interrupted(thought, "reflect", erased)) is Outcome.SUPERSEDED
    assert "secret" not in store.run(reading.generations(store.keys, HAROLD))[-1].text
    assert sound(store)


def test_a_reflection_that_was_drafted_is_gone(store):
    observed(store, "o1", 1, 2)
    store.run(draft(store.keys, HAROLD, record(store).epoch, 0, b"* a secret", TTL))
    erase(store, "m1")

    assert store.client.exists(store.keys.of("harold").draft(HAROLD)) == 0


@pytest.mark.parametrize(
    "tier", [push, lambda store, n: seal(store, "c1", n), lambda store, n: observed(store, "o1", n)]
)
def test_what_an_erased_message_grows_by_is_kept_alone(store, tier):
    tier(store, 1)
    erase(store, "m1")
    more = message(1)
    more.content += " goes on"
    given, known = EncodedMessage(more, encode_message(more)), KnownId.of(known_records(store)[0])
    assert store.run(amend(store.keys, given, known, words)) is Said.GROWN

    assert kept(store) == {"m1+1": "messages"}
    assert sound(store)


def test_a_reflected_observation_is_forgotten_with_what_a_generation_tells_of_it(store):
    observed(store, "oslo", 1)
    observed(store, "graz", 2)
    reflect(store, "oslo", "graz", text="* was noted: Oslo\n* noted Graz, and something else entirely")
    done = store.run(eraser(store).erase("harold", an_observation("harold", "oslo")))

    (generation,) = store.run(reading.generations(store.keys, HAROLD))
    assert done.outcome is Outcome.CLEARED
    assert (generation.observation_ids, generation.dropped_ids) == (("graz",), ("oslo",))
    assert generation.text == "* noted Graz, and something else entirely"
    assert record(store).reflection_tokens == generation.tokens
    assert "m1" not in kept(store)
    assert sound(store)


def test_an_observation_that_a_reflection_let_go_of_is_dropped_once(store):
    observed(store, "oslo", 1)
    observed(store, "graz", 2)
    reflect(store, "oslo", "graz", text="* noted Graz, and something else entirely", dropped=("oslo",))
    store.run(eraser(store).erase("harold", an_observation("harold", "oslo")))

    (generation,) = store.run(reading.generations(store.keys, HAROLD))
    assert (generation.observation_ids, generation.dropped_ids) == (("graz",), ("oslo",))


def test_what_is_left_can_still_be_restored(store):
    observed(store, "o1", 1, 2)
    reflect(store, "o1")
    erase(store, "m1")

    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store) == ["o1"]
    assert sound(store)


def test_an_observation_whose_messages_have_expired_loses_its_lines_or_goes(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    store.client.delete(*expiring(store, "o1"))
    done = store.run(erasing_text(store, "noted o1"))

    assert (in_force(store), done.observed_again) == (["o2"], ())
    assert record(store).observation_count == 1
    assert sound(store)


def test_a_text_in_the_id_of_a_message_that_has_expired_is_gone(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    store.client.delete(*expiring(store, "o1"))
    store.run(erasing_text(store, "m1"))

    assert "m1" not in repr(store.run(reading.observations(store.keys, HAROLD)))
    assert in_force(store) == ["o1", "o2"]


def test_notes_that_tell_it_though_no_message_does_are_made_anew(store):
    observed(store, "o1", 1)
    done = store.run(erasing_text(store, "noted o1"))

    assert (done.messages, done.observed_again, in_force(store)) == ((), ("o1",), [])
    assert kept(store) == {"m1": "sealed"}
    assert sound(store)


def test_a_message_that_expired_is_refused_with_what_to_do(store):
    observed(store, "o1", 1)
    store.client.delete(*expiring(store, "o1"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="forget that observation, or erase by a text"):
        erase(store, "m1")


def test_a_task_that_was_noted_from_it_goes(store):
    ready(store, "c1", 1, 2, task="mend the roof")
    activate(store, "c1")
    of = store.keys.of("harold")
    store.client.hset(of.thread("t1"), "title", "turn of the screw")
    done = erase(store, "m1")

    assert {*store.client.hgetall(of.thread("t1"))} == {b"title", b"observed_at"}
    assert "current_task" in {each.id for each in done.fields}


def test_a_field_that_somebody_wrote_goes_with_the_text_it_holds(store):
    push(store, 1)
    of = store.keys.of("harold")
    store.client.hset(of.thread("t1"), mapping={"title": "the Door code", "metadata": "{}"})
    store.run(erasing_text(store, "door code"))

    assert store.client.hgetall(of.thread("t1")) == {b"metadata": b"{}"}


def test_a_placeholder_goes_with_the_entry_that_holds_its_message(store):
    quarantined(store)
    activate(store, "c1")
    done = erase(store, "m1")

    assert len(done.rejected) == 1
    assert (entries(store), in_force(store), kept(store)) == ([], [], {})
    assert sound(store)


def test_a_drain_and_a_request_survive(store):
    filled(store)
    request = store.run(requests.force(store.keys, HAROLD, "force"))
    erase(store, "m3")

    assert store.run(requests.requests(store.keys, HAROLD)) == {"force": request.encode()}


def test_in_thread_scope_each_memory_changes_by_itself(store):
    one, two = Scope("harold", "t1"), Scope("harold", "t2")
    observed(store, "o1", 1, 2, scope=one)
    observed(store, "o2", 31, 32, thread="t2", scope=two)
    epoch = record(store, two).epoch
    erase(store, "m1", None, one, two)

    assert (in_force(store, one), in_force(store, two), record(store, two).epoch) == ([], ["o2"], epoch)
    assert sound(store)


def test_a_moved_text_stays_made_of_its_pieces(store):
    observed(store, "o1", 1)
    observed(store, "o2", 31, thread="t2")
    reflect(
        store,
        "o1",
        "o2",
        text='* common\n<thread id="t1">\n* a secret\n* own\n</thread>\n<thread id="t2">\n* other\n</thread>',
    )
    store.run(moving(store))
    store.run(moving(store, "resource"))
    store.run(erasing_text(store, "secret"))
    (generation,) = store.run(reading.generations(store.keys, HAROLD))

    assert "secret" not in generation.text
    assert "* own" in generation.text
    assert sound(store)


def test_fields_that_we_do_not_know_are_kept(store):
    observed(store, "o1", 1, 2)
    reflect(store, "o1", text="* one secret\n* two")
    of = store.keys.of("harold")
    ((was, n),) = store.client.zrange(of.reflections(HAROLD), 0, -1, withscores=True)
    store.client.zrem(of.reflections(HAROLD), was)
    store.client.zadd(of.reflections(HAROLD), {json.dumps({**json.loads(was), "foreign": 7}): n})
    store.run(erasing_text(store, "secret"))
    ((member_, _),) = store.client.zrange(of.reflections(HAROLD), 0, -1, withscores=True)

    assert json.loads(member_)["foreign"] == 7
    assert decoding.as_generation(member_).text == "* two"


@pytest.mark.parametrize("says", ["proposal", "comment"])
def test_what_only_a_draft_says_goes_with_it(store, says):
    observed(store, "o1", 1)
    made = {"n": 1, "text": "* A word of its own", "created_at": 1, "tokens": 5}
    drafted = {"generation": {**made, "text": made["text"] + " zanzibar" * (says == "proposal")}, "seqs": [1.0]}
    comment = {"comment": "leave\nZanzibar out"} if says == "comment" else {}
    store.client.set(store.keys.of("harold").draft(HAROLD), json.dumps(drafted | comment))
    would = store.run(eraser(store).erase("harold", a_text("zanzibar"), dry_run=True))

    assert would.outcome is Outcome.CLEARED
    assert [(each.id, "anzibar" in repr(each.lines)) for each in would.generations] == [("draft", True)]
    assert store.run(erasing_text(store, "zanzibar")) == would
    assert "anzibar" not in repr(exported(store)) + repr(store.client.get(store.keys.of("harold").draft(HAROLD)))
    assert in_force(store) == ["o1"]
    assert store.run(erasing_text(store, "zanzibar")).outcome is Outcome.REST
    assert sound(store)
