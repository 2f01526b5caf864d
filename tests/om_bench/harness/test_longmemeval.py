from benches import TALKS, day

from om_bench.harness.loading import load


def test_sessions_of_longmemeval_are_told_in_the_order_of_their_dates():
    talk = load(TALKS / "longmemeval.json")[0]

    assert [day(message) for message in talk.messages] == ["2024-01-05"] * 2 + ["2024-02-11"] * 2
    assert [question.evidence for question in talk.questions] == [("s0-0",)]


def test_what_longmemeval_wants_declined_is_no_question():
    assert load(TALKS / "longmemeval.json")[1].questions == ()
