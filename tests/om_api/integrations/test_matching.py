"""What is about to be sent, beside what is held: filtered, copied, added to."""

from om_api.integrations.matching import beside
from om_api.integrations.turn import HeldItems, kept_as

HELD = [
    HeldItems((text,), (kept_as({"role": "user", "content": text}, f"m-{n}"),))
    for n, text in enumerate(["a", "b", "a"])
]


def of(given):
    """What is shown, as (items, id)s."""
    held, rest = beside(HELD, given, str.lower)
    return [(*each.items, *(message.id for message in each.messages)) for each in held], rest


def test_what_is_given_is_the_message_that_it_was_whoever_copied_it():
    assert of(["A", "B", "A"]) == ([("A", "m-0"), ("B", "m-1"), ("A", "m-2")], [])


def test_of_what_was_taken_out_the_message_is_known_and_nothing_is_shown():
    assert of(["A", "A"]) == ([("A", "m-0"), ("m-1",), ("A", "m-2")], [])
    assert of([]) == ([("m-0",), ("m-1",), ("m-2",)], [])


def test_what_was_put_in_is_shown_in_its_place_and_kept_as_nothing():
    assert of(["A", "x", "B", "A"]) == ([("A", "m-0"), ("x",), ("B", "m-1"), ("A", "m-2")], [])


def test_what_is_given_behind_everything_is_told():
    assert of(["A", "B", "A", "x", "y"])[1] == ["x", "y"]
    assert of(["A", "x"]) == ([("A", "m-0"), ("x",), ("m-1",), ("m-2",)], ["x"])
    assert of(["x"])[1] == ["x"]
