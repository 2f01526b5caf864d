"""What a process remembers of the threads it read: bounded, and never more than a saving of time."""

import pytest

from om_api.client.remembered.reader_cache import ReaderCache
from om_api.domain.messages import Message
from om_api.domain.wire import encode_message


def read(recent, thread, size, of=None):
    """Have a thread's reader meet a message of about so many bytes, of its own unless `of` names another thread."""
    member = encode_message(Message(role="user", content="x" * size))
    reader = recent.of("harold", thread)
    reader.past.messages({of or thread: [(member, 1.0)]}, "harold")
    recent.keep("harold", thread, reader)


@pytest.fixture
def recent():
    return ReaderCache(len, most=200_000)


def test_a_thread_keeps_its_reader(recent):
    read(recent, "t-1", 100)

    assert recent.of("harold", "t-1") is recent.of("harold", "t-1")
    assert recent.of("harold", "t-1") is not recent.of("harold", "t-2")


def test_beyond_the_bound_the_longest_unused_is_forgotten(recent):
    for name in ("t-0", "t-1", "t-2", "t-3"):  # four of them fit
        read(recent, name, 8_000)
    used = recent.of("harold", "t-0")
    read(recent, "t-4", 8_000)

    assert recent.of("harold", "t-0") is used
    assert not recent.of("harold", "t-1").past.weight
    assert recent.of("harold", "t-4").past.weight


def test_one_that_is_larger_than_a_quarter_of_the_bound_pushes_no_other_out(recent):
    read(recent, "t-1", 100)
    read(recent, "t-2", 20_000)

    assert recent.of("harold", "t-1").past.weight
    assert not recent.of("harold", "t-2").past.weight


def test_one_large_reader_may_take_all_where_it_is_needed_in_an_outage():
    recent = ReaderCache(len, most=200_000, share=1.0)
    read(recent, "t-1", 100)
    read(recent, "t-2", 40_000)
    read(recent, "t-3", 100_000)

    assert recent.of("harold", "t-2").past.weight
    assert not recent.of("harold", "t-3").past.weight


@pytest.mark.parametrize("other", [None, "t-2"])
def test_a_thread_of_which_there_is_nothing_is_not_remembered(recent, other):
    """Catches a reader's key that asks for made-up threads: 12,000 of them took 90 MB, and no bound in bytes saw them."""
    if other:
        read(recent, "t-1", 100, of=other)
    else:
        recent.keep("harold", "t-1", recent.of("harold", "t-1"))

    assert recent.of("harold", "t-1") is not recent.of("harold", "t-1")
