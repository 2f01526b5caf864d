"""reflect and draft: a generation replaces what was read and nothing else, once."""

import pytest
from scene import (
    HAROLD,
    TTL,
    activate,
    exported,
    forget_first,
    interrupted,
    nothing_changes,
    observed,
    put_up,
    ready,
    record,
    reflect,
    reflecting,
)

from om_api.domain.values import Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import clear, note, reading, scope_state
from om_api.store.memory import reflect as reflect_steps
from om_api.store.reviews.drafts import Review


def observations(store):
    return [s.observation.id for s in store.run(reading.observations(store.keys, HAROLD))]


def generations(store):
    return [g.n for g in store.run(reading.generations(store.keys, HAROLD))]


def drafting(store, generation=None, epoch=None):
    now = record(store)
    of_generation = now.generation if generation is None else generation
    return reflect_steps.draft(store.keys, HAROLD, epoch or now.epoch, of_generation, b"thought ahead", TTL)


def test_a_generation_replaces_the_named_observations(store):
    for n in (1, 2, 3):
        observed(store, f"o{n}", n)

    assert reflect(store, "o1", "o2") is Outcome.REFLECTED
    assert observations(store) == ["o3"]
    assert generations(store) == [1]
    assert [s.observation.id for s in store.run(reading.replaced(store.keys, HAROLD, 1))] == ["o1", "o2"]


def test_what_was_replaced_expires_and_the_generation_does_not(store):
    observed(store, "o1", 1)
    reflect(store, "o1")
    of = store.keys.of("harold")

    assert store.client.ttl(of.reflected(HAROLD, 1)) in {TTL, TTL - 1}
    assert store.client.ttl(of.reflections(HAROLD)) == -1


def test_totals_follow(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    reflect(store, "o1")
    now = record(store)

    assert (now.generation, now.origin, now.reflection_tokens) == (1, "reflection", 3)
    assert (now.observation_tokens, now.observation_count) == (5, 1)
    assert now.reflected_at > 0


def test_the_oldest_generations_are_trimmed(store):
    for n in range(1, 5):
        observed(store, f"o{n}", n)
        reflect(store, f"o{n}", keep=2)

    assert generations(store) == [3, 4]
    assert store.run(verify(store.keys)) == []


def test_a_reflection_repeated_with_its_id_answers_as_before(store):
    observed(store, "o1", 1)
    asked = next(reflecting(store, "o1"))

    def again():
        return (yield asked)

    assert store.run(again()) == b"reflected"
    with nothing_changes(store):
        assert store.run(again()) == b"reflected"


def test_of_two_reflections_at_once_the_second_changes_nothing(store):
    """Breaks without the generation: time 0 two Reflectors read generation 0, time 1 and 2 both commit generation 1."""
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    late = reflecting(store, "o2")
    reflect(store, "o1")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


@pytest.mark.parametrize("why", ["another memory", "nothing is named", "an observation is gone"])
def test_a_refused_reflection_changes_nothing(store, why):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    named = () if why == "nothing is named" else ("o1", "o2")
    steps = reflecting(store, *named, epoch="other" if why == "another memory" else "")
    if why == "an observation is gone":
        first = store.run(reading.observations(store.keys, HAROLD))[0]
        steps = _started(steps)
        store.run(clear.forget(store.keys, HAROLD, record(store).epoch, first))
    with nothing_changes(store):
        assert store.run(steps) is Outcome.SUPERSEDED


def _started(steps):
    """The same steps, their first one planned already."""
    first = next(steps)

    def rest():
        try:
            step = first
            while True:
                step = steps.send((yield step))
        except StopIteration as end:
            return end.value

    return rest()


def test_what_is_activated_while_a_reflection_is_thought_stays(store):
    """Breaks when all observations are replaced: time 0 o1 is read, time 9 o2 is appended, time 12 o1 alone may go."""
    observed(store, "o1", 1)
    ready(store, "o2", 2)
    done = store.run(interrupted(reflecting(store, "o1"), "reflect", lambda: activate(store, "o2", by="a2")))

    assert done is Outcome.REFLECTED
    assert observations(store) == ["o2"]
    assert store.run(verify(store.keys)) == []


def test_a_reflection_ends_the_drain(store):
    observed(store, "o1", 1)
    store.run(note.note(store.keys, HAROLD, record(store).epoch, note.Decided("", "*wake", 5, drain=1.0)))
    assert record(store).drain == 1

    reflect(store, "o1")
    assert record(store).drain == 0


def test_a_draft_is_kept_until_its_generation_comes(store):
    observed(store, "o1", 1)

    assert store.run(drafting(store)) is Outcome.BUFFERED
    assert store.run(scope_state.look(store.keys, HAROLD)).draft == b"thought ahead"
    reflect(store, "o1")
    assert store.run(scope_state.look(store.keys, HAROLD)).draft is None


def test_a_draft_lives_as_long_as_it_was_given(store):
    observed(store, "o1", 1)
    store.run(drafting(store))

    assert store.client.ttl(store.keys.of("harold").draft(HAROLD)) in {TTL, TTL - 1}


def test_a_draft_covers_nothing(store):
    observed(store, "o1", 1)
    store.run(drafting(store))

    assert observations(store) == ["o1"]
    assert generations(store) == []


@pytest.mark.parametrize("stale", [{"generation": 7}, {"epoch": "other"}])
def test_a_draft_of_another_generation_or_memory_is_not_kept(store, stale):
    observed(store, "o1", 1)
    with nothing_changes(store):
        assert store.run(drafting(store, **stale)) is Outcome.SUPERSEDED


def test_a_draft_kept_again_changes_nothing(store):
    observed(store, "o1", 1)
    store.run(drafting(store))
    with nothing_changes(store):
        assert store.run(drafting(store)) is Outcome.BUFFERED


def test_a_reflection_that_was_thought_before_a_review_began_is_not_committed_past_it(store):
    """Breaks without the review's id: time 0 two Reflectors think, time 1 one puts its draft up, time 2 the other commits."""
    observed(store, "o1", 1)
    slow = reflecting(store, "o1")
    put_up(store, "o1")
    with nothing_changes(store):
        assert store.run(slow) is Outcome.SUPERSEDED


def test_what_was_sent_back_meanwhile_is_not_approved(store):
    """Time 0: an approval reads what waits. Time 1: somebody sends it back. Time 2: the approval comes."""
    observed(store, "o1", 1)
    put_up(store, "o1")
    slow = interrupted(
        reflecting(store, "o1", proposed="r1"), "reflect", lambda: put_up(store, "o1", was="r1", review=Review("r2", 5))
    )

    assert store.run(slow) is Outcome.SUPERSEDED
    assert generations(store) == []
    assert reflect(store, "o1", proposed="r2") is Outcome.REFLECTED
    assert record(store).proposed == ""


def test_what_is_forgotten_while_it_is_thought_of_is_in_no_draft(store):
    """Time 0: a Reflector thinks of o1. Time 1: its owner forgets it. Time 2: the draft would tell of it for days."""
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    now, stored = record(store), store.run(reading.observations(store.keys, HAROLD))
    place = store.keys, HAROLD, now.epoch, now.generation
    forget_first(store)
    with nothing_changes(store):
        assert store.run(reflect_steps.draft(*place, b"* of o1", TTL, covered=stored)) is Outcome.SUPERSEDED


def test_two_that_are_put_up_at_once_are_one(store):
    observed(store, "o1", 1)
    assert put_up(store, "o1") is Outcome.BUFFERED
    with nothing_changes(store):
        assert put_up(store, "o1", review=Review("r2", 6, 10), text="* another") is Outcome.SUPERSEDED
        assert store.run(drafting(store)) is Outcome.SUPERSEDED
        assert put_up(store, "o1") is Outcome.BUFFERED  # the same call, whose reply was lost


def test_what_is_put_up_is_no_part_of_an_export(store):
    observed(store, "o1", 1)
    put_up(store, "o1", text="* a proposal")

    assert b"proposal" not in exported(store)
    assert b'"proposed' not in exported(store)
