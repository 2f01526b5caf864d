"""What recall answers, as it is handed on: to an agent as values, to others as JSON."""

import json
from typing import get_args

import msgspec
import pytest

from om_api.domain.messages import Message
from om_api.recall.recalled import KINDS, Browsed, Kind, Recalled, RecalledHit

HIT = RecalledHit(
    kind="message",
    id="m1",
    thread_id="t-1",
    at=1_763_600_000_000,
    text="the code is 7",
    role="user",
    matched=("code",),
    message=Message(role="user", content="the code is 7", id="m1"),
    after=(Message(role="assistant", content="noted", id="m2"),),
)


def test_an_answer_is_handed_on_as_json_whole():
    told = json.loads(msgspec.json.encode(Recalled(query="code", hits=(HIT,), next=1, notes=("n",))))
    (hit,) = told["hits"]

    assert (told["query"], told["next"], told["reason"], told["notes"]) == ("code", 1, "", ["n"])
    assert (hit["kind"], hit["id"], hit["matched"], hit["covered_by"]) == ("message", "m1", ["code"], "")
    assert hit["message"] == {"id": "m1", "role": "user", "content": "the code is 7"}
    assert ([each["id"] for each in hit["after"]], hit["before"]) == (["m2"], [])


def test_without_hits_it_is_an_answer_too():
    nothing = Recalled(query="tea", reason="nothing is kept")

    assert (nothing.hits, nothing.next, nothing.notes) == ((), None, ())
    assert Browsed(message=None) == Browsed(message=None, before=(), after=(), earlier=False, later=False)


def test_it_is_nobodys_to_change():
    with pytest.raises(AttributeError):
        HIT.score = 2.0


def test_the_kinds_that_may_be_asked_for_are_those_that_may_be_answered():
    assert get_args(Kind) == KINDS == ("message", "observation", "generation")
