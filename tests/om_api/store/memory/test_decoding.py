"""What Redis replies, as values: fields that are missing have defaults, those that nobody knows are left alone."""

import pytest
from scene import AT, member

from om_api.domain.values import Chunk, Generation, Observation, Record, ThreadState
from om_api.store.memory import decoding

SAID = b'{"id":"o","thread_id":"t1","text":"*"}'


def test_unsealed_threads_are_those_whose_messages_are_counted():
    counts = {b"*": b"30", b"t1": b"20", b"#t1": b"2", b"#t2": b"1", b"t3": b"5", b"*wake": b"7"}

    assert decoding.unsealed_threads(counts) == {"t1": (20, 2), "t2": (0, 1)}


def test_a_chunk_is_ready_with_its_observation():
    sealed = {
        b"thread": b"t1",
        b"tokens": b"20",
        b"messages": b"2",
        b"state": b"sealed",
        b"sealed_at": b"5",
        b"new": b"?",
    }
    ready = {**sealed, b"state": b"ready", b"attempts": b"1", b"observation": b"{}"}

    assert decoding.as_chunk("c", 1.5, sealed) == Chunk(
        id="c", thread="t1", seq=1.5, tokens=20, messages=2, sealed_at=5
    )
    assert decoding.as_chunk("c", 1.5, ready) == Chunk(
        id="c", thread="t1", seq=1.5, tokens=20, messages=2, sealed_at=5, ready=True, attempts=1, observation=b"{}"
    )


def test_a_record_is_read_field_by_field():
    value = {
        b"epoch": b"e",
        b"seq": b"2.5",
        b"generation": b"3",
        b"observed_at": b"7",
        b"drain": b"0.5",
        b"force": b"x",
    }

    assert decoding.as_record(value) == Record(epoch="e", seq=2.5, generation=3, observed_at=7, drain=0.5)
    assert decoding.as_record({}) == Record()


def test_a_thread_says_its_task_as_far_as_it_is_text():
    value = {b"current_task": b"mend \xff", b"title": b"Roofs"}

    assert decoding.as_thread("t1", value, {"t1": (20, 2)}) == ThreadState(
        id="t1", tokens=20, messages=2, current_task="mend \ufffd", title="Roofs"
    )
    assert decoding.as_thread("t2", {}, {}) == ThreadState(id="t2")


def test_a_time_that_is_none_is_not_known():
    value = {b"current_task_at": b"soon", b"suggested_response_at": b"1763600000000", b"current_task_from": b"m-1"}
    state = decoding.as_thread("t1", value, {})

    assert (state.current_task_at, state.suggested_response_at, state.current_task_from) == (0, 1763600000000, "m-1")


@pytest.mark.parametrize("form", [[(SAID, 2.5)], [SAID, b"2.5"]], ids=["pairs", "in a row"])
def test_observations_come_with_their_place_and_their_bytes(form):
    assert decoding.as_stored(form) == [(2.5, Observation(id="o", thread_id="t1", text="*"), SAID)]


def test_what_a_later_version_added_is_left_alone():
    assert decoding.as_generation(b'{"n":1,"text":"*","later":[1]}') == Generation(n=1, text="*")


def test_malformed_members_are_left_out_and_the_others_keep_their_order():
    pairs = [(member(2), AT + 2_000.0), (b"no JSON", 1.0), (member(1), AT + 1_000.0)]

    assert [message.id for message in decoding.messages_of(pairs, "t1", "harold")] == ["m2", "m1"]
    assert decoding.message_of((b"no JSON", 1.0), "t1", "harold") is None


PLAIN = b'{"id":"m","role":"user","content":"hi","tokens":3}'
PARTS = b'{"id":"p","role":"user","content":[{"type":"text","text":"hi"}]}'
MARKED = b'{"id":"k","role":"user","content":"hi","metadata":{"a":1}}'


@pytest.mark.parametrize("said", [PLAIN, PARTS, MARKED, b'{"role":"user","content":"no id"}'])
def test_a_message_that_is_parsed_once_is_what_it_is_where_it_stands_now(said):
    """Catches a message that keeps the thread, the agent or the time under which it was met first."""
    for thread, resource, at in (("t1", "harold", 5.0), ("t2", "albert", 1_700_000_000_000.0)):
        assert decoding.parsed_once((said, at), thread, resource) == decoding.message_of((said, at), thread, resource)


@pytest.mark.parametrize("said", [PLAIN, PARTS, MARKED])
def test_who_changes_a_message_that_was_met_changes_nobody_elses(said):
    first = decoding.parsed_once((said, 1.0), "t", "r")
    first.content = [{"type": "text", "text": "else"}] if isinstance(first.content, str) else first.content
    for part in first.content:
        part["text"] = "else"
    if first.metadata:
        first.metadata["a"] = 2
    assert decoding.parsed_once((said, 1.0), "t", "r") == decoding.message_of((said, 1.0), "t", "r")


def test_what_is_no_message_is_none_however_often_it_is_met():
    assert [decoding.parsed_once((b"no", 1.0), "t", "r") for _ in range(2)] == [None, None]
