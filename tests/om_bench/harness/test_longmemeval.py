from benches import TALKS, day

from om_bench.harness.loading import load


def test_sessions_of_longmemeval_are_told_in_the_order_of_their_dates():
    talk = load(TALKS / "longmemeval.json")[0]

    assert [day(message) for message in talk.messages] == ["2024-01-05"] * 2 + ["2024-02-11"] * 2
    assert [question.evidence for question in talk.questions] == [("s0-0",)]


def test_a_question_has_its_day_and_one_that_is_to_be_declined_is_unproven():
    first, second = load(TALKS / "longmemeval.json")

    assert first.questions[0].asked_at == 1_708_419_600_000
    assert not first.questions[0].declined
    assert (second.questions, second.unproven[0].declined) == ((), True)
