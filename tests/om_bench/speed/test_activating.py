"""The activation that is measured is the one that a read makes."""

from om_bench.speed import activating
from om_bench.speed.stand import stand


def test_one_call_activates_the_messages_that_are_said_to_be(monkeypatch):
    monkeypatch.setattr(activating, "_TIMES", 1)
    monkeypatch.setattr(activating, "_MANY", 600)
    with stand(None) as made:
        beyond, beside = activating.activation(made)

    assert beyond.value > 0
    assert beside.work == "server's time to activate 600 messages, beside 300"
