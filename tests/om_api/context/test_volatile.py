from __future__ import annotations

import pytest
from snapshots import DAY, NOON, context, full, kinds, said, snapshot, volatile

from om_api.domain.values import ThreadState


def test_two_days_differ_in_the_volatile_block_only():
    today, tomorrow = context(full()), context(full(), now=NOON + DAY)

    assert today.blocks[:-1] == tomorrow.blocks[:-1]
    assert "Tuesday, December 30, 2025" in volatile(today)
    assert "Wednesday, December 31, 2025" in volatile(tomorrow)


def test_a_turn_of_the_same_day_changes_no_block_before_it():
    before, after = full(), full()
    after.messages.append(said("next", NOON + 2))

    assert context(after).blocks[:7] == context(before).blocks[:7]


def test_the_task_and_the_suggested_response_come_last():
    made = context(full("fine", task="Primary: ship it"))

    assert "<current-task>\nPrimary: ship it\n</current-task>" in volatile(made)
    assert "<suggested-response>\nfine\n</suggested-response>" in volatile(made)


def test_a_memory_that_cannot_be_reached_is_owned_up_to():
    made = context(snapshot([said("hello")]), unavailable=True)

    assert made.unavailable
    assert kinds(made) == ["message", "volatile"]
    assert "could not be reached" in volatile(made)


@pytest.mark.parametrize(
    "read",
    [
        snapshot([said("hello")], thread=ThreadState(id="t1", current_task="Primary: x")),
        snapshot([said("hello")], others={"t2": [said("there")]}, other_counts={"t2": 1}),
    ],
    ids=["a task", "an excerpt"],
)
def test_without_memory_a_task_or_an_excerpt_still_comes_last(read):
    assert kinds(context(read)) == ["message", "volatile"]
