"""Whoever uses a memory can have a model tried, without ever calling one."""

import pytest
from trial_worker import READY, answering
from world import World

from om_api.domain.errors import ModelError, NotFoundError

MODEL = "gemini-2.5-flash"


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def test_what_a_model_answers_is_waited_for(world):
    with answering(world, READY, ModelError("gemini-2.5-flash refused (403)")):
        found = [world.om.try_model(MODEL) for _ in range(2)]

    assert [each.outcome for each in found] == ["answered", "failed"]
    assert (found[0].text, found[0].input, found[1].error) == ("ready", 48, "gemini-2.5-flash refused (403)")


def test_without_a_worker_it_is_busy_and_can_be_looked_at_later(world):
    asked = world.om.try_model(MODEL, 0.3)
    assert asked.outcome == "busy"
    assert world.om.try_model(MODEL, 0) == asked

    with answering(world, READY):
        assert world.om.model_trial(MODEL, asked.asked_at, 30).outcome == "answered"


def test_a_model_that_no_worker_uses_is_not_asked_for(world):
    with pytest.raises(NotFoundError, match=r"no worker uses a model 'gpt-mystery': name one of .*gemini-2.5-flash"):
        world.om.try_model("gpt-mystery", 0)

    assert not list(world.client.scan_iter(f"{world.prefix}:lock:try*"))
