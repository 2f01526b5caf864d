"""amend: more of a message is kept where it stands, or behind it; what says otherwise only if that is asked for."""

import msgspec
import pytest
from scene import (
    AT,
    HAROLD,
    call,
    cleared,
    emptied,
    interrupted,
    message,
    nothing_changes,
    observed,
    push,
    pushing,
    record,
    seal,
)

from om_api.domain.errors import StoreError
from om_api.domain.identity import Said, record_of
from om_api.domain.values import Outcome, Scope
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.memory import note
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.amend import amend
from om_api.store.memory.known import recognise

LONGER = "turn 1 and more"


def form(content, n=1, tokens=15):
    said = message(n, tokens=tokens)
    said.content = content
    return said


def amending(store, said, **options):
    known = store.run(recognise(store.keys, "harold", "t1", [said.id]))[said.id]
    return amend(store.keys, EncodedMessage(said, encode_message(said)), known, len, **options)


def amended(store, content, **options):
    return store.run(amending(store, form(content), **options))


def raw(store):
    pairs = store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1, withscores=True)
    return [(found["id"], found["content"], at) for found, at in ((msgspec.json.decode(m), at) for m, at in pairs)]


def said(store):
    return [(name, content) for name, content, _ in raw(store)]


def counts(store):
    found = store.client.hmget(store.keys.of("harold").tokens, "t1", "#t1", "*")
    return [int(n or 0) for n in found]


def seal_raw(store, chunk):
    members = store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1)
    steps = seal_steps.seal(store.keys, HAROLD, record(store).epoch, "t1", members, 2, chunk)
    assert store.run(steps) is Outcome.SEALED


def test_amend_lets_a_raw_message_grow_where_it_stands(store):
    push(store, 1, 2)
    with nothing_changes(store):
        assert store.run(amending(store, message(1))) is Said.SAME
        assert amended(store, "else") is Said.CHANGED
    grown = form(LONGER)
    grown.at, grown.timestamp = AT + 99_000, "2026-11-23T10:00:00Z"

    assert store.run(amending(store, grown)) is Said.GROWN
    assert raw(store) == [("m1", LONGER, AT + 1000), ("m2", "turn 2", AT + 2000)]
    assert counts(store) == [25, 2, 25]
    with nothing_changes(store):  # an earlier form that comes late
        assert amended(store, "turn 1 and") is Said.SAME


def test_amend_replaces_a_raw_message_if_that_is_asked_for_and_never_a_sealed_one(store):
    push(store, 1)
    assert store.run(amending(store, form("else", tokens=3), replace=True)) is Said.REPLACED
    assert (raw(store), counts(store)) == ([("m1", "else", AT + 1000)], [3, 1, 3])
    assert amended(store, "else") is Said.SAME

    for rest in (seal, observed):
        rest(emptied(store), "c1", 1)
        with nothing_changes(store):
            assert amended(store, "else", replace=True) is Said.CHANGED
            assert amended(store, "turn") is Said.CHANGED  # less of it


def test_amend_keeps_what_a_sealed_message_grew_by_in_a_further_message(store):
    for rest in (seal, observed):
        rest(emptied(store), "c1", 1)
        for more in (" a", " a b", " a b c"):
            assert amended(store, "turn 1" + more) is Said.GROWN
        assert (said(store), counts(store)[1]) == ([("m1+1", " a b c")], 1)
        assert amended(store, "turn 1 a b c") is Said.SAME

    seal_raw(store, "c2")
    amended(store, "turn 1 a b c d")
    assert said(store) == [("m1+2", " d")]


def test_amend_leaves_an_own_message_alone_that_is_called_like_a_further_one(store):
    """Breaks when the name alone tells: what grew would be written into somebody's own message."""
    seal(store, "c1", 1)
    own = form("mine", tokens=4)
    own.id = "m1+1"
    store.run(pushing(store, [own]))
    amended(store, LONGER)

    assert sorted(said(store)) == [("m1+1", "mine"), ("m1+2", " and more")]


def test_amend_follows_a_message_that_was_sealed_grown_or_cleared_meanwhile(store):
    """Time 0: m1 is read as raw. Time 1: it is sealed, or grows. Time 2: no word is kept twice, none is raw again."""
    push(store, 1)
    assert store.run(interrupted(amending(store, form(LONGER)), "amend", lambda: seal_raw(store, "c1"))) is Said.GROWN
    assert said(store) == [("m1+1", " and more")]

    push(emptied(store), 1)
    steps = interrupted(amending(store, form("turn 1 a b")), "amend", lambda: amended(store, "turn 1 a"))
    assert store.run(steps) is Said.GROWN
    assert said(store) == [("m1", "turn 1 a b")]

    push(emptied(store), 1)
    with pytest.raises(StoreError, match="repeat the call with the same ids"):
        store.run(interrupted(amending(store, form(LONGER)), "amend", lambda: cleared(store)))
    assert raw(store) == []


def test_amend_of_what_is_not_as_it_was_read_changes_nothing(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    first, second = store.client.zrange(of.messages("t1"), 0, -1)
    for changed in ({"old": b"gone"}, {"was": b"x" * 16}, {"member": second}):
        told = {"old": first, "member": b"{}", "was": record_of(message(1)), **changed}
        args = ["t1", told["old"], told["member"], AT, 5, told["was"], record_of(form(LONGER))]
        with nothing_changes(store):
            reply = call(store, "amend", [of.messages("t1"), of.tokens, of.known("t1")], args)
            assert reply == b"superseded", changed


def test_amend_marks_what_grew_to_where_somebody_must_look(store):
    for scope, field in ((HAROLD, "*wake"), (Scope("harold", "t1"), "*wake:t1")):
        for tokens, due_now in ((99, False), (100, True)):
            push(emptied(store), 1)
            store.run(note.note(store.keys, scope, "", note.Decided("", field, 100)))
            store.client.delete(store.keys.due_observe)
            store.run(amending(store, form(LONGER, tokens=tokens)))
            found = store.client.zscore(store.keys.due_observe, str(scope))
            assert (found is not None) is due_now, (scope, tokens)
