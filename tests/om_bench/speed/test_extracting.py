import random

from om_bench.speed import extracting


def test_the_conversation_is_the_same_every_time_and_two_people_speak_in_turns():
    said, again = (list(extracting.spoken(random.Random(1))) for _ in range(2))

    assert said == again
    assert len(said) == 1_500
    assert {message.content.partition(":")[0] for message in said[::2]} == {"Ilse"}
    assert {message.content.partition(":")[0] for message in said[1::2]} == {"Tomas"}
    assert not any("{" in message.content for message in said)


def test_a_tenth_and_a_quarter_of_the_tokens_are_measured(monkeypatch):
    monkeypatch.setattr(extracting, "_ROUNDS", 1)
    figures = list(extracting.extractive_observer(None))

    assert [figure.work for figure in figures] == [
        "extractive observer, 10% of the tokens",
        "extractive observer, 25% of the tokens",
    ]
    assert all(figure.value > 0 and figure.unit == "messages/s" for figure in figures)
