"""What `om bench cost` says of a conversation, and what it assumed."""

import json

import msgspec
from benches import LOCOMO, SMALL, cost

from om_bench.cost.compare import CostPlan


def test_two_runs_write_the_same_bytes(found):
    assert json.loads(cost(*SMALL, "--json").output) == found


def test_a_recorded_conversation_is_measured_as_well():
    found = cost(LOCOMO, "--actor=gpt-5.2", "--set=message_threshold=1000")

    assert found.exit_code == 0
    assert "- *as given*: `message_threshold: 1000`" in found.output
    assert "| memory, as given: extractive |" in found.output


def test_the_price_of_an_actor_that_nobody_knows_is_told_before_anything_is_replayed():
    found = cost("--actor=llama-9", "--calls=2")

    assert found.exit_code == 2
    assert "how llama-9 caches prompts is not known here" in found.output


def test_a_plan_says_what_was_assumed(found):
    plan = msgspec.convert(found["plan"], CostPlan)

    assert (plan.ratio, plan.system, plan.window) == (10, 2000, 30_000)
