"""A copy's beginning: only where there is no such thread, and again where it was begun."""

import pytest
from scene import HAROLD, interrupted, nothing_changes, observed, push

from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import CopiedFrom
from om_api.store.threads.copying import TAIL, begin, to_copy

ORIGIN = CopiedFrom(resource_id="harold", thread_id="t1", message_id="m1")


def beginning(store, thread="t9"):
    return begin(store.keys, ORIGIN, "harold", thread, 5)


def ids(store, until=None, *, apart=False):
    return [each.id for each in store.run(to_copy(store.keys, HAROLD, "t1", until, apart=apart))]


def test_a_thread_that_begins_meanwhile_is_left_alone(store):
    push(store, 1)
    copying = interrupted(beginning(store), "copy", lambda: push(store, 2, thread="t9"))
    with pytest.raises(InvalidInputError, match="harold has a thread t9 already"):
        store.run(copying)

    assert not store.client.exists(store.keys.of("harold").thread("t9"))


def test_a_copy_that_was_begun_goes_on(store):
    push(store, 1)
    store.run(beginning(store))
    push(store, 2, thread="t9")
    with nothing_changes(store):
        store.run(beginning(store))


def test_within_a_memory_a_copy_holds_what_is_not_observed(store):
    observed(store, "o1", 1, 2)
    push(store, 3, 4)

    assert (ids(store), ids(store, "m3")) == (["m3", "m4"], ["m3"])
    assert (ids(store, "m2"), ids(store, apart=True)) == (["m1", "m2"], ["m1", "m2", "m3", "m4"])


def test_up_to_an_observed_message_it_begins_with_the_last_ones_before_it(store):
    observed(store, "o1", *range(1, 16))
    observed(store, "o2", *range(16, 31))

    assert ids(store, "m28") == [f"m{n}" for n in range(29 - TAIL, 29)]
    assert len(ids(store)) == TAIL


def test_what_is_not_kept_cannot_be_copied(store):
    push(store, 1)
    with pytest.raises(NotFoundError, match="message m7 of thread t1 of harold is not kept"):
        ids(store, "m7")
