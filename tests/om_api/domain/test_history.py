"""A client's history beside what is kept: which message is which, and from where on it differs."""

import random

import pytest

from om_api.domain.history import align, going_on, named
from om_api.domain.identity import goes_on, said_by
from om_api.domain.messages import Message


def talk(text, ids=""):
    """A message for each letter; `ids` says which of them have one of their own."""
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


@pytest.mark.parametrize(
    ("old", "new", "ids", "diverged_at"),
    [
        ("abc", "abc", ["0a", "1b", "2c"], None),
        ("abc", "abcd", ["0a", "1b", "2c", "+"], None),
        ("", "ab", ["+", "+"], None),
        ("abc", "bcd", ["1b", "2c", "+"], None),
        ("abc", "ab", ["0a", "1b"], None),
        ("aab", "aabaa", ["0a", "1a", "2b", "+", "+"], None),
        ("abcd", "axcde", ["0a", "1b", "2c", "3d", "+"], 1),
        ("abcd", "abxy", ["0a", "1b", "+", "+"], 2),
        ("abcd", "axbcd", ["0a", "+", "1b", "2c", "3d"], None),
        ("abc", "xyz", ["+", "+", "+"], 0),
        ("abcxy", "axcyz", ["0a", "3x", "2c", "4y", "+"], None),
        ("abcxyz", "ayzb", ["0a", "4y", "5z", "+"], None),
    ],
    ids=[
        "the same",
        "goes on",
        "the first",
        "lost its beginning",
        "lost its end",
        "says a thing twice",
        "edited",
        "branched",
        "something put in",
        "another",
        "what was left out comes again",
        "what was said before is said again",
    ],
)
def test_a_history_is_found_among_what_is_kept(old, new, ids, diverged_at):
    assert aligned(old, new) == (ids, diverged_at)


def test_what_goes_on_where_the_last_kept_message_stopped_is_that_one():
    messages = [Message(role="user", content=text) for text in ("a", "hello", "next")]
    there = [Message(role="user", content="a", id="1"), Message(role="user", content="hel", id="2")]
    found = found_in(there, messages)

    assert found.ids[:2] == ["1", "2"]
    assert found.ids[2] not in {"1", "2"}
    assert found.diverged_at is None
    assert goes_on(there[1], messages[1])


def test_what_another_role_says_instead_is_new():
    messages = [Message(role="user", content="a"), Message(role="user", content="x"), Message(role="user", content="c")]
    there = [
        Message(role=role, content=text, id=text) for role, text in (("user", "a"), ("assistant", "b"), ("user", "c"))
    ]
    found = found_in(there, messages)

    assert found.ids[::2] == ["a", "c"]
    assert found.ids[1] not in {"a", "b", "c"}


def test_ids_are_their_own_or_follow_from_what_precedes():
    messages = talk("aba", ids="b")
    ids = named(messages, [said_by(message) for message in messages])

    assert ids[1] == "own-b"
    assert ids == named(messages, [said_by(message) for message in messages])
    assert ids[0] != ids[2]
    assert ids[1:] == named(messages[1:], [said_by(message) for message in messages[1:]], ids[0])


def test_an_id_counts_more_than_what_is_said():
    messages = [Message(role="user", content="other", id="0a"), Message(role="user", content="b")]
    found = found_in(kept("ab"), messages)

    assert found.ids == ["0a", "1b"]


@pytest.mark.parametrize("seed", range(20))
def test_a_history_that_only_goes_on_is_known_to_the_last_message(seed):
    """However often it says the same: what is new is exactly what was added."""
    dice = random.Random(seed)
    old = "".join(dice.choice("ab") for _ in range(dice.randrange(60)))
    new = old + "".join(dice.choice("ab") for _ in range(dice.randrange(20)))
    ids, diverged_at = aligned(old, new)

    assert ids == [f"{n}{letter}" for n, letter in enumerate(old)] + ["+"] * (len(new) - len(old))
    assert diverged_at is None


@pytest.mark.parametrize(
    ("old", "new", "ids"),
    [("abab", "abxb", ["2a", "3b", "+", "+"]), ("abc", "cd", ["2c", "+"]), ("abc", "xy", None), ("", "a", None)],
)
def test_a_history_that_begins_with_the_end_of_what_is_kept_goes_on_there(old, new, ids):
    messages = talk(new)
    found = going_on(kept(old), messages, [said_by(message) for message in messages])
    there = {message.id for message in kept(old)}

    assert (found and [name if name in there else "+" for name in found.ids]) == ids


@pytest.mark.parametrize(("certain", "goes_on"), [("", True), ("a", True), ("b", False)])
def test_a_history_does_not_go_on_where_it_ends_if_more_of_it_is_certain(certain, goes_on):
    """Of `a b c a` and `a b x a` the first three may be edited or new; `b`, which was said once, tells it by its id."""
    messages = [Message(role="user", content=letter, id=letter if letter in certain else "") for letter in "abxa"]
    found = going_on(kept("abca"), messages, [said_by(message) for message in messages])

    assert bool(found) is goes_on


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["go", "more"], ["going on"]),
        (["a", ""], ["a", "anything"]),
        (["No"], ["Nothing"]),
        (["continue with it", "done"], ["continue"]),
        (["hi", "done"], ["hi, next"]),
    ],
)
def test_what_only_begins_alike_is_new(old, new):
    """A message that was cut while it streamed stops within a word only behind one that is found."""
    messages = [Message(role="user", content=text) for text in new]
    there = [Message(role="user", content=text, id=f"m-{n}") for n, text in enumerate(old)]

    assert found_in(there, messages).ids[-1] not in {message.id for message in there}


def test_what_is_left_of_the_last_kept_message_is_that_one():
    messages = [Message(role="user", content=text) for text in ("a", "hello", "next")]
    there = [Message(role="user", content="a", id="1"), Message(role="user", content="hello\n<note>", id="2")]

    assert found_in(there, messages).ids[1] == "2"
