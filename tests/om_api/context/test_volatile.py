import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import DAY, NOON, context, count, full, kinds, observed, said, snapshot, volatile

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


def test_another_threads_newest_messages_are_shown_with_their_time_in_the_agents_zone():
    read = snapshot(
        others={"t2": [said("one\ntwo", NOON), said("yes", NOON + DAY, "assistant")]}, other_counts={"t2": 2}
    )

    assert (
        '<unobserved-context thread="t2">\n[2025-12-30 13:00] user: one two\n[2025-12-31 13:00] assistant: yes\n'
        "</unobserved-context>"
    ) in volatile(context(read, timezone="Europe/Berlin"))


@pytest.mark.parametrize(
    ("elsewhere", "rest"),
    [({"t3": 7, "t4": 1}, "8 messages in 2 other threads"), ({"t3": 1}, "1 message in 1 other thread")],
)
def test_what_is_not_shown_of_a_thread_is_counted(elsewhere, rest):
    text = volatile(context(snapshot(others={"t2": [said("hi")]}, other_counts={"t2": 5, **elsewhere})))

    assert "(4 messages before these not shown)" in text
    assert f"Not shown: {rest}." in text


def test_the_most_recent_thread_is_shown_first():
    text = volatile(context(snapshot(others={"t2": [said("a", NOON)], "t3": [said("b", NOON + 1)]})))

    assert text.index('thread="t3"') < text.index('thread="t2"')


@given(
    lengths=st.lists(st.lists(st.integers(0, 80), min_size=1, max_size=4), max_size=6),
    each=st.integers(0, 120),
    total=st.integers(0, 200),
)
def test_excerpts_keep_to_their_budgets_and_every_message_is_shown_or_counted(lengths, each, total):
    others = {f"t{i}": [said("word " * n, NOON + n) for n in thread] for i, thread in enumerate(lengths)}
    text = volatile(context(snapshot([], [observed(1)], others=others), excerpt_tokens=each, others_tokens=total))

    sections = re.findall(r"<unobserved-context.*?</unobserved-context>", text, re.DOTALL)
    counted = sum(map(int, re.findall(r"(\d+) messages? (?:before|in)", text)))
    assert all(count(section) <= each for section in sections)
    assert sum(map(count, sections)) <= total
    assert counted + len(re.findall(r"^\[2025-", text, re.MULTILINE)) == sum(map(len, lengths))


def test_one_huge_message_of_another_thread_is_cut():
    text = volatile(context(snapshot(others={"t2": [said("word " * 100_000)]}), excerpt_tokens=50))

    assert 30 < text.count("word") <= 50
    assert "word…" in text or "wor…" in text or "wo…" in text or "w…" in text or " …" in text


def test_a_message_from_a_broken_clock_does_not_stop_a_read():
    text = volatile(context(snapshot(others={"t2": [said("hi", 10**18)]})))

    assert re.search(r"^\[9892-.*\] user: hi$", text, re.MULTILINE)
