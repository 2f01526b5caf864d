"""What a process remembers of the threads it read: bounded, and never more than a saving of time."""

from __future__ import annotations

import pytest

from om_api.recent import Recent
from om_api.values import Message, encode_message


def read(recent, thread, size):
    """Have a thread's reader meet a message of about so many bytes."""
    member = encode_message(Message(role="user", content="x" * size))
    recent.of("harold", thread).past.messages({thread: [(member, 1.0)]}, "harold")
    recent.weigh("harold", thread)


@pytest.fixture
def recent():
    return Recent(len, most=1_000)


def test_a_thread_keeps_its_reader(recent):
    read(recent, "t-1", 100)

    assert recent.of("harold", "t-1") is recent.of("harold", "t-1")
    assert recent.of("harold", "t-1") is not recent.of("harold", "t-2")


def test_beyond_the_bound_the_longest_unused_is_forgotten(recent):
    for thread in ("t-1", "t-2", "t-3"):
        read(recent, thread, 300)
    first, third = recent.of("harold", "t-1"), recent.of("harold", "t-3")
    read(recent, "t-4", 300)

    assert recent.of("harold", "t-1") is first
    assert recent.of("harold", "t-3") is third
    assert recent.of("harold", "t-2").past.weight == 0


def test_the_reader_in_use_is_kept_whatever_it_weighs(recent):
    read(recent, "t-1", 5_000)

    assert recent.of("harold", "t-1").past.weight > 1_000
