import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import DAY, NOON, context, count, observed, said, snapshot, volatile


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
