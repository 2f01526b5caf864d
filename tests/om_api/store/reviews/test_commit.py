"""A draft counts with what is pinned by then, and not at all where anything else of it has changed."""

import pytest
from scene import AT, HAROLD, TTL, forget_first, interrupted, observed, put_up, record, words

from om_api.domain.values import Outcome
from om_api.store.lines.correcting import By, Corrector, Keeping
from om_api.store.lines.pinning import pin, unpin
from om_api.store.memory import reading
from om_api.store.reviews.commit import commit
from om_api.store.reviews.drafts import Review, reflection_input

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
    read = store.run(reflection_input(store.keys, HAROLD))
    return commit(store.keys, read, read.draft, words, 10, TTL)


def correct(store, was, now):
    return store.run(Corrector(store.keys, HAROLD, words, LOTTE, Keeping(10, TTL)).correct(was, now, None, None))


def in_force(store):
    return [made.text for made in store.run(reading.generations(store.keys, HAROLD))]


def test_what_was_pinned_since_it_was_thought_is_put_in(waiting):
    pinned(waiting, "noted o1")
    pinned(waiting, "noted o3")  # which stays as it is
    outcome, made = waiting.run(committing(waiting))

    assert outcome is Outcome.REFLECTED
    assert in_force(waiting) == [made.text]
    assert [made.text.count(line) for line in ("* noted o1", "* all", "noted o3")] == [1, 1, 0]
    assert made.tokens == words(made.text) == record(waiting).reflection_tokens


def test_what_is_pinned_while_it_is_committed_is_put_in(waiting):
    """Time 0: it is read. Time 1: a line of it is pinned. Time 2: the commit lacks it, is refused, and made anew."""
    outcome, _ = waiting.run(interrupted(committing(waiting), "reflect", lambda: pinned(waiting, "noted o1")))

    assert outcome is Outcome.REFLECTED
    (text,) = in_force(waiting)
    assert [text.count(line) for line in ("* noted o1", "* all")] == [1, 1]


def test_what_is_unpinned_while_it_is_committed_is_left_out(waiting):
    one = pinned(waiting, "noted o1")
    steps = committing(waiting)
    outcome, _ = waiting.run(
        interrupted(steps, "reflect", lambda: waiting.run(unpin(waiting.keys, HAROLD, one.id, None)))
    )

    assert outcome is Outcome.REFLECTED
    assert in_force(waiting) == ["* all"]


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
