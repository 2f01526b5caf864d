"""Steps say what their replies are: several are one round trip, and to each its own replies."""

from om_api.store.driver.replies import as_bytes, as_int, as_list, server_ms, write
from om_api.store.driver.steps import Batch, Verb, Wait, batch, by_name, each


def driven(steps, *replies):
    """Drive steps with a server that replies so, one after the other; what they returned, and what was asked for."""
    asked, coming, reply = [], iter(replies), None
    generator = iter(steps)
    try:
        while True:
            asked.append(generator.send(reply))
            reply = next(coming)
    except StopIteration as end:
        return end.value, asked


A, B, C = (as_bytes("GET", name) for name in "abc")


def test_several_are_one_round_trip_and_each_gets_its_own_replies():
    both = batch(as_list("ZRANGE", "z", 0, -1), each([A, B]), as_int("LLEN", "l"))
    returned, asked = driven(both, [[b"x"], b"1", None, 3])

    assert returned == ([b"x"], [b"1", None], 3)
    assert asked == [Batch([("ZRANGE", "z", 0, -1), ("GET", "a"), ("GET", "b"), ("LLEN", "l")])]


def test_how_several_are_sent_is_said_by_the_last_who_joins_them_and_one_write_makes_them_writes():
    inner = batch(A, write(("SET", "x", 1)), atomic=False)

    returned, asked = driven(batch(inner, C), [b"1", b"OK", b"2"])

    assert (inner.atomic, inner.writes) == (False, True)
    assert returned == ((b"1", None), b"2")
    assert asked == [Batch([("GET", "a"), ("SET", "x", 1), ("GET", "c")], writes=True)]


def test_one_batch_of_hundreds_of_small_reads_makes_all_that_it_is_joined_with_one_script_call():
    slim = Batch([("GET", "a")], atomic=False, slim=True)

    assert batch(slim, C, atomic=False) == Batch([("GET", "a"), ("GET", "c")], atomic=False, slim=True)


def test_what_is_asked_by_name_comes_by_name():
    assert driven(by_name("ab", lambda name: as_int("GET", name)), [b"1", None])[0] == {"a": 1, "b": 0}


def test_steps_that_ask_nothing_return_too():
    assert driven(each([])) == ([], [])
    assert driven(write()) == (None, [])
    assert driven(by_name([], as_bytes)) == ({}, [])


def test_a_script_and_a_wait_are_asked_by_themselves():
    verb, wait = Verb("push", ["k"], [1], lambda reply: [reply]), Wait(1.0)

    assert driven(verb, b"done") == ([b"done"], [verb])
    assert driven(wait, None) == (None, [wait])


def test_what_is_made_of_a_value_leaves_how_it_is_asked():
    once = server_ms(once=True).then(lambda ms: ms // 1000)

    assert driven(once, [(1_790_000_000, 5)]) == (1_790_000_000, [Batch([("TIME",)], once=True)])
    assert as_int("HDEL", "h", "f").writing(once=True) == Batch([("HDEL", "h", "f")], writes=True, once=True)
