from benches import TALKS, day

from om_bench.harness.loading import load


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
