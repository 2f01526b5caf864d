"""erase: what is named goes from every tier at once, nothing else changes, and whatever came meanwhile stops or outlives it."""

import json

import pytest
from scene import (
    HAROLD,
    TTL,
    activate,
    adopt,
    at_step,
    breaches,
    buffer,
    disturbed,
    entries,
    expiring,
    exported,
    filled,
    interrupted,
    message,
    moving,
    nothing_changes,
    observed,
    push,
    quarantined,
    ready,
    record,
    reflect,
    restored,
    seal,
    unobservable,
    words,
    write_plainly,
)
from stores import empty, fresh

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.identity import KnownId, Said
from om_api.domain.values import Outcome, Scope
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.erasing.erase import Eraser, a_message, a_text, an_observation
from om_api.store.memory import reading, requests, scope_state
from om_api.store.memory.adopt import rejection
from om_api.store.memory.amend import amend
from om_api.store.memory.known import held_records
from om_api.store.memory.reflect import draft


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


def test_erase_takes_one_message_for_good_and_leaves_every_other(store):
    for n in fresh(store, [1, 3, 5, 7, 10, 31]):
        filled(store)
        before = kept(store)
        assert f'turn {n}\\"'.encode() in exported(store)
        assert [message.id for message in erase(store, f"m{n}").messages] == [f"m{n}"]
        push(store, n, thread="t2" if n > 30 else "t1")  # its id stays known
        assert kept(store).keys() == before.keys() - {f"m{n}"}, n
        assert f'turn {n}\\"'.encode() not in exported(store), n
        assert sound(store), n


def test_what_is_left_of_an_observation_is_a_chunk_that_is_observed_again(store):
    filled(store)
    request = store.run(requests.force(store.keys, HAROLD, "force"))
    assert "o2" in erase(store, "m3").observed_again
    assert in_force(store) == ["o3"]
    first, *_ = chunks(store)
    assert (first.ready, first.messages, first.tokens, first.thread) == (False, 1, 10, "t1")
    assert store.client.ttl(store.keys.of("harold").sealed(first.id)) == -1
    assert sound(store)
    assert buffer(store, first.id) is Outcome.BUFFERED
    assert activate(store, first.id) is Outcome.ACTIVATED
    assert kept(store)["m4"] == "source"
    assert store.run(requests.requests(store.keys, HAROLD)) == {"force": request.encode()}
    assert sound(store)


def test_a_dry_run_tells_all_lines_of_an_observation_that_is_taken_apart(store):
    for messages in fresh(store, [(1,), (1, 2)]):
        observed(store, "o1", *messages)
        (noted,) = [each.observation.text for each in store.run(reading.observations(store.keys, HAROLD))]
        would = store.run(eraser(store).erase("harold", a_message("harold", "m1", None), dry_run=True))

        assert [(each.id, each.lines) for each in would.observations] == [("o1", tuple(noted.split("\n")))]
        assert would.counts()["observations"] == 1
        assert erase(store, "m1") == would


def test_what_is_observed_again_stands_by_its_time_whenever_it_came(store):
    for order in fresh(store, [("m1", "m3", "m6"), ("m6", "m1", "m3")]):
        for n in (1, 3, 5):
            observed(store, f"o{n}", n, n + 1)
        ready(store, "c7", 7, 8)
        for name in order:
            erase(store, name)
        of = store.keys.of("harold")
        sealed = [store.client.zrange(of.sealed(chunk.id), 0, -1) for chunk in chunks(store)]
        assert [[json.loads(m)["id"] for m in some] for some in sealed] == [["m2"], ["m4"], ["m5"], ["m7", "m8"]]
        assert sound(store)
    empty(store)  # a chunk that is older comes first
    observed(store, "o5", 5, 6)
    ready(store, "c1", 1, 2)
    erase(store, "m5")
    assert [chunk.messages for chunk in chunks(store)] == [2, 1]


def test_a_chunk_or_an_observation_with_nothing_left_is_gone(store):
    for tier in fresh(store, [seal, observed]):
        tier(store, "c1", 1)
        assert erase(store, "m1").observed_again == ()
        assert (in_force(store), chunks(store), kept(store), record(store).chunk_tokens) == ([], [], {}, 0)
        assert record(store).observed_messages == 0
        assert sound(store)


def test_a_worker_before_a_model_with_an_older_chunk_is_refused(store):
    seal(store, "c1", 1, 2)
    erase(store, "m1")
    assert store.client.exists(store.keys.of("harold").chunk("c1")) == 0
    (chunk,) = chunks(store)
    assert (chunk.messages, chunk.attempts, chunk.id == "c1") == (1, 0, False)

    empty(store)  # with a chunk beside it; one that is ready stays
    observed(store, "o1", 1, 2)
    ready(store, "c2", 3)
    seal(store, "c3", 4)
    erase(store, "m1")
    names = [chunk.id for chunk in chunks(store)]
    assert ("c2" in names, "c3" in names, kept(store)["m4"]) == (True, False, "sealed")
    assert sound(store)
    empty(store)  # with what was sealed since the plan
    observed(store, "o1", 1)
    push(store, 2)
    store.run(interrupted(erasing(store, "m1"), "erase", lambda: seal(store, "c2", 2)))
    assert [chunk.id for chunk in chunks(store)] != ["c2"]
    assert kept(store) == {"m2": "sealed"}


def test_what_comes_between_plan_and_commit_is_kept_and_the_rest_planned_again(store):
    rows = {
        "a push": ("m11", lambda: push(store, 21)),
        "a seal": ("m3", lambda: seal(store, "c9", 22)),
        "a note": ("m8", lambda: buffer(store, "c5")),
        "an activation": ("m6", lambda: activate(store, "c4")),
        "a reflection": ("m3", lambda: reflect(store, "o2", text="* anew")),
        "an undo": ("m1", lambda: restored(store, 0)),
    }
    for row in fresh(store, rows):
        name, meanwhile = rows[row]
        filled(store)
        before = kept(store).keys()
        did = store.run(interrupted(erasing(store, name), "erase", meanwhile))

        assert did.outcome is Outcome.CLEARED, row
        assert kept(store).keys() >= before - {name}, row
        assert name not in kept(store), row
        assert sound(store), row


@pytest.mark.parametrize(
    "number", [2, 5, *(pytest.param(n, marks=pytest.mark.nightly) for n in (0, 1, 3, 4, 6, 7, 8, 9))]
)
def test_what_moves_on_while_it_is_looked_for_is_found(store, number):
    rows = {
        "m11": lambda: seal(store, "c9", 10, 11),
        "m6": lambda: activate(store, "c4"),
        "m1": lambda: restored(store, 0),
    }
    for name in fresh(store, rows):
        filled(store)
        before = kept(store).keys()
        did = store.run(at_step(erasing(store, name), number, rows[name]))

        assert did.outcome is Outcome.CLEARED, name
        assert kept(store).keys() == before - {name}, name
        assert sound(store), name


def test_what_is_rejected_meanwhile_is_found(store):
    """Time 0: the quarantine is read. Time 1: a worker gives a message up, and puts it there. Time 2: it is erased."""
    for number in fresh(store, range(10)):
        seal(store, "c1", 1)
        seal(store, "c2", 2)
        did = store.run(at_step(erasing(store, "m1"), number, lambda: unobservable(store, "c1", 1)))
        assert did.outcome is Outcome.CLEARED, number
        assert (list(kept(store)), entries(store)) == (["m2"], []), number
        assert sound(store), number
    for number in fresh(store, range(9)):
        push(store, 1)
        write_plainly(store, b'{"role":"nobody","content":"a secret"}')
        did = store.run(at_step(erasing_text(store, "secret"), number, lambda: store.run(adopt(store))))
        assert did.outcome is Outcome.CLEARED, number
        assert (list(kept(store)), entries(store)) == (["m1"], []), number


def test_what_changes_all_the_time_is_said_and_nothing_is_half_done(store):
    filled(store)
    numbers = iter(range(100, 200))
    steps = disturbed(erasing(store, "m3"), lambda: seal(store, f"c{(n := next(numbers))}", n))
    with pytest.raises(StoreError, match="harold changes faster than it can be erased from: repeat"):
        store.run(steps)
    assert "m3" in kept(store)
    assert sound(store)


def test_what_an_erased_message_grows_by_is_kept_alone(store):
    tiers = {
        "raw": lambda: push(store, 1),
        "sealed": lambda: seal(store, "c1", 1),
        "observed": lambda: observed(store, "o1", 1),
    }
    for tier in fresh(store, tiers):
        tiers[tier]()
        erase(store, "m1")
        more = message(1)
        more.content += " goes on"
        given, known = EncodedMessage(more, encode_message(more)), KnownId.of(known_records(store)[0])
        assert store.run(amend(store.keys, given, known, words)) is Said.GROWN, tier
        assert kept(store) == {"m1+1": "messages"}, tier
        assert sound(store), tier


def test_a_reflected_observation_is_forgotten_with_what_a_generation_tells_of_it(store):
    for dropped in fresh(store, [(), ("oslo",)]):
        observed(store, "oslo", 1)
        observed(store, "graz", 2)
        told = "" if dropped else "* was noted: Oslo\n"
        reflect(store, "oslo", "graz", text=f"{told}* noted Graz, and something else entirely", dropped=dropped)
        done = store.run(eraser(store).erase("harold", an_observation("harold", "oslo")))

        (generation,) = store.run(reading.generations(store.keys, HAROLD))
        assert done.outcome is Outcome.CLEARED
        assert (generation.observation_ids, generation.dropped_ids) == (("graz",), ("oslo",)), dropped
        assert generation.text == "* noted Graz, and something else entirely"
        assert record(store).reflection_tokens == generation.tokens
        assert "m1" not in kept(store)
        assert sound(store)


def test_an_observation_whose_messages_have_expired_loses_what_is_erased(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    store.client.delete(*expiring(store, "o1"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="forget that observation, or erase by a text"):
        erase(store, "m1")
    store.run(erasing_text(store, "m1"))
    assert "m1" not in repr(store.run(reading.observations(store.keys, HAROLD)))
    assert in_force(store) == ["o1", "o2"]
    done = store.run(erasing_text(store, "noted o1"))

    assert (in_force(store), done.observed_again) == (["o2"], ())
    assert record(store).observation_count == 1
    assert sound(store)


def test_notes_that_tell_it_though_no_message_does_are_made_anew(store):
    observed(store, "o1", 1)
    done = store.run(erasing_text(store, "noted o1"))

    assert (done.messages, done.observed_again, in_force(store)) == ((), ("o1",), [])
    assert kept(store) == {"m1": "sealed"}
    empty(store)  # what was reflected can still be restored
    observed(store, "o1", 1, 2)
    reflect(store, "o1")
    erase(store, "m1")
    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store) == ["o1"]
    assert sound(store)


def test_fields_that_hold_or_were_noted_from_it_go(store):
    ready(store, "c1", 1, 2, task="mend the roof")
    activate(store, "c1")
    thread = store.keys.of("harold").thread("t1")
    store.client.hset(thread, mapping={"title": "the Door code", "metadata": "{}"})
    done = erase(store, "m1")
    assert {*store.client.hgetall(thread)} == {b"title", b"metadata", b"observed_at"}
    assert "current_task" in {each.id for each in done.fields}
    store.run(erasing_text(store, "door code"))
    assert {*store.client.hgetall(thread)} == {b"metadata", b"observed_at"}


def test_foreign_fields_of_a_generation_survive_an_erase(store):
    observed(store, "o1", 1, 2)
    reflect(store, "o1", text="* one secret\n* two")
    stored = store.keys.of("harold").reflections(HAROLD)
    ((was, n),) = store.client.zrange(stored, 0, -1, withscores=True)
    store.client.zrem(stored, was)
    store.client.zadd(stored, {json.dumps({**json.loads(was), "foreign": 7}): n})
    store.run(erasing_text(store, "secret"))
    (left,) = map(json.loads, store.client.zrange(stored, 0, -1))
    assert (left["foreign"], left["text"]) == (7, "* two")


def test_a_placeholder_goes_with_the_entry_that_holds_its_message(store):
    quarantined(store)
    activate(store, "c1")
    done = erase(store, "m1")

    assert len(done.rejected) == 1
    assert (entries(store), in_force(store), kept(store)) == ([], [], {})
    assert sound(store)
    rejected = store.keys.of("harold").rejected  # as long as it was, and another: it is read again
    one, other, secret = (rejection("malformed", name, "t1", "once", 1) for name in (b"{one", b"{other", b"{turn 1"))
    push(store, 10)
    store.client.rpush(rejected, one, other)

    def meanwhile():
        store.client.lrem(rejected, 1, one)
        store.client.rpush(rejected, secret)

    did = store.run(interrupted(erasing_text(store, "turn 1"), "erase", meanwhile))
    assert did.outcome is Outcome.CLEARED
    assert store.client.lrange(rejected, 0, -1) == [other]


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
    text = '* common\n<thread id="t1">\n* a secret\n* own\n</thread>\n<thread id="t2">\n* other\n</thread>'
    reflect(store, "o1", "o2", text=text)
    store.run(moving(store))
    store.run(moving(store, "resource"))
    store.run(erasing_text(store, "secret"))
    (generation,) = store.run(reading.generations(store.keys, HAROLD))

    assert "secret" not in generation.text
    assert "* own" in generation.text
    assert sound(store)


def test_what_only_a_draft_says_goes_with_it(store):
    for says in fresh(store, ["proposal", "comment"]):
        observed(store, "o1", 1)
        made = {"n": 1, "text": "* A word of its own", "created_at": 1, "tokens": 5}
        drafted = {"generation": {**made, "text": made["text"] + " zanzibar" * (says == "proposal")}, "seqs": [1.0]}
        comment = {"comment": "leave\nZanzibar out"} if says == "comment" else {}
        store.client.set(store.keys.of("harold").draft(HAROLD), json.dumps(drafted | comment))
        would = store.run(eraser(store).erase("harold", a_text("zanzibar"), dry_run=True))

        assert would.outcome is Outcome.CLEARED
        assert [(each.id, "anzibar" in repr(each.lines)) for each in would.generations] == [("draft", True)], says
        assert store.run(erasing_text(store, "zanzibar")) == would
        assert "anzibar" not in repr(exported(store)) + repr(store.client.get(store.keys.of("harold").draft(HAROLD)))
        assert in_force(store) == ["o1"]
        assert store.run(erasing_text(store, "zanzibar")).outcome is Outcome.REST
        assert sound(store)
        store.run(draft(store.keys, HAROLD, record(store).epoch, 0, b"* a secret", TTL))
        erase(store, "m1")
        assert store.client.exists(store.keys.of("harold").draft(HAROLD)) == 0
