"""P3: coverage is decided by set membership. A late, skewed or same-millisecond message is observed like any other."""

import pytest

_YEAR_MS = 31_536_000_000


@pytest.mark.parametrize("shift", [-_YEAR_MS, 0, _YEAR_MS])
def test_a_message_older_or_newer_than_everything_observed_is_observed(world, shift):
    """Catches a cursor: with `last observed at` the late message would count as seen and never reach an observation."""
    at = 1_790_000_000_000
    world.say(*[f"message {n}" for n in range(12)], timestamp=at)
    world.settle()
    assert world.om.observations("harold")
    cursor = max(observation.to for observation in world.om.observations("harold"))
    (late,) = world.say("the late one", timestamp=at + shift)
    assert shift > 0 or at + shift <= cursor  # `newer than what was observed` would pass it over
    assert late in [message.id for message in world.context().messages]
    world.observe_now()
    assert f"[{late}]" in world.context().text


def test_messages_of_one_millisecond_are_told_apart(world):
    said = world.say(*[f"message {n}" for n in range(30)], timestamp=1_790_000_000_000)
    world.settle()
    assert world.covering() == sorted(said)


def test_a_message_that_comes_while_its_neighbours_are_observed_stays_raw(world):
    """Catches `cursor = now` after an observation: what came while the model thought would be skipped."""
    world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    world.perform(*world.next_task())
    (late,) = world.say("while the model thinks", timestamp="1999-12-31")
    world.work()
    assert late in [message.id for message in world.context().messages]
