"""What a shared memory is told without a model: sentences with the words of a kind, of the kinds that are wanted."""

import pytest

from om_api import Message
from om_workers.llm.extractive.sharing import shared
from om_workers.llm.extractive.units import units

ALL = ("decisions", "preferences", "facts")


def told(text, *kinds, role="user"):
    message = Message(role=role, content=text, id="m-1", thread_id="t", resource_id="r", at=1_763_600_000_000)
    return shared(units([message]), kinds or ALL)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use Postgres.", "decisions"),
        ("I always prefer tea.", "preferences"),
        ("FYI the office is closed on Friday.", "facts"),
    ],
)
def test_a_sentence_is_of_the_kind_of_its_words(text, kind):
    assert told(text) == {kind: [text]}
    assert told(text, *(each for each in ALL if each != kind)) == {}


def test_what_is_of_two_kinds_is_told_of_the_one_that_is_wanted():
    text = "We decided that I always prefer tea."

    assert told(text) == {"decisions": [text]}
    assert told(text, "preferences") == {"preferences": [text]}


@pytest.mark.parametrize(
    ("text", "role"), [("Have we decided to use Postgres?", "user"), ("We decided to use it.", "tool")]
)
def test_a_question_or_what_a_tool_returned_tells_nothing(text, role):
    assert told(text, role=role) == {}
