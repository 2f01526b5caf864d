"""What makes a message the one that was kept: the same, more of it, or something else."""

import pytest

from om_api.domain.identity import (
    GOES_ON,
    KnownId,
    Said,
    chained,
    compare,
    continued,
    further,
    further_id,
    record_of,
    rest_of,
    said_by,
    whole_of,
)
from om_api.domain.messages import Message

CALL = {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"b": 1, "a": [2]}}
SAME_CALL = {"args": {"a": [2], "b": 1}, "name": "look", "tool_call_id": "c-1", "type": "tool-call"}


def text(words):
    return {"type": "text", "text": words}


def message(content, role="assistant", **more):
    return Message(role=role, content=content, id="m-1", **more)


def known(content, role="assistant"):
    return KnownId.of(record_of(message(content, role)))


@pytest.mark.parametrize(
    ("kept", "comes"),
    [
        ("hello", "hello"),
        ("hello", [text("hello")]),
        ("", []),
        ([text("a"), CALL], [text("a"), SAME_CALL]),
        ([text(""), CALL], [CALL]),
        ("ü\ud800", "ü\ud800"),
    ],
)
def test_the_same_in_another_form_is_the_same(kept, comes):
    assert compare(known(kept), message(comes)) is Said.SAME


def test_time_tokens_and_metadata_are_not_what_a_message_says():
    assert compare(known("hello"), message("hello", timestamp=1_763_600_000, tokens=7, metadata={"a": 1})) is Said.SAME


@pytest.mark.parametrize(
    ("kept", "comes", "rest"),
    [
        ("hel", "hello", "lo"),
        ("hé", "hél€", "l€"),
        ("", "hello", "hello"),
        ("hello", [text("hello"), CALL], [CALL]),
        ([text("a")], [text("ab"), text("c")], [text("b"), text("c")]),
        ([CALL], [SAME_CALL, text("done")], "done"),
        ([text("a"), CALL], [text("a"), CALL, CALL], [CALL]),
    ],
)
def test_what_begins_with_what_was_kept_has_grown_by_the_rest(kept, comes, rest):
    assert compare(known(kept), message(comes)) is Said.GROWN
    assert rest_of(message(comes), known(kept).length) == rest


@pytest.mark.parametrize(
    ("kept", "comes"),
    [
        ("hello", "hell"),
        ("hello", "hullo there"),
        ([text("a"), text("b")], [text("ab")]),
        ([CALL], [{**CALL, "args": {"a": [2], "b": 12}}]),
        ([text("a"), CALL], [text("ab"), CALL]),
        ([CALL, text("a")], [text("a"), CALL]),
    ],
)
def test_anything_else_has_changed(kept, comes):
    assert compare(known(kept), message(comes)) is Said.CHANGED


def test_another_role_says_something_else():
    assert compare(known("hello", "user"), message("hello", "assistant")) is Said.CHANGED
    assert compare(known("", "user"), message("hello", "assistant")) is Said.CHANGED


def test_what_is_longer_than_a_record_can_say_is_the_same_or_changed_never_grown():
    longest = "x" * 2**24
    assert compare(known(longest), message(longest)) is Said.SAME
    assert compare(known(longest), message(longest + "y")) is Said.CHANGED


def test_a_record_has_sixteen_bytes_and_says_the_day():
    record = record_of(message("hello"), day=20_780)

    assert len(record) == 16
    assert KnownId.of(record)._replace(record=b"") == known("hello")._replace(record=b"", day=20_780)
    assert known("hello").day == 0


def test_a_further_message_says_of_which_it_is_the_rest():
    rest = further(message("hello", metadata={"a": 1}, timestamp=1_763_600_000), 2, known("hel").length)

    assert (rest.id, rest.role, rest.content, rest.timestamp) == ("m-1+2", "assistant", "lo", 1_763_600_000)
    assert rest.metadata == {"a": 1, "continues": rest.metadata["continues"]}
    assert KnownId.of(whole_of(rest, 9)) == KnownId.of(record_of(message("hello"), 9))
    assert KnownId.of(whole_of(rest, 0)).day == GOES_ON
    assert whole_of(message("hello"), 9) == b""
    for odd in (
        "m-1",
        {"id": "m-1"},
        {"id": "m-1", "length": 2**24, "check": 1},
        {"id": "m-1", "length": 1, "check": -1},
    ):
        assert whole_of(message("x", metadata={"continues": odd}), 9) == b""
    assert continued(rest, "m-1") == known("hel").length
    assert continued(rest, "m-2") is None
    assert continued(message("x", metadata={"continues": "m-1"}), "m-1") is None


def test_the_id_of_a_further_message_is_an_id_however_long_the_first_one_is():
    assert further_id("m-1", 3) == "m-1+3"
    assert {len(further_id("x" * 200, n)) for n in (1, 2)} == {34}
    assert further_id("x" * 200, 1) != further_id("x" * 200, 2)


def test_a_message_without_an_id_is_named_by_what_precedes_it_and_what_it_says():
    said = said_by(message("ok"))
    first = chained("", said)

    assert chained(first, said) != first
    assert chained(first, said) == chained(first, said_by(message([text("ok")])))
    assert chained(first, said_by(message("ok", "user"))) != chained(first, said)
