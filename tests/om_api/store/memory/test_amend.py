"""amend: more of a message is kept where it stands, or behind it; what says otherwise only if that is asked for."""

import msgspec
import pytest
from scene import (
    AT,
    HAROLD,
    call,
    cleared,
    interrupted,
    message,
    nothing_changes,
    observed,
    push,
    pushing,
    record,
    seal,
)
from stores import Store

from om_api.domain.errors import NotReplicatedError, StoreError
from om_api.domain.identity import KnownId, Said, record_of
from om_api.domain.values import Outcome, Scope
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.memory import note, scope_state
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.amend import amend
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import recognise
from om_api.store.memory.push import ServerClock, replicas_of

LONGER = "turn 1 and more"


def form(content, n=1, tokens=15):
    said = message(n, tokens=tokens)
    said.content = content
    return said


def amending(store, said, **options):
    known = store.run(recognise(store.keys, "harold", "t1", [said.id]))[said.id]
    return amend(store.keys, EncodedMessage(said, encode_message(said)), known, len, **options)


def raw(store):
    pairs = store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1, withscores=True)
    return [(found["id"], found["content"], at) for found, at in ((msgspec.json.decode(m), at) for m, at in pairs)]


def counts(store):
    found = store.client.hmget(store.keys.of("harold").tokens, "t1", "#t1", "*")
    return [int(n or 0) for n in found]


def test_a_raw_message_grows_where_it_stands(store):
    push(store, 1, 2)
    grown = form(LONGER)
    grown.at, grown.timestamp = AT + 99_000, "2026-11-23T10:00:00Z"

    assert store.run(amending(store, grown)) is Said.GROWN
    assert raw(store) == [("m1", LONGER, AT + 1000), ("m2", "turn 2", AT + 2000)]
    assert counts(store) == [25, 2, 25]


def test_what_says_the_same_or_something_else_changes_nothing(store):
    push(store, 1)
    with nothing_changes(store):
        assert store.run(amending(store, message(1))) is Said.SAME
        assert store.run(amending(store, form("else"))) is Said.CHANGED


def test_an_earlier_form_that_comes_late_says_nothing_new_while_the_longer_one_is_raw(store):
    push(store, 1)
    store.run(amending(store, form(LONGER)))
    with nothing_changes(store):
        assert store.run(amending(store, form("turn 1 and"))) is Said.SAME


def test_less_of_a_sealed_message_is_something_else(store):
    push(store, 1)
    seal(store, "c1", 1)
    with nothing_changes(store):
        assert store.run(amending(store, form("turn"))) is Said.CHANGED


def test_what_is_raw_is_replaced_if_that_is_asked_for(store):
    push(store, 1)

    assert store.run(amending(store, form("else", tokens=3), replace=True)) is Said.REPLACED
    assert raw(store) == [("m1", "else", AT + 1000)]
    assert counts(store) == [3, 1, 3]
    assert store.run(amending(store, form("else"))) is Said.SAME


@pytest.mark.parametrize("rest", [seal, observed])
def test_what_is_sealed_is_never_replaced(store, rest):
    rest(store, "c1", 1)
    with nothing_changes(store):
        assert store.run(amending(store, form("else"), replace=True)) is Said.CHANGED


@pytest.mark.parametrize("rest", [seal, observed])
def test_what_a_sealed_message_grew_by_stands_behind_it(store, rest):
    rest(store, "c1", 1)

    assert store.run(amending(store, form(LONGER))) is Said.GROWN
    assert [(name, content) for name, content, _ in raw(store)] == [("m1+1", " and more")]
    assert counts(store)[1] == 1
    assert store.run(amending(store, form(LONGER))) is Said.SAME


def test_it_goes_on_growing_in_the_further_message(store):
    seal(store, "c1", 1)
    for more in (" a", " a b", " a b c"):
        assert store.run(amending(store, form("turn 1" + more))) is Said.GROWN

    assert [(name, content) for name, content, _ in raw(store)] == [("m1+1", " a b c")]
    assert counts(store)[1] == 1


def test_once_that_is_sealed_too_the_next_one_goes_on(store):
    seal(store, "c1", 1)
    store.run(amending(store, form("turn 1 a")))
    members = store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1)
    assert store.run(seal_steps.seal(store.keys, HAROLD, record(store).epoch, "t1", members, 2, "c2")) is Outcome.SEALED
    store.run(amending(store, form("turn 1 a b")))

    assert [(name, content) for name, content, _ in raw(store)] == [("m1+2", " b")]


def test_an_own_message_that_is_called_like_a_further_one_is_left_alone(store):
    """Breaks when the name alone tells: what grew would be written into somebody's own message."""
    seal(store, "c1", 1)
    own = form("mine", tokens=4)
    own.id = "m1+1"
    store.run(pushing(store, [own]))
    store.run(amending(store, form(LONGER)))

    assert sorted((name, content) for name, content, _ in raw(store)) == [("m1+1", "mine"), ("m1+2", " and more")]


def test_a_message_that_is_sealed_meanwhile_goes_on_behind(store):
    """Time 0: m1 is read as raw. Time 1: it is sealed. Time 2: it must not come back to the raw ones."""
    push(store, 1)
    steps = interrupted(amending(store, form(LONGER)), "amend", lambda: seal_named(store))

    assert store.run(steps) is Said.GROWN
    assert [(name, content) for name, content, _ in raw(store)] == [("m1+1", " and more")]


def seal_named(store):
    members = store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1)
    assert store.run(seal_steps.seal(store.keys, HAROLD, "", "t1", members, 10, "c1")) is Outcome.SEALED


def test_of_two_that_have_it_grow_at_once_each_word_is_kept_once(store):
    """Time 0: both read the first form. Time 1: the other's longer one is kept. Time 2: this one finds it is a beginning."""
    push(store, 1)
    steps = interrupted(
        amending(store, form("turn 1 a b")), "amend", lambda: store.run(amending(store, form("turn 1 a")))
    )

    assert store.run(steps) is Said.GROWN
    assert [(name, content) for name, content, _ in raw(store)] == [("m1", "turn 1 a b")]


def test_a_memory_that_is_cleared_meanwhile_is_not_grown(store):
    push(store, 1)
    steps = interrupted(amending(store, form(LONGER)), "amend", lambda: cleared(store))
    with pytest.raises(StoreError, match="repeat the call with the same ids"):
        store.run(steps)

    assert raw(store) == []


@pytest.mark.parametrize("changed", [{"old": b"gone"}, {"was": b"x" * 16}, {"member": None}])
def test_an_amendment_of_what_is_not_as_it_was_read_changes_nothing(store, changed):
    push(store, 1, 2)
    of = store.keys.of("harold")
    first, second = store.client.zrange(of.messages("t1"), 0, -1)
    told = {"old": first, "member": b"{}", "was": record_of(message(1)), **changed}
    told["member"] = told["member"] or second
    names = [of.messages("t1"), of.tokens, of.known("t1")]
    with nothing_changes(store):
        args = ["t1", told["old"], told["member"], AT, 5, told["was"], record_of(form(LONGER))]
        assert call(store, "amend", names, args) == b"superseded"


@pytest.mark.parametrize(("scope", "field"), [(HAROLD, "*wake"), (Scope("harold", "t1"), "*wake:t1")])
@pytest.mark.parametrize(("tokens", "due_now"), [(99, False), (100, True)])
def test_what_grew_to_where_somebody_must_look_is_marked(store, scope, field, tokens, due_now):
    push(store, 1)
    store.run(note.note(store.keys, scope, "", note.Decided("", field, 100)))
    assert scope_state.wake_field(scope) == field
    store.client.delete(store.keys.due_observe)
    store.run(amending(store, form(LONGER, tokens=tokens)))

    assert (store.client.zscore(store.keys.due_observe, str(scope)) is not None) is due_now


def test_a_message_behind_more_than_a_page_of_others_is_found(store):
    push(store, *range(1, 1_201))

    assert store.run(amending(store, form(LONGER))) is Said.GROWN
    assert KnownId.of(record_of(form(LONGER))) == store.run(recognise(store.keys, "harold", "t1", ["m1"]))["m1"]


def test_more_of_a_message_that_no_replica_has_is_kept_and_not_acknowledged(server_client, prefix):
    store = Store(Keys(prefix), ServerClock(), server_client)
    push(store, 1)

    with pytest.raises(NotReplicatedError):
        store.run(amending(store, form(LONGER), replicas=replicas_of(store.keys, "harold", 1, 0.01)))

    assert [said for _, said, _ in raw(store)] == [LONGER]
