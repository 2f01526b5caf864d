"""Histories, and what makes a message the one that was kept."""

import random

from om_api.domain.histories.history import align, going_on, named
from om_api.domain.identity import (
    GOES_ON,
    KnownId,
    Said,
    chained,
    compare,
    continued,
    further,
    further_id,
    goes_on,
    record_of,
    rest_of,  # fmt: skip
    said_by,
    whole_of,
)
from om_api.domain.messages import Message
from om_api.domain.texts.matching import Effort, opcodes


def talk(text, ids=""):
    return [Message(role="user", content=letter, id=f"own-{letter}" if letter in ids else "") for letter in text]


def kept(text):
    return [Message(role="user", content=letter, id=f"{n}{letter}") for n, letter in enumerate(text)]


def found_in(there, messages):
    said = [said_by(message) for message in messages]
    return align(there, messages, said, named(messages, said))


def aligned(old, new):
    """For each message of the new history the kept one that it is, `+` for one that is new; and where it differs."""
    messages = talk(new)
    found = found_in(kept(old), messages)
    there = {message.id for message in kept(old)}
    return [name if name in there else "+" for name in found.ids], found.diverged_at


def test_a_history_is_found_among_what_is_kept():
    for old, new, ids, diverged_at in [
        ("abc", "abc", ["0a", "1b", "2c"], None), ("abc", "abcd", ["0a", "1b", "2c", "+"], None),
        ("", "ab", ["+", "+"], None), ("abc", "bcd", ["1b", "2c", "+"], None), ("abc", "ab", ["0a", "1b"], None),
        ("aab", "aabaa", ["0a", "1a", "2b", "+", "+"], None), ("abcd", "axcde", ["0a", "1b", "2c", "3d", "+"], 1),
        ("abcd", "abxy", ["0a", "1b", "+", "+"], 2), ("abcd", "axbcd", ["0a", "+", "1b", "2c", "3d"], None),
        ("abc", "xyz", ["+", "+", "+"], 0), ("abcxy", "axcyz", ["0a", "3x", "2c", "4y", "+"], None),
        ("abcxyz", "ayzb", ["0a", "4y", "5z", "+"], None),
    ]:  # fmt: skip
        assert aligned(old, new) == (ids, diverged_at), (old, new)


def test_a_history_is_found_where_its_last_message_grew_or_lost_its_end():
    messages = [Message(role="user", content=text) for text in ("a", "hello", "next")]
    there = [Message(role="user", content="a", id="1"), Message(role="user", content="hel", id="2")]
    found = found_in(there, messages)
    assert found.ids[:2] == ["1", "2"]
    assert found.ids[2] not in {"1", "2"}
    assert found.diverged_at is None
    assert goes_on(there[1], messages[1])
    there = [Message(role="user", content="a", id="1"), Message(role="user", content="hello\n<note>", id="2")]
    assert found_in(there, messages).ids[1] == "2"
    # A message that was cut while it streamed stops within a word only behind one that is found.
    for old, new in [
        (["go", "more"], ["going on"]), (["a", ""], ["a", "anything"]), (["No"], ["Nothing"]),
        (["continue with it", "done"], ["continue"]), (["hi", "done"], ["hi, next"]),
    ]:  # fmt: skip
        messages = [Message(role="user", content=text) for text in new]
        there = [Message(role="user", content=text, id=f"m-{n}") for n, text in enumerate(old)]
        assert found_in(there, messages).ids[-1] not in {message.id for message in there}, (old, new)


def test_ids_are_their_own_or_follow_from_what_precedes():
    messages = talk("aba", ids="b")
    ids = named(messages, [said_by(message) for message in messages])
    assert ids[1] == "own-b"
    assert ids == named(messages, [said_by(message) for message in messages])
    assert ids[0] != ids[2]
    assert ids[1:] == named(messages[1:], [said_by(message) for message in messages[1:]], ids[0])


def test_a_history_that_only_goes_on_is_known_to_the_last_message():
    """However often it says the same: what is new is exactly what was added."""
    for seed in range(20):
        dice = random.Random(seed)
        old = "".join(dice.choice("ab") for _ in range(dice.randrange(60)))
        new = old + "".join(dice.choice("ab") for _ in range(dice.randrange(20)))
        ids, diverged_at = aligned(old, new)
        assert ids == [f"{n}{letter}" for n, letter in enumerate(old)] + ["+"] * (len(new) - len(old)), seed
        assert diverged_at is None, seed


def test_going_on_finds_the_end_of_what_is_kept_unless_more_is_certain():
    for old, new, ids in [
        ("abab", "abxb", ["2a", "3b", "+", "+"]), ("abc", "cd", ["2c", "+"]), ("abc", "xy", None), ("", "a", None),
    ]:  # fmt: skip
        messages = talk(new)
        found = going_on(kept(old), messages, [said_by(message) for message in messages])
        there = {message.id for message in kept(old)}
        assert (found and [name if name in there else "+" for name in found.ids]) == ids, (old, new, ids)
    # Of `a b c a` and `a b x a` the first three may be edited or new; `b`, which was said once, tells it by its id.
    for certain, does in (("", True), ("a", True), ("b", False)):
        messages = [Message(role="user", content=letter, id=letter if letter in certain else "") for letter in "abxa"]
        found = going_on(kept("abca"), messages, [said_by(message) for message in messages])
        assert bool(found) is does, certain


CALL = {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"b": 1, "a": [2]}}
SAME_CALL = {"args": {"a": [2], "b": 1}, "name": "look", "tool_call_id": "c-1", "type": "tool-call"}


def text(words):
    return {"type": "text", "text": words}


def message(content, role="assistant", **more):
    return Message(role=role, content=content, id="m-1", **more)


def known(content, role="assistant"):
    return KnownId.of(record_of(message(content, role)))


def test_compare_knows_the_same_in_another_form_and_what_has_changed():
    for kept, comes in [
        ("hello", "hello"), ("hello", [text("hello")]), ("", []), ([text("a"), CALL], [text("a"), SAME_CALL]),
        ([text(""), CALL], [CALL]), ("ü\ud800", "ü\ud800"),
    ]:  # fmt: skip
        assert compare(known(kept), message(comes)) is Said.SAME, (kept, comes)
    assert compare(known("hello"), message("hello", timestamp=1_763_600_000, tokens=7, metadata={"a": 1})) is Said.SAME
    for kept, comes in [
        ("hello", "hell"), ("hello", "hullo there"), ([text("a"), text("b")], [text("ab")]),
        ([CALL], [{**CALL, "args": {"a": [2], "b": 12}}]), ([text("a"), CALL], [text("ab"), CALL]),
        ([CALL, text("a")], [text("a"), CALL]),
    ]:  # fmt: skip
        assert compare(known(kept), message(comes)) is Said.CHANGED, (kept, comes)
    assert compare(known("hello", "user"), message("hello", "assistant")) is Said.CHANGED
    assert compare(known("", "user"), message("hello", "assistant")) is Said.CHANGED


def test_repeated_sentences_are_matched_within_a_bound():
    """A sync of 2,000 messages of three words over and over took minutes."""
    own, theirs, effort = "ab" * 60, "abc" * 40, Effort(9_000)
    found = opcodes(own, theirs, effort)
    assert "".join(theirs[start:end] for *_, start, end in found) == theirs
    assert -len(own) * 40 < effort.left < 0
    assert len(found) < len(opcodes(own, theirs, Effort(10**9)))


def test_what_begins_with_what_was_kept_has_grown_by_the_rest():
    for kept, comes, rest in [
        ("hel", "hello", "lo"), ("hé", "hél€", "l€"), ("", "hello", "hello"), ("hello", [text("hello"), CALL], [CALL]),
        ([text("a")], [text("ab"), text("c")], [text("b"), text("c")]), ([CALL], [SAME_CALL, text("done")], "done"),
        ([text("a"), CALL], [text("a"), CALL, CALL], [CALL]),
    ]:  # fmt: skip
        assert compare(known(kept), message(comes)) is Said.GROWN, (kept, comes, rest)
        assert rest_of(message(comes), known(kept).length) == rest, (kept, comes, rest)


def test_a_record_has_sixteen_bytes_and_knows_no_growth_beyond_its_length():
    record = record_of(message("hello"), day=20_780)
    assert len(record) == 16
    assert KnownId.of(record)._replace(record=b"") == known("hello")._replace(record=b"", day=20_780)
    assert known("hello").day == 0
    longest = "x" * 2**24
    assert compare(known(longest), message(longest)) is Said.SAME
    assert compare(known(longest), message(longest + "y")) is Said.CHANGED


def test_a_further_message_says_of_which_it_is_the_rest_and_ids_of_further_messages_and_of_messages_without_one():
    rest = further(message("hello", metadata={"a": 1}, timestamp=1_763_600_000), 2, known("hel").length)
    assert (rest.id, rest.role, rest.content, rest.timestamp) == ("m-1+2", "assistant", "lo", 1_763_600_000)
    assert rest.metadata == {"a": 1, "continues": rest.metadata["continues"]}
    assert KnownId.of(whole_of(rest, 9)) == KnownId.of(record_of(message("hello"), 9))
    assert KnownId.of(whole_of(rest, 0)).day == GOES_ON
    assert whole_of(message("hello"), 9) == b""
    for odd in (
        "m-1", {"id": "m-1"}, {"id": "m-1", "length": 2**24, "check": 1}, {"id": "m-1", "length": 1, "check": -1},
    ):  # fmt: skip
        assert whole_of(message("x", metadata={"continues": odd}), 9) == b""
    assert continued(rest, "m-1") == known("hel").length
    assert continued(rest, "m-2") is None
    assert continued(message("x", metadata={"continues": "m-1"}), "m-1") is None
    assert further_id("m-1", 3) == "m-1+3"
    assert {len(further_id("x" * 200, n)) for n in (1, 2)} == {34}
    assert further_id("x" * 200, 1) != further_id("x" * 200, 2)
    said = said_by(message("ok"))
    first = chained("", said)
    assert chained(first, said) != first
    assert chained(first, said) == chained(first, said_by(message([text("ok")])))
    assert chained(first, said_by(message("ok", "user"))) != chained(first, said)
