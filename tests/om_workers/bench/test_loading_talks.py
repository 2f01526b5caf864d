from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from om_api.errors import InvalidInputError
from om_workers.bench.loading import load

DATA = Path(__file__).parents[2] / "data" / "bench"


def day(message):
    return datetime.fromtimestamp(message.at / 1000, UTC).date().isoformat()


def test_both_people_of_locomo_are_users_whose_messages_begin_with_their_names():
    talk = load(DATA / "locomo.json")[0]

    assert {message.role for message in talk.messages} == {"user"}
    assert talk.messages[0].content == "Ilse: I adopted a greyhound called Biscuit last Tuesday!"
    assert talk.people == ("Ilse", "Noor")
    assert [day(talk.messages[0]), day(talk.messages[-1])] == ["2024-03-03", "2024-04-19"]


def test_an_image_of_locomo_is_told_by_its_caption():
    assert load(DATA / "locomo.json")[0].messages[1].content.endswith("gates. [shares a photo of a rusty iron gate]")


def test_questions_of_locomo_without_answer_or_evidence_are_left_out():
    questions = load(DATA / "locomo.json")[0].questions

    assert [question.answer for question in questions] == ["a greyhound", "2", "beekeeper"]
    assert [question.evidence for question in questions] == [("D1-1",), ("D2-1", "D1-2"), ("D2-2",)]


def test_sessions_of_longmemeval_are_told_in_the_order_of_their_dates():
    talk = load(DATA / "longmemeval.json")[0]

    assert [day(message) for message in talk.messages] == ["2024-01-05"] * 2 + ["2024-02-11"] * 2
    assert [question.evidence for question in talk.questions] == [("s0-0",)]


def test_what_longmemeval_wants_declined_is_no_question():
    assert load(DATA / "longmemeval.json")[1].questions == ()


def test_a_chat_of_beam_has_the_questions_beside_it():
    (talk,) = load(DATA / "beam" / "chat.json")

    assert [day(message) for message in talk.messages] == ["2024-03-15"] * 3
    assert talk.messages[0].content == "The first sprint of the lighthouse map ends on March 29."
    assert [question.evidence for question in talk.questions] == [("m-0",), ("m-0", "m-2")]


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '[{"conversation": {}}]', '[{"haystack_sessions": 1}]', "[1]", '[{"a": 1}]']
)
def test_a_file_in_no_known_format_is_named(tmp_path, text):
    file = tmp_path / "other.json"
    file.write_text(text)

    with pytest.raises(InvalidInputError, match=r"other\.json"):
        load(file)
