from __future__ import annotations

from datetime import UTC, datetime

import pytest
from extracts import START, WEDNESDAY, block, load, observe, reflect, said

from om_workers.llm.extractive.sizes import counted


def test_equal_requests_get_equal_replies():
    messages = load("planted")[:120]

    assert observe(*messages) == observe(*messages)


def test_many_messages_are_observed_within_the_target():
    messages = [said(f"I moved {number} boxes to room {number % 7}", minute=number) for number in range(3_000)]

    assert counted(observe(*messages, target_tokens=400)) <= 400


def test_lines_are_dated_in_the_timezone_and_in_order():
    late = said("I moved to Osaka", minute=600)
    text = observe(late, said("My name is Ada Byron"), timezone="Asia/Tokyo")

    assert block(text) == [
        "Date: Dec 3, 2025",
        "* 🔴 (23:30) User: My name is Ada Byron",
        "Date: Dec 4, 2025",
        "* 🔴 (09:30) User: I moved to Osaka",
    ]


def test_tomorrow_is_counted_from_the_day_in_the_timezone():
    late = said("The review is tomorrow", minute=60)

    assert "(meaning Dec 4, 2025)" in observe(late)
    assert "(meaning Dec 5, 2025)" in observe(late, timezone="Asia/Tokyo")


def test_no_messages_give_an_empty_block():
    assert observe() == "<observations>\n</observations>"


def test_the_clock_of_the_fixture_is_what_it_says():
    assert datetime.fromtimestamp(START / 1000, UTC).date() == WEDNESDAY


@pytest.mark.parametrize("target", [120, 300, 700])
def test_a_target_is_kept_in_tokens_as_models_count_them(target):
    assert counted(observe(*load("planted"), target_tokens=target)) <= target
    assert counted(reflect(observe(*load("planted"), target_tokens=2_000), target_tokens=target)) <= target
