"""The judge must be able to say no: each way a store can be wrong is put there by hand, and named."""

import json
from collections import Counter

import fakeredis
import pytest

from chaos import judging, quiet, report
from chaos.journal import Journal, Said
from chaos.plan import Least, Run

P = "chaos:om"
NOTE = {"id": "o-1", "text": "* [[w1-1]] said", "message_ids": ["w1-1"], "model": "local"}


@pytest.fixture
def store():
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as client:
        yield client


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path)
    yield opened
    opened.close()


def _said(journal, name="w1-1", *, acknowledged=True):
    said = Said(name, "pool-1", "t-1", {"id": name}, plain=False)
    journal.tried([said])
    if acknowledged:
        journal.acknowledged([said])
    return said


def _raw(store, name="w1-1", thread="t-1"):
    store.zadd(f"{P}:{{pool-1}}:messages:{thread}", {json.dumps({"id": name}): 1})


def _word(store, at, said, id_, key="messages:t-1"):
    member = {"id": id_, "thread_id": "t-1", "role": "user", "content": said}
    store.zadd(f"{P}:{{pool-1}}:{key}", {json.dumps(member): at})


def _history(journal, *said):
    """A whole history of pool-1 in t-1, given without ids, of which everything was acknowledged."""
    journal.histories["pool-1", "t-1"] += said
    for text in said:
        if text.startswith("[["):
            _said(journal, text.partition("]]")[0].removeprefix("[["))


def _wrong(store, journal, **how):
    return judging.judge(judging.look(store, P), journal, **how).wrong


def test_a_message_that_is_where_it_belongs_is_right(store, journal):
    _said(journal)
    _said(journal, "w1-2", acknowledged=False)
    _raw(store)

    assert _wrong(store, journal) == []


def test_an_acknowledged_message_that_is_gone_is_lost(store, journal):
    _said(journal)

    assert _wrong(store, journal) == [("w1-1", "acknowledged, but gone")]


@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_message_in_two_places_is_doubled_whether_acknowledged_or_not(store, journal, acknowledged):
    _said(journal, acknowledged=acknowledged)
    _raw(store)
    store.zadd(f"{P}:{{pool-1}}:reflected:1", {json.dumps(NOTE): 1})

    assert _wrong(store, journal) == [("w1-1", "held 2 times")]


def test_a_message_that_nobody_sent_came_from_nowhere(store, journal):
    _raw(store, "w9-9")

    assert _wrong(store, journal) == [("w9-9", "came from nowhere")]


def test_what_was_said_not_to_be_stored_must_not_be_there(store, journal):
    journal.given_up([_said(journal, acknowledged=False)], absent=True)
    _raw(store)

    assert _wrong(store, journal) == [("w1-1", 'every try was answered with "not stored", but it is there')]


def test_a_clear_excuses_what_was_tried_before_it_returned_and_nothing_else(store, journal):
    _said(journal)
    journal.closes(journal.opens("clear", "pool-1"))
    _said(journal, "w1-2")

    assert _wrong(store, journal) == [("w1-2", "acknowledged, but gone")]


def test_a_clear_of_a_thread_excuses_that_thread_only(store, journal):
    _said(journal)
    journal.closes(journal.opens("clear", "pool-1", "t-2"))

    assert _wrong(store, journal) == [("w1-1", "acknowledged, but gone")]


def test_a_lost_tail_excuses_what_was_said_before_it_but_no_double(store, journal):
    _said(journal)
    _said(journal, "w1-2")
    journal.closes(journal.opens("loss", "*"))
    _said(journal, "w1-3")
    _raw(store, "w1-2")
    _raw(store, "w1-2", thread="t-2")

    assert _wrong(store, journal, loses_tail=True) == [("w1-2", "held 2 times"), ("w1-3", "acknowledged, but gone")]


def test_an_observation_must_hold_the_marks_of_what_it_covers_but_a_placeholder_need_not(store, journal):
    _said(journal)
    _said(journal, "w1-2")
    silent = [
        {**NOTE, "text": "* nothing"},
        {**NOTE, "message_ids": ["w1-2"], "text": "* 🔴 …", "model": "placeholder"},
    ]
    store.zadd(f"{P}:{{pool-1}}:observations", {json.dumps(note): n for n, note in enumerate(silent)})

    assert [name for name, _ in _wrong(store, journal)] == ["w1-1"]


@pytest.mark.parametrize(("kept", "text"), [("reflected:1", "* forgot"), ("observations", "* [[w1-1]] said")])
def test_the_generation_in_force_holds_what_was_reflected_and_nothing_that_was_not(store, journal, kept, text):
    _said(journal)
    store.zadd(f"{P}:{{pool-1}}:{kept}", {json.dumps(NOTE): 1})
    store.zadd(f"{P}:{{pool-1}}:reflections", {json.dumps({"text": text}): 1})

    assert [name for name, _ in _wrong(store, journal)] == ["w1-1"]


TALK = ("[[w5-1]] What day is it?", "ok", "[[w5-2]] And tomorrow?", "ok")


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        ((0, 1, 2, 3), []),
        ((0, 1, 3), [("w5-2", "is kept 0 times"), ("w5-2", "acknowledged, but gone")]),
        ((0, 1, 2), [("", "'ok' was said 2 times in ('pool-1', 't-1'), and is kept 1 times")]),
        ((0, 1, 2, 3, 2), [("w5-2", "is kept 2 times"), ("w5-2", "held 2 times")]),
        ((0, 1, 2, 3, 3), [("", "and is kept 3 times")]),
        ((0, 1, 3, 2), [("", "in another order from its message 2 on")]),
    ],
)
def test_a_whole_history_is_kept_word_for_word_whatever_ids_it_was_given(store, journal, kept, why):
    _history(journal, *TALK)
    for at, n in enumerate(kept):
        _word(store, at, TALK[n], f"s-{at}")

    found = sorted(_wrong(store, journal), key=lambda each: "is kept" not in each[1])

    assert len(found) == len(why)
    assert all(name == wanted and end in text for (name, text), (wanted, end) in zip(found, why, strict=True))


def test_a_turn_that_was_observed_and_added_again_is_held_twice(store, journal):
    """As a client does that gives its whole history to add_messages."""
    _history(journal, "[[w5-1]] What day is it?")
    _word(store, 1, "[[w5-1]] What day is it?", "s-1", "source:o-1")
    note = {"id": "o-1", "text": "* [[w5-1]] What day", "message_ids": ["s-1"], "model": "local"}
    store.zadd(f"{P}:{{pool-1}}:observations", {json.dumps(note): 1})
    once = _wrong(store, journal)
    _word(store, 2, "[[w5-1]] What day is it?", "01J")

    assert once == []
    assert [why for _, why in _wrong(store, journal)] == [
        "held 2 times",
        "'[[w5-1]] What day is it?' was said 1 times in ('pool-1', 't-1'), and is kept 2 times",
    ]


def test_an_observation_must_hold_the_marks_of_a_message_whatever_its_id(store, journal):
    _history(journal, *TALK[:2])
    for n, said in enumerate(TALK[:2]):
        _word(store, n, said, f"s-{n}", "source:o-1")
    note = {"id": "o-1", "text": "* nothing", "message_ids": ["s-0", "s-1"], "model": "local"}
    store.zadd(f"{P}:{{pool-1}}:observations", {json.dumps(note): 1})

    assert [name for name, _ in _wrong(store, journal)] == ["w5-1"]


def test_at_rest_nothing_may_be_raw(store, journal):
    _said(journal)
    _raw(store)

    assert _wrong(store, journal, at_rest=True) == [("w1-1", "still raw")]


def _seen(**changed):
    nothing = dict.fromkeys(report.Seen._fields, 0)
    spent = report.Spent(Counter(), 0)
    known = {"run": Run(least=Least()), "happened": Counter(), "scopes": {}, "spent": spent, "calm": None}
    return report.Seen(**{**nothing, **known, **changed})


def test_a_run_that_saw_too_little_fails_by_itself():
    happened = Counter({"kill worker": 49, "start server": 2})
    scopes = {"resource": 15, "thread": 4}
    seen = _seen(happened=happened, scopes=scopes, acknowledged=4_999, generations=29, due=2_999, hours=0.5)

    assert [line.split(", ")[0] for line in report.missed(seen)] == [
        "saw 49 kills of workers",
        "saw 2 server restarts",
        "saw 4999 acknowledged messages",
        "saw 19 scopes",
        "saw 29 generations",
        "saw 0 clears in flight",
        "saw 0 scope migrations in flight",
        "saw 2999 scopes due while there was no worker",
        "saw 0.5 hours that the server's clock was set ahead",
        "saw 4 scopes of kind thread",
    ]


def test_spend_is_the_worse_of_calls_in_all_and_calls_for_each_thing_made():
    cheap, dear = report.Spent(Counter(answer=100), 100), report.Spent(Counter(answer=120), 60)

    assert _seen(spent=dear, calm=cheap).spend == 2.0


@pytest.mark.parametrize(
    ("changed", "fsync", "named"),
    [
        ({"quiet_s": 61.0}, "always", "61 s after the last fault, not within 60 s"),
        ({"longest_queue": 49}, "always", "49 tasks waited in the queues, not 48"),
        ({"spent": report.Spent(Counter(), 0, 1.6)}, "always", "what was due took 1.60 model calls each"),
        ({"doubled": 1}, "everysec", "held twice"),
        ({"lost": 1}, "always", "lost"),
        ({"spent": report.Spent(Counter(a=16), 10), "calm": report.Spent(Counter(a=10), 10)}, "always", "1.60 times"),
    ],
)
def test_a_run_fails_for_what_is_wrong_with_the_whole(changed, fsync, named):
    seen = _seen(**{"run": Run(fsync=fsync), **changed})

    (why,) = report.broken(seen, judging.Verdict([], 0, 0, 0), [], "")
    assert named in why


def test_messages_lost_with_the_tail_of_the_file_are_counted_not_condemned():
    assert report.broken(_seen(run=Run(fsync="everysec"), lost=7), judging.Verdict([], 7, 0, 0), [], "") == []


@pytest.mark.parametrize(
    ("fields", "scope", "ready", "waits"),
    [
        ({"*": 150, "t-1": 150, "*wake": 100}, "resource", False, True),
        ({"*": 50, "t-1": 50, "*wake": 100}, "resource", False, False),
        ({"*": 150, "t-1": 150, "*wake": 100}, "resource", True, False),
        ({"*": 150, "t-1": 90, "t-2": 60, "*wake:t-1": 100, "*wake:t-2": 100}, "thread", False, False),
        ({"*": 150, "t-1": 90, "t-2": 60, "*wake:t-1": 100, "*wake:t-2": 100}, None, False, False),
        ({"*": 150, "t-1": 150}, None, False, True),
    ],
)
def test_a_scope_waits_when_it_holds_enough_to_be_sealed_and_has_no_chunk(store, fields, scope, ready, waits):
    store.hset(f"{P}:{{pool-1}}:tokens", mapping=fields)
    if scope:
        store.set(f"{P}:{{pool-1}}:scope", scope)
    if ready:
        store.zadd(f"{P}:{{pool-1}}:chunks", {"c": 1})

    assert bool(quiet.unfinished(store, P)) is waits
