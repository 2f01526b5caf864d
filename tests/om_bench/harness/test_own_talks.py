from benches import TALKS

from om_bench.harness.loading import load


def test_turns_are_a_minute_apart_unless_they_say_more():
    (talk,) = load(TALKS / "own.json")
    begun = talk.messages[0].at

    assert [message.at - begun for message in talk.messages[:3]] == [0, 60_000, 360_000]
    assert talk.messages[3].timestamp == 1_741_593_600_000


def test_questions_have_their_answers_evidence_and_kind():
    (talk,) = load(TALKS / "own.json")

    assert [(it.answer, it.evidence, it.kind) for it in talk.questions] == [
        ("at 9 AM", ("1.2",), "assistant"),
        ("4 seats", ("2.2",), "tool"),
    ]
