"""Steps that are done side by side: one round trip for what they ask at the same time, and to each its own replies."""

from __future__ import annotations

from om_api.store.steps import Batch, Verb, Wait, together


def asks(*steps):
    """Steps that ask one thing after the other, and return all replies."""
    replies = []
    for step in steps:
        replies += [(yield step)]
    return replies


def driven(steps):
    """Drive steps with a server that echoes; what they returned, and what was asked for."""
    asked, reply = [], None
    try:
        while True:
            step = steps.send(reply)
            asked.append(step)
            reply = [" ".join(command) for command in step.commands] if isinstance(step, Batch) else step
    except StopIteration as end:
        return end.value, asked


A, B, C = (Batch([("GET", name)], atomic=False) for name in "abc")
TWO = Batch([("GET", "x"), ("GET", "y")], writes=True)


def test_what_is_asked_at_the_same_time_is_one_round_trip_and_each_gets_its_own_replies():
    returned, asked = driven(together(asks(A, B), asks(TWO), asks(C)))

    assert returned == [[["GET a"], ["GET b"]], [["GET x", "GET y"]], [["GET c"]]]
    assert asked == [Batch([*A.commands, *TWO.commands, *C.commands], atomic=True, writes=True), B]


def test_what_is_no_plain_batch_is_asked_by_itself():
    once, verb, wait = Batch([("INCR", "n")], once=True), Verb("push", [], []), Wait(1.0)
    returned, asked = driven(together(asks(once), asks(verb), asks(wait), asks(A)))

    assert returned == [[["INCR n"]], [verb], [wait], [["GET a"]]]
    assert asked == [once, verb, wait, A]


def test_steps_that_ask_nothing_return_too():
    assert driven(together(asks(), asks(A))) == ([[], [["GET a"]]], [A])
    assert driven(together()) == ([], [])
