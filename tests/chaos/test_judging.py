"""The judge must be able to say no: each way a store can be wrong is put there by hand, and named."""

import json
from collections import Counter
from contextlib import ExitStack, closing

import fakeredis
import pytest

from chaos import judging, quiet, report
from chaos.journal import Journal, Said
from chaos.judging import Verdict
from chaos.plan import Run
from chaos.report import Seen, Spent

P = "chaos:om"
NOTE = {"id": "o-1", "text": "* [[w1-1]] said", "message_ids": ["w1-1"], "model": "local"}


@pytest.fixture
def store():
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as client:
        yield client


@pytest.fixture
def anew(store, tmp_path):
    """An empty store, and a journal in which nothing was said."""
    with ExitStack() as held:

        def made():
            store.flushall()
            return held.enter_context(closing(Journal(tmp_path)))

        yield made


@pytest.fixture
def journal(anew):
    return anew()


def _said(journal, name="w1-1", *, acknowledged=True):
    said = Said(name, "pool-1", "t-1", {"id": name})
    journal.tried([said])
    if acknowledged:
        journal.acknowledged([said])
    return said


def _raw(store, name="w1-1", thread="t-1"):
    store.zadd(f"{P}:{{pool-1}}:messages:{thread}", {json.dumps({"id": name}): 1})


def _word(store, at, said, id_, key="messages:t-1"):
    member = {"id": id_, "thread_id": "t-1", "role": "user", "content": said}
    store.zadd(f"{P}:{{pool-1}}:{key}", {json.dumps(member): at})


def _note(store, kept, **fields):
    store.zadd(f"{P}:{{pool-1}}:{kept}", {json.dumps(NOTE | fields): 1})


def _wrong(store, journal, **how):
    return judging.judge(judging.look(store, P), journal, **how).wrong


def test_each_way_in_which_one_message_can_be_wrong_is_named(store, journal):
    _said(journal)
    _said(journal, "w1-2", acknowledged=False)
    _raw(store)
    assert _wrong(store, journal) == []
    assert _wrong(store, journal, at_rest=True) == [("w1-1", "still raw")]

    _said(journal, "w1-3")
    _raw(store, "w9-9")
    journal.given_up([_said(journal, "w1-4", acknowledged=False)], absent=True)
    _raw(store, "w1-4")
    for name in ("w1-1", "w1-2"):  # twice, whether it was acknowledged or not
        _raw(store, name, thread="t-2")
    _raw(store, "w1-2")
    assert sorted(_wrong(store, journal)) == [
        ("w1-1", "held 2 times"),
        ("w1-2", "held 2 times"),
        ("w1-3", "acknowledged, but gone"),
        ("w1-4", 'every try was answered with "not stored", but it is there'),
        ("w9-9", "came from nowhere"),
    ]


def test_a_clear_or_a_lost_tail_excuses_what_was_tried_before_it_in_its_thread_and_nothing_else(store, anew):
    journal = anew()
    _said(journal)
    journal.closes(journal.opens("clear", "pool-1", "t-2"))
    assert _wrong(store, journal) == [("w1-1", "acknowledged, but gone")]
    journal.closes(journal.opens("clear", "pool-1"))
    _said(journal, "w1-2")
    assert _wrong(store, journal) == [("w1-2", "acknowledged, but gone")]

    journal = anew()
    _said(journal)
    _said(journal, "w1-2")
    journal.closes(journal.opens("loss", "*"))
    _said(journal, "w1-3")
    _raw(store, "w1-2")
    _raw(store, "w1-2", thread="t-2")
    assert _wrong(store, journal, loses_tail=True) == [("w1-2", "held 2 times"), ("w1-3", "acknowledged, but gone")]


def test_a_text_must_hold_the_marks_of_what_it_covers_and_no_others(store, anew):
    for notes, reflected in (
        ([("observations", {"text": "* nothing"})], None),
        ([("reflected:1", {})], "* forgot"),
        ([("observations", {})], "* [[w1-1]] said"),
    ):
        journal = anew()
        _said(journal)
        _said(journal, "w1-2")
        for kept, fields in notes:
            _note(store, kept, **fields)
        _note(store, "observations", id="o-2", message_ids=["w1-2"], text="* 🔴 …", model="placeholder")  # need not
        if reflected:
            store.zadd(f"{P}:{{pool-1}}:reflections", {json.dumps({"text": reflected}): 1})

        assert [name for name, _ in _wrong(store, journal)] == ["w1-1"], notes


TALK = ("[[w5-1]] What day is it?", "ok", "[[w5-2]] And tomorrow?", "ok")


def test_a_whole_history_is_kept_word_for_word_whatever_ids_it_was_given(store, anew):
    for kept, why in (
        ((0, 1, 2, 3), []),
        ((0, 1, 3), ["w5-2: acknowledged, but gone", "w5-2: is kept 0 times"]),
        ((0, 1, 2), [": 'ok' was said 2 times in ('pool-1', 't-1'), and is kept 1 times"]),
        ((0, 1, 2, 3, 2), ["w5-2: held 2 times", "w5-2: is kept 2 times"]),
        ((0, 1, 2, 3, 3), [": and is kept 3 times"]),
        ((0, 1, 3, 2), [": in another order from its message 2 on"]),
    ):
        journal = anew()
        journal.histories["pool-1", "t-1"] += TALK
        for name in ("w5-1", "w5-2"):
            _said(journal, name)
        for at, n in enumerate(kept):
            _word(store, at, TALK[n], f"s-{at}")
        found = [f"{name}: {what}" for name, what in _wrong(store, journal)]

        assert len(found) == len(why), kept
        for name, _, end in (each.partition(": ") for each in why):
            assert any(line.startswith(f"{name}: ") and end in line for line in found), (kept, end)


def test_a_turn_that_was_observed_and_added_again_is_held_twice(store, journal):
    """As a client does that gives its whole history to add_messages."""
    said = "[[w5-1]] What day is it?"
    journal.histories["pool-1", "t-1"].append(said)
    _said(journal, "w5-1")
    _word(store, 1, said, "s-1", "source:o-1")
    _note(store, "observations", text="* [[w5-1]] What day", message_ids=["s-1"])
    once = _wrong(store, journal)
    _word(store, 2, said, "01J")

    assert once == []
    assert [why for _, why in _wrong(store, journal)] == [
        "held 2 times",
        "'[[w5-1]] What day is it?' was said 1 times in ('pool-1', 't-1'), and is kept 2 times",
    ]


def test_a_run_that_saw_too_little_fails_by_itself():
    seen = Seen(Run(), Counter({"kill worker": 49, "start server": 2}), hours=0.5)
    seen.scopes, seen.acknowledged, seen.generations = {"resource": 15, "thread": 4}, 4_999, 29
    missed = [line.split(", ")[0] for line in report.missed(seen)]

    assert missed[:5] == [
        "saw 49 kills of workers",
        "saw 2 server restarts",
        "saw 4999 acknowledged messages",
        "saw 19 scopes",
        "saw 29 generations",
    ]
    assert len(missed) == 10


def test_a_run_fails_for_what_is_wrong_with_the_whole():
    spent = {"spent": Spent(Counter(a=16), 10), "calm": Spent(Counter(a=10), 10)}
    for changed, fsync, named in (
        ({"quiet_s": 61.0}, "always", "61 s after the last fault, not within 60 s"),
        ({"longest_queue": 49}, "always", "49 tasks waited in the queues, not 48"),
        ({"spent": Spent(Counter(), 0, 1.6)}, "always", "what was due took 1.60 model calls each"),
        ({"verdict": Verdict([], 0, 0, 1)}, "everysec", "held twice"),
        ({"verdict": Verdict([], 1, 0, 0)}, "always", "lost"),
        ({"unfinished": "chunk c"}, "always", "not all scopes were observed: chunk c"),
        (spent, "always", "1.60 times"),
    ):
        (why,) = report.broken(Seen(Run(fsync=fsync), **changed))
        assert named in why
    # what went with the tail of the file is counted, not condemned
    assert report.broken(Seen(Run(fsync="everysec"), verdict=Verdict([], 7, 0, 0))) == []


def test_a_scope_waits_when_it_holds_enough_to_be_sealed_and_has_no_chunk(store):
    threads = {"*": 150, "t-1": 90, "t-2": 60, "*wake:t-1": 100, "*wake:t-2": 100}
    for fields, scope, waits in (
        ({"*": 150, "t-1": 150, "*wake": 100}, "resource", True),
        ({"*": 50, "t-1": 50, "*wake": 100}, "resource", False),
        (threads, "thread", False),
        (threads, None, False),
        ({"*": 150, "t-1": 150}, None, True),
    ):
        store.flushall()
        store.hset(f"{P}:{{pool-1}}:tokens", mapping=fields)
        if scope:
            store.set(f"{P}:{{pool-1}}:scope", scope)
        assert bool(quiet.unfinished(store, P)) is waits, fields
        store.zadd(f"{P}:{{pool-1}}:chunks", {"c": 1})
        assert not quiet.unfinished(store, P), fields
