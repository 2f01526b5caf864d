"""Talks are read from the files of each benchmark, and from our own."""

import json

import pytest
from benches import TALKS, day

from om_api.domain.errors import InvalidInputError
from om_bench.harness.loading import load


def test_a_file_in_no_known_format_is_named(tmp_path):
    for text in ["{", "[]", "{}", '[{"conversation": {}}]', '[{"haystack_sessions": 1}]', "[1]", '[{"a": 1}]']:
        file = tmp_path / "other.json"
        file.write_text(text)

        with pytest.raises(InvalidInputError, match=r"other\.json"):
            load(file)


def test_a_chat_of_beam_has_the_questions_beside_it():
    (talk,) = load(TALKS / "beam" / "chat.json")

    assert [day(message) for message in talk.messages] == ["2024-03-15"] * 3
    assert talk.messages[0].content == "The first sprint of the lighthouse map ends on March 29."
    assert [question.evidence for question in talk.questions] == [("m-0",), ("m-0", "m-2")]


def test_a_question_has_its_rubric_and_one_without_source_turns_is_unproven(tmp_path):
    (tmp_path / "probing_questions").mkdir()
    chat = load(TALKS / "beam" / "chat.json")[0]
    asked = {
        "summarization": [
            {"question": "What is it?", "answer": "a map", "rubric": ["says map"], "source_chat_ids": [0]}
        ]
    }
    (tmp_path / "probing_questions" / "probing_questions.json").write_text(json.dumps(asked))
    (tmp_path / "chat.json").write_text((TALKS / "beam" / "chat.json").read_text())

    assert load(tmp_path / "chat.json")[0].questions[0].rubric == ("says map",)
    assert [(each.text, each.declined) for each in chat.unproven] == [("Who paid?", True)]


def test_both_people_of_locomo_are_users_whose_messages_begin_with_their_names():
    talk = load(TALKS / "locomo.json")[0]

    assert {message.role for message in talk.messages} == {"user"}
    assert talk.messages[0].content == "Ilse: I adopted a greyhound called Biscuit last Tuesday!"
    assert talk.people == ("Ilse", "Noor")
    assert [day(talk.messages[0]), day(talk.messages[-1])] == ["2024-03-03", "2024-04-19"]


def test_questions_of_locomo_without_answer_or_evidence_are_left_out():
    questions = load(TALKS / "locomo.json")[0].questions

    assert [question.answer for question in questions] == ["a greyhound", "2", "beekeeper"]
    assert [question.evidence for question in questions] == [("D1-1",), ("D2-1", "D1-2"), ("D2-2",)]


def test_what_only_a_reader_can_be_judged_by_is_unproven():
    asked = load(TALKS / "locomo.json")[0].unproven

    assert [(each.text, each.answer, each.declined) for each in asked] == [
        ("Where did Ilse park?", "", True),
        ("Who sang?", "nobody", False),
    ]


def test_sessions_of_longmemeval_are_told_in_the_order_of_their_dates():
    talk = load(TALKS / "longmemeval.json")[0]

    assert [day(message) for message in talk.messages] == ["2024-01-05"] * 2 + ["2024-02-11"] * 2
    assert [question.evidence for question in talk.questions] == [("s0-0",)]


def test_a_question_has_its_day_and_one_that_is_to_be_declined_is_unproven():
    first, second = load(TALKS / "longmemeval.json")

    assert first.questions[0].asked_at == 1_708_419_600_000
    assert not first.questions[0].declined
    assert (second.questions, second.unproven[0].declined) == ((), True)


def test_questions_have_their_answers_evidence_and_kind():
    (talk,) = load(TALKS / "own.json")

    assert [(it.answer, it.evidence, it.kind) for it in talk.questions] == [
        ("at 9 AM", ("1.2",), "assistant"),
        ("4 seats", ("2.2",), "tool"),
    ]
