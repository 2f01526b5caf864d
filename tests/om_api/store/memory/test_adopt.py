"""adopt: what plain ZADDs left is counted, or dropped, or quarantined; nothing is guessed from an old look."""

import msgspec
import pytest
from scene import (
    AT,
    HAROLD,
    activate,
    adopt,
    call,
    filled,
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


def counts(store):
    found = store.client.hgetall(store.keys.of("harold").tokens)
    return {name.decode(): int(n) for name, n in found.items() if name not in {b"*key", b"*ids"}}


def raw(store, thread="t1"):
    return store.client.zrange(store.keys.of("harold").messages(thread), 0, -1, withscores=True)


def heard(store):
    """When t1 was last heard of, in Unix ms."""
    return store.run(scope_state.look(store.keys, HAROLD)).thread_times["t1"]


def reasons(store):
    return [entry.reason for entry in reversed(store.run(quarantine.entries(store.keys, "harold")))]


def test_plain_members_are_counted_beside_pushed_ones(store):
    push(store, 1)
    write_plainly(store, b'{"id":"p1","role":"user","content":"three plain words"}')

    assert store.run(adopt(store)) == Adopted(2, 0, 0)
    assert counts(store) == {"t1": 17, "#t1": 2, "*": 17}


def test_an_adopted_id_is_a_duplicate_for_push(store):
    write_plainly(store, member(1))
    store.run(adopt(store))

    assert push(store, 1, tokens=99).duplicates == ("m1",)


def test_adopting_again_changes_nothing(store):
    write_plainly(store, member(1), b'{"role":"user","content":"hello"}', b"broken")
    store.run(adopt(store))
    with nothing_changes(store):
        assert store.run(adopt(store)) == Adopted(2, 0, 0)


def test_adopting_an_empty_thread_changes_nothing(store):
    with nothing_changes(store):
        assert store.run(adopt(store)) == Adopted(0, 0, 0)


@pytest.mark.parametrize("tier", ["sealed", "source"])
def test_a_copy_of_a_covered_member_is_dropped(store, tier):
    (seal if tier == "sealed" else observed)(store, "c1", 1, 2)
    write_plainly(store, member(1), member(3))

    assert store.run(adopt(store)) == Adopted(1, 1, 0)
    assert [found for found, _ in raw(store)] == [member(3)]


def test_of_two_members_with_one_id_the_accepted_one_stays(store):
    push(store, 1)
    write_plainly(store, b'{"id":"m1","role":"user","content":"late"}', score=AT - 1)

    assert store.run(adopt(store)) == Adopted(1, 0, 1)
    assert [found for found, _ in raw(store)] == [member(1)]
    (reason,) = reasons(store)
    assert reason.startswith("another message with the id m1 was accepted first and says something else")
    assert "an id of its own" in reason


def test_of_two_plain_members_with_one_id_the_first_stays(store):
    write_plainly(store, b'{"id":"x","role":"user","content":"a"}', b'{"id":"x","role":"user","content":"b"}')

    assert store.run(adopt(store)) == Adopted(1, 0, 1)


def test_what_is_dropped_or_malformed_does_not_keep_a_changed_message(store):
    """Catches a member that goes and is taken for two uncounted ones: nobody would be sure any more, and both would stay."""
    seal(store, "c1", 1)
    same = [b'{"id":"x","role":"user","content":"%s"}' % word for word in (b"a", b"b")]
    write_plainly(store, member(1), b"broken", *same)

    assert store.run(adopt(store)) == Adopted(1, 1, 2)


def test_an_id_is_known_however_long_ago_its_message_was_accepted(store):
    """Breaks when ids are remembered for a time: there is nothing beside the memory itself that could run out."""
    push(store, 1)
    write_plainly(store, b'{"id":"m1","role":"user","content":"late"}', score=AT - 1)

    assert store.run(adopt(store)) == Adopted(1, 0, 1)
    assert [found for found, _ in raw(store)] == [member(1)]
    assert [key for key in store.client.scan_iter(f"{store.keys.prefix}*") if store.client.ttl(key) >= 0] == []


@pytest.mark.parametrize("tier", ["raw", "sealed", "source"])
def test_a_message_that_comes_again_with_other_bytes_is_dropped(store, tier):
    """Breaks when copies are told by their bytes: a writer that dates its history anew would have it remembered twice."""
    {"raw": push, "sealed": lambda s, n: seal(s, "c1", n), "source": lambda s, n: observed(s, "c1", n)}[tier](store, 1)
    again = msgspec.json.encode({**msgspec.json.decode(member(1)), "tokens": 99, "metadata": {"n": 2}})
    write_plainly(store, again, score=AT + 9_000)

    assert store.run(adopt(store)) == Adopted(tier == "raw", 1, 0)
    assert [found for found, _ in raw(store)] == ([member(1)] if tier == "raw" else [])


def grown(name, text):
    return b'{"id":"%s","role":"user","content":"%s"}' % (name.encode(), text.encode())


def texts(store):
    return [msgspec.json.decode(found)["content"] for found, _ in raw(store)]


def test_of_the_forms_of_a_message_that_grows_the_longest_stays(store):
    write_plainly(store, grown("g", "one"), grown("g", "one two"), grown("g", "one two three"))

    assert store.run(adopt(store)) == Adopted(1, 2, 0)
    assert texts(store) == ["one two three"]
    assert counts(store) == {"t1": 7, "#t1": 1, "*": 7}


def test_a_raw_message_that_grew_is_replaced_where_it_stands(store):
    write_plainly(store, grown("g", "one"), score=AT)
    store.run(adopt(store))
    push(store, 1)
    write_plainly(store, grown("g", "one two"), score=AT + 9_000)

    assert store.run(adopt(store)) == Adopted(2, 1, 0)
    assert raw(store)[0] == (grown("g", "one two"), AT)
    assert counts(store) == {"t1": 16, "#t1": 2, "*": 16}


def test_an_older_form_that_comes_late_is_dropped(store):
    write_plainly(store, grown("g", "one two"))
    store.run(adopt(store))
    write_plainly(store, grown("g", "one"), score=AT + 9)

    assert store.run(adopt(store)) == Adopted(1, 1, 0)
    assert texts(store) == ["one two"]


def sealed_member(store, text):
    write_plainly(store, text)
    store.run(adopt(store))
    assert store.run(seal_steps.seal(store.keys, HAROLD, record(store).epoch, "t1", [text], 5, "c1")) is Outcome.SEALED


def test_what_a_sealed_message_grew_by_is_a_further_message(store):
    sealed_member(store, grown("g", "one"))
    write_plainly(store, grown("g", "one two"), score=AT + 9)

    assert store.run(adopt(store)) == Adopted(1, 0, 0)
    ((found, at),) = raw(store)
    rest = msgspec.json.decode(found)
    assert (rest["id"], rest["content"], rest["metadata"]["continues"]["id"], at) == ("g+1", " two", "g", AT + 9)

    write_plainly(store, grown("g", "one two three"), grown("g", "one two"), score=AT + 20)
    assert store.run(adopt(store)) == Adopted(1, 2, 0)
    assert texts(store) == [" two three"]
    store.run(due.mark(store.keys.due_observe, [HAROLD]))
    assert store.run(verify(store.keys)) == []


def test_each_time_it_is_sealed_it_goes_on_in_another_message(store):
    sealed_member(store, grown("g", "one"))
    write_plainly(store, grown("g", "one two"), score=AT + 9)
    store.run(adopt(store))
    rest = [found for found, _ in raw(store)]
    assert store.run(seal_steps.seal(store.keys, HAROLD, record(store).epoch, "t1", rest, 5, "c2")) is Outcome.SEALED
    write_plainly(store, grown("g", "one two three"), score=AT + 20)
    store.run(adopt(store))

    ((found, _),) = raw(store)
    assert msgspec.json.decode(found)["id"] == "g+2"
    assert texts(store) == [" three"]


@pytest.mark.parametrize("bad", [b"no JSON", b"[]", b'{"role":"user"}', b'{"role":"robot","content":""}', b"\xff\xfe"])
def test_a_malformed_member_is_quarantined_with_its_reason(store, bad):
    write_plainly(store, bad, member(1))

    assert store.run(adopt(store)) == Adopted(1, 0, 1)
    (entry,) = store.run(quarantine.entries(store.keys, "harold"))
    assert entry.reason
    assert entry.member == bad.decode("utf-8", "replace")


@pytest.mark.parametrize("score", [AT / 1000, AT, AT * 1000, AT * 1_000_000])
def test_scores_of_any_unit_become_milliseconds(store, score):
    write_plainly(store, member(1), score=score)
    store.run(adopt(store))

    assert [at for _, at in raw(store)] == [pytest.approx(AT, abs=1)]


def test_a_member_without_time_gets_its_timestamp(store):
    write_plainly(store, member(1), score=0)
    store.run(adopt(store))

    assert raw(store) == [(member(1), AT + 1000)]


@pytest.mark.parametrize("score", [AT, AT * 1000])
def test_a_thread_was_heard_of_at_the_repaired_time_of_its_last_message(store, score):
    write_plainly(store, member(1), score=score)
    store.run(adopt(store))

    assert heard(store) == AT


def test_a_message_that_comes_late_does_not_set_back_when_its_thread_was_heard_of(store):
    seal(store, "c1", 5)
    write_plainly(store, member(1), score=AT + 1000)
    store.run(adopt(store))

    assert heard(store) == AT + 5000


def test_a_thread_of_which_nothing_could_be_accepted_is_not_among_the_threads(store):
    write_plainly(store, b"broken", b"too")

    assert store.run(adopt(store)) == Adopted(0, 0, 2)
    assert store.client.exists(store.keys.of("harold").tokens, store.keys.of("harold").threads) == 0


def test_what_somebody_removed_by_hand_leaves_the_counters(store):
    """Breaks when totals follow only what is kept: the agent's window would seem fuller than it is, for ever."""
    push(store, 1)
    push(store, 31, thread="t2")
    store.client.zrem(store.keys.of("harold").messages("t1"), member(1))
    store.run(adopt(store))

    assert counts(store) == {"t2": 10, "#t2": 1, "*": 10}


def test_a_thousand_members_are_adopted_in_one_go(store):
    write_plainly(store, *(b'{"role":"user","content":"%d"}' % n for n in range(2_100)))

    assert store.run(adopt(store)) == Adopted(2_100, 0, 0)
    assert counts(store) == {"t1": 10_500, "#t1": 2_100, "*": 10_500}


def test_every_id_of_two_thousand_is_known(store):
    """Catches a part that is left out where they are noted by the thousand: the next adoption would not know it."""
    write_plainly(store, *(b'{"id":"p%d","role":"user","content":"x"}' % n for n in range(2_100)))
    store.run(adopt(store))

    assert len(store.run(recognise(store.keys, "harold", "t1", [f"p{n}" for n in range(2_200)]))) == 2_100


def test_a_memory_of_which_everything_was_removed_by_hand_weighs_nothing(store):
    push(store, 1)
    store.client.zrem(store.keys.of("harold").messages("t1"), member(1))
    store.run(adopt(store))

    assert counts(store) == {"*": 0}


def _verb(store, **changed):
    """The verb as a caller would name it who saw one plain member."""
    of, becomes = store.keys.of("harold"), records_of([member(1)])
    names = [of.messages("t1"), of.tokens, of.known("t1"), of.rejected, of.threads]
    told = {"thread": "t1", "card": 1, "count": 0, "weight": 0, "fresh_key": "k", "n": 1, "was": "", **changed}
    return names, [*told.values(), becomes, member(1), "keep", "", "", 10]


def test_an_adoption_planned_from_what_is_there_counts_it(store):
    """Without it the tests below would pass for a call that is refused for any other reason."""
    write_plainly(store, member(1))
    names, args = _verb(store)

    assert call(store, "adopt", names, args) == [1, 0, 0, b"10"]


@pytest.mark.parametrize("changed", [{"card": 2}, {"count": 1}, {"weight": 9}, {"was": "another record"}])
def test_an_adoption_planned_from_other_counts_changes_nothing(store, changed):
    write_plainly(store, member(1))
    names, args = _verb(store, **changed)
    with nothing_changes(store):
        assert call(store, "adopt", names, args) == b"superseded"


def test_an_adoption_that_does_not_name_every_member_changes_nothing(store):
    """Breaks when only the raw set is counted: the member that nobody named would be left out of the counters."""
    write_plainly(store, member(1), member(2))
    names, args = _verb(store, card=2)
    with nothing_changes(store):
        assert call(store, "adopt", names, args) == b"superseded"


def test_an_adoption_of_a_member_that_is_gone_changes_nothing(store):
    write_plainly(store, member(2))
    names, args = _verb(store)
    with nothing_changes(store):
        assert call(store, "adopt", names, args) == b"superseded"


def test_an_adoption_of_an_id_that_was_accepted_meanwhile_changes_nothing(store):
    """Breaks when the records are not compared: time 0 m1 is unknown, time 1 a client pushes it, time 2 both are kept."""
    write_plainly(store, b'{"id":"m1","role":"user","content":"plain"}')
    done = store.run(interrupted(adopt(store), "adopt", lambda: push(store, 1)))

    assert done == Adopted(1, 0, 1)
    assert [found for found, _ in raw(store)] == [member(1)]


def test_a_seal_during_adoption_is_met_again(store):
    """Breaks when adopt trusts its look: time 0 it reads m1 raw and a copy-free thread, time 1 m1 is sealed and a copy comes."""
    push(store, 1, 2)
    write_plainly(store, member(3))

    def meanwhile():
        store.client.zrem(store.keys.of("harold").messages("t1"), member(3))
        store.run(sealing(store, "c1", 1, 2))
        write_plainly(store, member(1), member(2), member(4))

    assert store.run(interrupted(adopt(store), "adopt", meanwhile)) == Adopted(1, 2, 0)
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_a_split_during_adoption_does_not_hide_what_is_covered(store):
    """Breaks when split leaves the record's seq: time 0 sealed:c1 covers the copy, time 1 c1 is split, time 2 nothing does."""
    seal(store, "c1", 1, 2)
    write_plainly(store, member(1))
    (chunk,) = store.run(scope_state.look(store.keys, HAROLD)).chunks

    def meanwhile():
        assert store.run(chunks.split(store.keys, HAROLD, chunk, 1, 10, 0)) is Outcome.SPLIT

    assert store.run(interrupted(adopt(store), "adopt", meanwhile)) == Adopted(0, 1, 0)
    assert raw(store) == []


def test_an_activation_during_adoption_does_not_hide_what_is_covered(store):
    """Breaks without the version: time 0 sealed:c1 covers the copy, time 1 it is renamed source:c1, time 2 nothing does."""
    ready(store, "c1", 1, 2)
    write_plainly(store, member(1))
    done = store.run(interrupted(adopt(store), "adopt", lambda: activate(store, "c1")))

    assert done == Adopted(0, 1, 0)


def test_a_thread_that_never_holds_still_is_left_for_later(store):
    steps, n = adopt(store), 0
    write_plainly(store, member(1))
    reply = next(steps)
    with pytest.raises(StopIteration) as end:
        while True:
            if type(reply).__name__ == "Verb":
                n += 1
                write_plainly(store, b'{"role":"user","content":"more %d"}' % n)
            reply = steps.send(_perform(store, reply))

    assert end.value.value is None
    assert store.client.hlen(store.keys.of("harold").tokens) == 0


def _perform(store, step):
    def one():
        return (yield step)

    return store.run(one())


def test_members_of_an_older_key_go_to_the_resource_they_name(store):
    older = f"{store.keys.prefix}:messages:t1"
    named = b'{"id":"a","role":"user","content":"mine","resourceId":"harold"}'
    store.client.zadd(older, {named: AT, b'{"role":"user","content":"whose?"}': AT})

    assert store.run(older_members(store.keys, older, "t1")) == {"harold"}
    assert store.run(adopt(store)) == Adopted(1, 0, 0)
    assert store.client.exists(older) == 0
    (entry,) = store.client.lrange(store.keys.of("unknown").rejected, 0, -1)
    assert "names no resource_id" in msgspec.json.decode(entry)["reason"]


def test_adoption_of_a_filled_memory_counts_only_what_is_new(store):
    filled(store)
    write_plainly(store, member(1), member(7), member(12))

    assert store.run(adopt(store)) == Adopted(3, 2, 0)
