"""What a look asks for, and what of the replies is the answer to what; what a reader holds is not asked for again."""

import pytest

from om_api.domain.values import Scope
from om_api.store.memory.context_query import EXCERPT_MESSAGES, Answers, HeldMemory, Names, answers, commands
from om_api.store.memory.keys import Keys

OF = Keys("p").of("harold")
KNOWN = Names(Scope("harold"), {"c1": "t1", "c2": "t2", "c3": ""}, ("t3", "t4"))
OLD = [(b"first", 1.0), (b"last", 2.5)]
HELD = HeldMemory(KNOWN.scope, b"e", b"1", OLD, {"c1": [(b"m", 1.0)]}, {"c1": {b"state": b"ready"}})


def echoed(asked):
    """A server that replies to every command with the key it was asked about."""
    replies = []
    for verb, *words in asked:
        name = str(words[0]).encode() if words else b""
        scores = "WITHSCORES" in words
        replies.append(
            {name: b""} if verb == "HGETALL" else [(name, 1.0)] if scores else 7 if verb == "ZCARD" else name
        )
    return replies


@pytest.mark.parametrize("held", [None, HELD], ids=["a new reader", "one that remembers"])
def test_every_answer_is_of_the_key_that_it_is_told_as(held):
    asked = commands(OF, "t1", KNOWN, held)
    found = answers(echoed(asked), KNOWN, held)

    assert found.record == {OF.record(KNOWN.scope).encode(): b""}
    assert (found.own, found.observations) == (_of(OF.messages("t1")), _of(OF.observations(KNOWN.scope)))
    assert found.newest == OF.threads.encode()
    assert {chunk: found.details[chunk] for chunk in ("c2", "c3")} == {
        c: {OF.chunk(c).encode(): b""} for c in ("c2", "c3")
    }
    assert {chunk: found.sealed[chunk] for chunk in ("c2", "c3")} == {c: _of(OF.sealed(c)) for c in ("c2", "c3")}
    assert found.others == {other: _of(OF.messages(other)) for other in ("t3", "t4")}
    assert list(found.details) == list(found.sealed) == ["c1", "c2", "c3"]


def _of(key):
    return [(key.encode(), 1.0)]


def test_what_is_held_is_not_asked_for_and_told_as_it_was():
    asked = commands(OF, "t1", KNOWN, HELD)
    found = answers(echoed(asked), KNOWN, HELD)
    words = [word for command in asked for word in command]

    assert not {OF.chunk("c1"), OF.sealed("c1")} & set(words)
    assert (found.details["c1"], found.sealed["c1"]) == (HELD.ready["c1"], HELD.sealed["c1"])
    assert ("ZRANGE", OF.observations(KNOWN.scope), "2.5", "+inf", "BYSCORE", "WITHSCORES") in asked


def test_of_another_threads_chunk_only_the_newest_are_asked_for():
    asked = commands(OF, "t1", KNOWN, None)
    begins = {command[1]: command[2] for command in asked if command[0] == "ZRANGE"}

    assert [begins[OF.sealed(chunk)] for chunk in ("c1", "c2", "c3")] == [0, -EXCERPT_MESSAGES, 0]
    assert begins[OF.messages("t3")] == -EXCERPT_MESSAGES


def look(observations, known, epoch=b"e", generation=b"1"):
    found = dict.fromkeys(Answers._fields)
    record = {b"epoch": epoch, b"generation": generation}
    return Answers(**{**found, "record": record, "observations": observations, "known": known})


def test_what_came_is_appended_to_what_is_held():
    assert HELD.whole(look([OLD[-1], (b"new", 3.0)], 3)) == [*OLD, (b"new", 3.0)]
    assert HELD.whole(look([OLD[-1]], 2)) == OLD


@pytest.mark.parametrize(
    "found",
    [
        look([OLD[-1]], 2, epoch=b"other"),
        look([OLD[-1]], 2, generation=b"2"),
        look([OLD[-1]], 1),
        look([(b"another", 2.5)], 2),
        look([], 1),
    ],
    ids=["another memory", "a reflection", "one forgotten", "another last one", "the last one gone"],
)
def test_what_is_no_longer_the_memory_that_is_held_is_read_anew(found):
    assert HELD.whole(found) is None
