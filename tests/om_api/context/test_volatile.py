import re

from hypothesis import given, settings
from hypothesis import strategies as st
from snapshots import DAY, NOON, context, count, kinds, observed, said, snapshot, volatile


def test_a_memory_that_cannot_be_reached_is_owned_up_to():
    made = context(snapshot([said("hello")]), unavailable=True)

    assert made.unavailable
    assert kinds(made) == ["message", "volatile"]
    assert "could not be reached" in volatile(made)


def test_another_threads_newest_messages_are_shown_with_their_time_in_the_agents_zone():
    read = snapshot(
        others={"t2": [said("one\ntwo", NOON), said("yes", NOON + DAY, "assistant")]}, other_counts={"t2": 2}
    )

    assert (
        '<unobserved-context thread="t2">\n[2025-12-30 13:00] user: one two\n[2025-12-31 13:00] assistant: yes\n'
        "</unobserved-context>"
    ) in volatile(context(read, timezone="Europe/Berlin"))


@settings(max_examples=40)
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


def test_a_message_from_a_broken_clock_does_not_stop_a_read():
    text = volatile(context(snapshot(others={"t2": [said("hi", 10**18)]})))

    assert re.search(r"^\[9892-.*\] user: hi$", text, re.MULTILINE)
