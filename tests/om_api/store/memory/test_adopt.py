"""adopt: what plain ZADDs left is counted, or dropped, or quarantined; nothing is guessed from an old look."""

import itertools

import msgspec
import pytest
from scene import (
    AT,
    HAROLD,
    activate,
    adopt,
    call,
    counts,
    disturbed,
    emptied,
    interrupted,
    member,
    nothing_changes,
    observed,
    push,
    ready,
    record,
    seal,
    sealing,
    write_plainly,
)

from om_api.domain.values import Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import chunks, due, quarantine, scope_state
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.adopt import Adopted, older_members
from om_api.store.memory.known import recognise, records_of


def raw(store, thread="t1"):
    return store.client.zrange(store.keys.of("harold").messages(thread), 0, -1, withscores=True)


def texts(store):
    return [msgspec.json.decode(found)["content"] for found, _ in raw(store)]


def heard(store):
    """When t1 was last heard of, in Unix ms."""
    return store.run(scope_state.look(store.keys, HAROLD)).thread_times["t1"]


def reasons(store):
    return [entry.reason for entry in reversed(store.run(quarantine.entries(store.keys, "harold")))]


def grown(text, name="g"):
    return b'{"id":"%s","role":"user","content":"%s"}' % (name.encode(), text.encode())


def adopted(store):
    return store.run(adopt(store))


def test_adopt_counts_plain_members_beside_pushed_ones_once(store):
    with nothing_changes(store):
        assert adopted(store) == Adopted(0, 0, 0)
    push(store, 1)
    write_plainly(store, grown("three plain words", "p1"), member(2), b"broken")

    assert adopted(store) == Adopted(3, 0, 1)
    assert counts(store) == {"t1": 27, "#t1": 3, "*": 27}
    with nothing_changes(store):
        assert adopted(store) == Adopted(3, 0, 0)
    assert push(store, 2, tokens=99).duplicates == ("m2",)


def test_adopt_drops_copies_of_what_was_accepted_by_their_ids(store):
    """Breaks when copies are told by their bytes: a writer that dates its history anew would have it remembered twice."""
    again = msgspec.json.encode({**msgspec.json.decode(member(1)), "tokens": 99, "metadata": {"n": 2}})
    for tier, accept in {"raw": push, "sealed": seal, "source": observed}.items():
        accept(emptied(store), *([1] if tier == "raw" else ["c1", 1]))
        write_plainly(store, member(1), again, member(3), score=AT + 9_000)
        kept = ([member(1)] if tier == "raw" else []) + [member(3)]
        assert adopted(store) == Adopted(len(kept), 1 if tier == "raw" else 2, 0), tier
        assert [found for found, _ in raw(store)] in (kept, kept[::-1]), tier


def test_adopt_keeps_the_first_of_two_messages_with_one_id(store):
    push(store, 1)
    write_plainly(store, grown("late", "m1"), score=AT - 1)
    write_plainly(store, grown("a", "x"), grown("b", "x"))

    assert adopted(store) == Adopted(2, 0, 2)
    assert sorted(found for found, _ in raw(store)) == sorted([member(1), grown("a", "x")])
    said = "another message with the id {} was accepted first and says something else: write it under an id of its own"
    assert {reason.partition(", or")[0] for reason in reasons(store)} == {said.format("x"), said.format("m1")}
    assert [key for key in store.client.scan_iter(f"{store.keys.prefix}*") if store.client.ttl(key) >= 0] == []

    seal(emptied(store), "c1", 1)  # what is dropped or malformed does not keep a changed message
    write_plainly(store, member(1), b"broken", grown("a", "x"), grown("b", "x"))
    assert adopted(store) == Adopted(1, 1, 2)


def test_adopt_keeps_the_longest_form_of_a_raw_message_where_it_stands(store):
    write_plainly(store, grown("one"), grown("one two"), grown("one two three"))
    assert adopted(store) == Adopted(1, 2, 0)
    assert (texts(store), counts(store)) == (["one two three"], {"t1": 7, "#t1": 1, "*": 7})

    write_plainly(emptied(store), grown("one"), score=AT)
    adopted(store)
    push(store, 1)
    write_plainly(store, grown("one two"), score=AT + 9_000)
    assert adopted(store) == Adopted(2, 1, 0)
    assert (raw(store)[0], counts(store)) == ((grown("one two"), AT), {"t1": 16, "#t1": 2, "*": 16})
    write_plainly(store, grown("one"), score=AT + 9)
    assert adopted(store) == Adopted(2, 1, 0)
    assert raw(store)[0] == (grown("one two"), AT)


def sealed_member(store, text, chunk, tokens):
    steps = seal_steps.seal(store.keys, HAROLD, record(store).epoch, "t1", [text], tokens, chunk)
    assert store.run(steps) is Outcome.SEALED


def test_adopt_continues_a_sealed_message_in_a_further_one(store):
    write_plainly(store, grown("one"))
    adopted(store)
    sealed_member(store, grown("one"), "c1", 5)
    write_plainly(store, grown("one two"), score=AT + 9)
    assert adopted(store) == Adopted(1, 0, 0)
    ((found, at),) = raw(store)
    rest = msgspec.json.decode(found)
    assert (rest["id"], rest["content"], rest["metadata"]["continues"]["id"], at) == ("g+1", " two", "g", AT + 9)

    write_plainly(store, grown("one two three"), grown("one two"), score=AT + 20)
    assert adopted(store) == Adopted(1, 2, 0)
    assert texts(store) == [" two three"]
    sealed_member(store, raw(store)[0][0], "c2", 6)
    write_plainly(store, grown("one two three four"), score=AT + 30)
    adopted(store)
    ((found, _),) = raw(store)
    assert (msgspec.json.decode(found)["id"], texts(store)) == ("g+2", [" four"])
    store.run(due.mark(store.keys.due_observe, [HAROLD]))
    assert store.run(verify(store.keys)) == []


def test_adopt_quarantines_malformed_members_with_their_reasons(store):
    bad = [b"no JSON", b"[]", b'{"role":"user"}', b'{"role":"robot","content":""}', b"\xff\xfe"]
    write_plainly(store, *bad)
    assert adopted(store) == Adopted(0, 0, 5)
    assert store.client.exists(store.keys.of("harold").tokens, store.keys.of("harold").threads) == 0
    entries = store.run(quarantine.entries(store.keys, "harold"))
    assert all(entry.reason for entry in entries)
    assert {entry.member for entry in entries} == {each.decode("utf-8", "replace") for each in bad}


def test_adopt_repairs_the_times_of_members_and_of_their_thread(store):
    for score, at in ((AT / 1000, AT), (AT, AT), (AT * 1000, AT), (AT * 1_000_000, AT), (0, AT + 1000)):
        write_plainly(emptied(store), member(1), score=score)
        adopted(store)
        assert [at for _, at in raw(store)] == [pytest.approx(at, abs=1)], score
        assert heard(store) == pytest.approx(at, abs=1), score
        assert push(store, 1).duplicates == ("m1",), score  # the id of a message that is adopted alone is noted too

    seal(emptied(store), "c1", 5)
    write_plainly(store, member(1), score=AT + 1000)
    adopted(store)
    assert heard(store) == AT + 5000


def test_adopt_takes_what_somebody_removed_off_the_counters(store):
    """Breaks when totals follow only what is kept: the agent's window would seem fuller than it is, for ever."""
    push(store, 1)
    push(store, 31, thread="t2")
    store.client.zrem(store.keys.of("harold").messages("t1"), member(1))
    adopted(store)
    assert counts(store) == {"t2": 10, "#t2": 1, "*": 10}
    store.client.zrem(store.keys.of("harold").messages("t2"), member(31, "t2"))
    store.run(adopt(store, "t2"))
    assert counts(store) == {"*": 0}


def test_adopt_takes_thousands_of_members_at_once_and_notes_every_id(store):
    """Catches a part that is left out where they are noted by the thousand: the next adoption would not know it."""
    write_plainly(store, *(b'{"id":"p%d","role":"user","content":"x"}' % n for n in range(2_100)))

    assert adopted(store) == Adopted(2_100, 0, 0)
    assert counts(store) == {"t1": 10_500, "#t1": 2_100, "*": 10_500}
    assert len(store.run(recognise(store.keys, "harold", "t1", [f"p{n}" for n in range(2_200)]))) == 2_100


def test_adopt_refuses_a_plan_of_other_members_or_counts(store):
    """Breaks when only the raw set is counted: the member that nobody named would be left out of the counters."""
    of = store.keys.of("harold")
    names = [of.messages("t1"), of.tokens, of.known("t1"), of.rejected, of.threads]

    def asked(**changed):
        told = {"thread": "t1", "card": 1, "count": 0, "weight": 0, "fresh_key": "k", "n": 1, "was": "", **changed}
        return call(store, "adopt", names, [*told.values(), records_of([member(1)]), member(1), "keep", "", "", 10])

    write_plainly(store, member(1))
    for changed in ({"card": 2}, {"count": 1}, {"weight": 9}, {"was": "another record"}):
        with nothing_changes(store):
            assert asked(**changed) == b"superseded", changed
    assert asked() == [1, 0, 0, b"10"]
    write_plainly(emptied(store), member(2))
    with nothing_changes(store):
        assert asked() == b"superseded"
    write_plainly(store, member(1))
    with nothing_changes(store):
        assert asked(card=2) == b"superseded"


def test_adopt_plans_again_when_an_id_was_accepted_or_its_chunk_moved_meanwhile(store):
    """Time 0: adopt reads what covers its members. Time 1: something else does. Time 2: it must look again."""

    def sealed_and_copied():
        store.client.zrem(store.keys.of("harold").messages("t1"), member(3))
        store.run(sealing(store, "c1", 1, 2))
        write_plainly(store, member(1), member(2), member(4))

    def split():
        (chunk,) = store.run(scope_state.look(store.keys, HAROLD)).chunks
        assert store.run(chunks.split(store.keys, HAROLD, chunk, 1, 10, 0)) is Outcome.SPLIT

    rows = {
        "pushed": (lambda: write_plainly(store, grown("plain", "m1")), lambda: push(store, 1), Adopted(1, 0, 1)),
        "sealed": (lambda: (push(store, 1, 2), write_plainly(store, member(3))), sealed_and_copied, Adopted(1, 2, 0)),
        "split": (lambda: (seal(store, "c1", 1, 2), write_plainly(store, member(1))), split, Adopted(0, 1, 0)),
        "activated": (
            lambda: (ready(store, "c1", 1, 2), write_plainly(store, member(1))),
            lambda: activate(store, "c1"),
            Adopted(0, 1, 0),
        ),
    }
    for came, (prepare, meanwhile, found) in rows.items():
        emptied(store)
        prepare()
        assert store.run(interrupted(adopt(store), "adopt", meanwhile)) == found, came
        assert counts(store) == ({"t1": 10, "#t1": 1, "*": 10} if found.kept else {"*": 0}), came


def test_adopt_leaves_a_thread_that_never_holds_still_for_later(store):
    write_plainly(store, member(1))
    numbers = itertools.count()
    more = disturbed(adopt(store), lambda: write_plainly(store, grown("more", f"g{next(numbers)}")))
    assert store.run(more) is None
    assert store.client.hlen(store.keys.of("harold").tokens) == 0


def test_adopt_sends_members_of_an_older_key_to_the_resource_they_name(store):
    older = f"{store.keys.prefix}:messages:t1"
    named = b'{"id":"a","role":"user","content":"mine","resourceId":"harold"}'
    store.client.zadd(older, {named: AT, b'{"role":"user","content":"whose?"}': AT})

    assert store.run(older_members(store.keys, older, "t1")) == {"harold"}
    assert adopted(store) == Adopted(1, 0, 0)
    assert store.client.exists(older) == 0
    (entry,) = store.client.lrange(store.keys.of("unknown").rejected, 0, -1)
    assert "names no resource_id" in msgspec.json.decode(entry)["reason"]
