from benches import TALKS, day

from om_bench.harness.loading import load


def test_a_chat_of_beam_has_the_questions_beside_it():
    (talk,) = load(TALKS / "beam" / "chat.json")

    assert [day(message) for message in talk.messages] == ["2024-03-15"] * 3
    assert talk.messages[0].content == "The first sprint of the lighthouse map ends on March 29."
    assert [question.evidence for question in talk.questions] == [("m-0",), ("m-0", "m-2")]
