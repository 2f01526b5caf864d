"""What a reflection is decided by is read at one instant: a draft that fits no more is none, and waits for nothing."""

import pytest
from scene import HAROLD, erasing, forget_first, observed, put_up, record, reflect, restored

from om_api.domain.values import Outcome
from om_api.store.memory import scope_state
from om_api.store.reviews.drafts import Review, reflection_input, review_of


def read(store):
    return store.run(reflection_input(store.keys, HAROLD))


def test_a_draft_that_waits_is_read_with_its_review(store):
    for n in (1, 2, 3):
        observed(store, f"o{n}", n)
    assert read(store).draft is None
    assert read(store).review == Review()
    assert put_up(store, "o1", "o2") is Outcome.BUFFERED

    found = read(store)
    assert found.draft.generation.text == "* all"
    assert [each.observation.id for each in found.covered(found.draft)] == ["o1", "o2"]
    assert found.review == Review("r1", 5, 9)
    assert (found.review.waits, found.review.sent_back) == (True, False)


def test_what_was_sent_back_waits_no_more(store):
    observed(store, "o1", 1)
    put_up(store, "o1")
    put_up(store, "o1", was="r1", review=Review("r2", 5), comment="no")

    assert read(store).draft.comment == "no"
    assert (read(store).review.waits, read(store).review.sent_back) == (False, True)


@pytest.mark.parametrize("change", ["forget", "erase", "restore"])
def test_a_draft_goes_with_what_it_was_made_of_and_its_review_with_it(store, change):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    reflect(store, "o1")
    put_up(store, "o2")
    {
        "forget": lambda: forget_first(store),
        "erase": lambda: store.run(erasing(store, "turn 2")),
        "restore": lambda: restored(store, 0),
    }[change]()

    assert read(store).draft is None
    assert review_of(store.run(scope_state.look(store.keys, HAROLD))) == Review()


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


def test_a_draft_of_another_generation_is_none(store):
    observed(store, "o1", 1)
    put_up(store, "o1")
    store.client.hset(store.keys.of("harold").record(HAROLD), "generation", 7)

    assert read(store).draft is None
    assert read(store).review == Review()
