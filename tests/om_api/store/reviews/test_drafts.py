"""Drafts that wait for a review: how they are read, listed and committed."""

import pytest
from scene import (
    AT,
    HAROLD,
    TTL,
    cleared,
    erasing,
    forget_first,
    interrupted,
    observed,
    put_up,
    record,
    reflect,
    restored,
    words,
)
from stores import fresh

from om_api.domain.values import Outcome, Scope
from om_api.store.lines.correcting import By, Corrector, Keeping
from om_api.store.lines.pinning import pin, unpin
from om_api.store.memory import reading, scope_state
from om_api.store.reviews import review_index
from om_api.store.reviews.commit import commit
from om_api.store.reviews.drafts import Review, WaitingReview, reflection_input, review_of


def read(store):
    return store.run(reflection_input(store.keys, HAROLD))


def test_a_draft_that_waits_is_read_with_its_review(store):
    for n in (1, 2, 3):
        observed(store, f"o{n}", n)
    assert (read(store).draft, read(store).review) == (None, Review())
    assert put_up(store, "o1", "o2") is Outcome.BUFFERED
    found = read(store)
    assert found.draft.generation.text == "* all"
    assert [each.observation.id for each in found.covered(found.draft)] == ["o1", "o2"]
    assert found.review == Review("r1", 5, 9)
    assert (found.review.waits, found.review.sent_back) == (True, False)

    put_up(store, "o1", "o2", was="r1", review=Review("r2", 5), comment="no")
    assert read(store).draft.comment == "no"
    assert (read(store).review.waits, read(store).review.sent_back) == (False, True)
    store.client.hset(store.keys.of("harold").record(HAROLD), "generation", 7)  # a draft of another one is none
    assert (read(store).draft, read(store).review) == (None, Review())


def test_a_draft_goes_with_what_it_was_made_of_and_its_review_with_it(store):
    changes = [forget_first, lambda of: of.run(erasing(of, "turn 2")), lambda of: restored(of, 0)]
    for n, change in enumerate(fresh(store, changes)):
        observed(store, "o1", 1)
        observed(store, "o2", 2)
        reflect(store, "o1")
        put_up(store, "o2")
        change(store)
        assert read(store).draft is None, n
        assert review_of(store.run(scope_state.look(store.keys, HAROLD))) == Review(), n


def test_what_is_drafted_ahead_of_need_waits_for_nobody(store):
    """Catches the review of a generation that is in force taken for that of the next draft."""
    observed(store, "o1", 1)
    put_up(store, "o1")
    forget_first(store)
    observed(store, "o2", 2)
    assert record(store).proposed == "r1"  # of no meaning without its draft
    assert put_up(store, "o2", was="r1", review=Review()) is Outcome.BUFFERED

    assert read(store).draft
    assert read(store).review == Review()
    fields = store.client.hkeys(store.keys.of("harold").record(HAROLD))
    assert not [name for name in fields if name.startswith(b"proposed")]


LOTTE = By("lotte", AT)


@pytest.fixture
def waiting(store):
    """A reflection of o1 and o2 that waits for its review, and o3 beside it."""
    for n in (1, 2, 3):
        observed(store, f"o{n}", n)
    assert put_up(store, "o1", "o2") is Outcome.BUFFERED
    return store


def pinned(store, line):
    return store.run(pin(store.keys, HAROLD, line, None, LOTTE, 1_000, words)).pin


def committing(store):
    found = read(store)
    return commit(store.keys, found, found.draft, words, 10, TTL)


def correct(store, was, now):
    return store.run(Corrector(store.keys, HAROLD, words, LOTTE, Keeping(10, TTL)).correct(was, now, None, None))


def in_force(store):
    return [made.text for made in store.run(reading.generations(store.keys, HAROLD))]


def test_what_is_pinned_or_unpinned_while_it_is_committed_counts(waiting):
    """Time 0: it is read. Time 1: a line of it is pinned. Time 2: the commit lacks it, is refused, and made anew."""
    other = pinned(waiting, "noted o2")

    def meanwhile():
        pinned(waiting, "noted o1")
        waiting.run(unpin(waiting.keys, HAROLD, other.id, None))

    outcome, _ = waiting.run(interrupted(committing(waiting), "reflect", meanwhile))
    assert outcome is Outcome.REFLECTED
    (text,) = in_force(waiting)
    assert [text.count(line) for line in ("* noted o1", "* all", "noted o2")] == [1, 1, 0]


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda store: put_up(store, "o1", "o2", was="r1", review=Review("r2", 5), comment="no"),
        forget_first,
        lambda store: correct(store, "noted o1", "said o1"),
        lambda store: store.run(committing(store)),
    ],
    ids=["sent back", "forgotten", "corrected", "committed"],
)
def test_a_pin_is_no_way_past_what_else_happened(waiting, meanwhile):
    """The commit is made anew for a pin, and for nothing that was decided or removed beside it."""
    count = []

    def both():
        meanwhile(waiting)
        count.append(len(in_force(waiting)))
        line = "all" if count[0] else "noted o2"
        pinned(waiting, line)

    outcome, _ = waiting.run(interrupted(committing(waiting), "reflect", both))
    assert outcome is Outcome.SUPERSEDED
    assert len(in_force(waiting)) == count[0]


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


def test_what_waits_no_more_is_listed_no_more_though_the_index_names_it(store):
    def sent_back(of):
        return put_up(of, "o1", was="r1", review=Review("r2", 5))

    for n, end in enumerate(fresh(store, [sent_back, forget_first, cleared])):
        observed(store, "o1", 1)
        expected(store)
        put_up(store, "o1")
        end(store)
        assert store.run(review_index.waiting(store.keys)) == [], n
        store.run(review_index.mend(store.keys, 8, 10))
        assert listed(store), n  # not before its time: who puts it up may be between the two
        store.run(review_index.mend(store.keys, 9, 10))
        assert listed(store) == [], n


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
