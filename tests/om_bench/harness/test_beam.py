import json

from benches import TALKS, day

from om_bench.harness.loading import load


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
