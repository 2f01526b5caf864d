"""The index of reviews says where to look; what it says of a memory is checked there, and mended."""

import pytest
from scene import HAROLD, cleared, forget_first, observed, put_up

from om_api.domain.values import Scope
from om_api.store.reviews import review_index
from om_api.store.reviews.drafts import Review, WaitingReview

OTHER = Scope("ada", "t1")


def listed(store):
    return store.client.zrange(store.keys.reviews, 0, -1, withscores=True)


def expected(store, at=9):
    store.run(review_index.expect(store.keys, {HAROLD: at}))


def test_what_waits_is_listed_with_when_it_counts(store):
    observed(store, "o1", 1)
    expected(store)
    assert store.run(review_index.waiting(store.keys)) == []  # who was to put it up died
    put_up(store, "o1")

    found = WaitingReview(resource="harold", thread=None, id="r1", asked_at=5, expires_at=9)
    assert store.run(review_index.waiting(store.keys)) == [found]
    assert store.run(review_index.waiting(store.keys, {"harold"})) == [found]
    assert store.run(review_index.waiting(store.keys, {"ada"})) == []
    assert store.run(review_index.of_scopes(store.keys, [HAROLD, OTHER])) == {HAROLD: found}


@pytest.mark.parametrize("end", ["sent back", "forgotten", "cleared"])
def test_what_waits_no_more_is_listed_no_more_though_the_index_names_it(store, end):
    observed(store, "o1", 1)
    expected(store)
    put_up(store, "o1")
    {
        "sent back": lambda: put_up(store, "o1", was="r1", review=Review("r2", 5)),
        "forgotten": lambda: forget_first(store),
        "cleared": lambda: cleared(store),
    }[end]()

    assert store.run(review_index.waiting(store.keys)) == []
    store.run(review_index.mend(store.keys, 8, 10))
    assert listed(store)  # not before its time: who puts it up may be between the two
    store.run(review_index.mend(store.keys, 9, 10))
    assert listed(store) == []


def test_what_should_have_been_decided_and_waits_stays_listed(store):
    observed(store, "o1", 1)
    expected(store)
    put_up(store, "o1")
    store.client.zadd(store.keys.reviews, {"no id!": 1, b"\xff": 2})
    store.run(review_index.mend(store.keys, 100, 10))

    assert listed(store) == [(b"harold", 9.0)]


def test_who_decides_forgets_only_what_was_decided(store):
    """Time 0: the first is approved. Time 1: the next one is put up. Time 2: what the index says of the first goes."""
    expected(store, 9)
    expected(store, 12)
    store.run(review_index.decided(store.keys, HAROLD, 9))
    assert listed(store) == [(b"harold", 12.0)]
    store.run(review_index.decided(store.keys, HAROLD, 12))

    assert listed(store) == []


def test_a_memory_whose_keys_are_not_ours_hides_no_other_one(store):
    observed(store, "o1", 1)
    expected(store)
    put_up(store, "o1")
    store.client.set(store.keys.of("ada").record(OTHER), "text", ex=9)
    store.client.set(store.keys.of("ada").draft(OTHER), "text", ex=9)
    store.run(review_index.expect(store.keys, {OTHER: 1}))

    assert [each.resource for each in store.run(review_index.waiting(store.keys))] == ["harold"]
