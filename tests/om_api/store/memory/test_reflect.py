"""reflect and draft: a generation replaces what was read and nothing else, once."""

from scene import (
    HAROLD,
    TTL,
    activate,
    buffer,
    call,
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
    repeating,
    seal,
    unchanged,
)

from om_api.domain.values import Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import note, reading, scope_state
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


def test_reflect_replaces_the_named_observations_and_moves_the_totals(store):
    for n in (1, 2, 3):
        observed(store, f"o{n}", n)
    store.run(note.note(store.keys, HAROLD, record(store).epoch, note.Decided("", "*wake", 5, drain=1.0)))
    assert record(store).drain == 1
    assert reflect(store, "o1", "o2") is Outcome.REFLECTED
    assert (observations(store), generations(store)) == (["o3"], [1])
    assert [s.observation.id for s in store.run(reading.replaced(store.keys, HAROLD, 1))] == ["o1", "o2"]
    of, now = store.keys.of("harold"), record(store)
    assert store.client.ttl(of.reflected(HAROLD, 1)) in {TTL, TTL - 1}
    assert store.client.ttl(of.reflections(HAROLD)) == -1
    assert (now.generation, now.origin, now.reflection_tokens) == (1, "reflection", 3)
    assert (now.observation_tokens, now.observation_count, now.drain) == (5, 1, 0)
    assert now.reflected_at > 0


def test_reflect_trims_the_oldest_generations(store):
    for n in range(1, 5):
        observed(store, f"o{n}", n)
        reflect(store, f"o{n}", keep=2)
    assert generations(store) == [3, 4]


def test_reflect_repeated_with_its_id_answers_as_before_and_a_second_one_changes_nothing(store):
    """Breaks without the generation: time 0 two Reflectors read generation 0, time 1 and 2 both commit generation 1."""
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    late = reflecting(store, "o2")
    again = repeating(store, reflecting(store, "o1"), "reflect")
    with nothing_changes(store):
        assert again() == b"reflected"
        assert store.run(late) is Outcome.SUPERSEDED


def test_reflect_refused_changes_nothing(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    planned = next(reflecting(store, "o1", "o2"))
    with nothing_changes(store):
        assert store.run(reflecting(store, "o1", "o2", epoch="other")) is Outcome.SUPERSEDED
        assert store.run(reflecting(store)) is Outcome.SUPERSEDED
    forget_first(store)
    with nothing_changes(store):
        assert call(store, planned.name, planned.keys, planned.args) == b"superseded"


def test_reflect_leaves_what_was_activated_while_it_was_thought(store):
    """Breaks when all observations are replaced: time 0 o1 is read, time 9 o2 is appended, time 12 o1 alone may go."""
    observed(store, "o1", 1)
    ready(store, "o2", 2)
    done = store.run(interrupted(reflecting(store, "o1"), "reflect", lambda: activate(store, "o2", by="a2")))
    assert (done, observations(store)) == (Outcome.REFLECTED, ["o2"])
    seal(store, "o3", 3)
    reflect(store, "o2")
    buffer(store, "o3")  # observed while a generation was made: it belongs to the new one
    activate(store, "o3", by="a3")
    assert observations(store) == ["o3"]
    assert store.run(verify(store.keys)) == []


def test_draft_is_kept_for_a_time_until_its_generation_comes_and_covers_nothing(store):
    observed(store, "o1", 1)
    for stale in ({"generation": 7}, {"epoch": "other"}):
        assert unchanged(store, drafting(store, **stale)) is Outcome.SUPERSEDED, stale
    assert store.run(drafting(store)) is Outcome.BUFFERED
    assert store.client.ttl(store.keys.of("harold").draft(HAROLD)) in {TTL, TTL - 1}
    assert (observations(store), generations(store)) == (["o1"], [])
    assert unchanged(store, drafting(store)) is Outcome.BUFFERED
    assert store.run(scope_state.look(store.keys, HAROLD)).draft == b"thought ahead"
    reflect(store, "o1")
    assert store.run(scope_state.look(store.keys, HAROLD)).draft is None


def test_draft_tells_nothing_that_was_forgotten_while_it_was_thought(store):
    """Time 0: a Reflector thinks of o1. Time 1: its owner forgets it. Time 2: the draft would tell of it for days."""
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    now, stored = record(store), store.run(reading.observations(store.keys, HAROLD))
    place = store.keys, HAROLD, now.epoch, now.generation
    forget_first(store)
    assert unchanged(store, reflect_steps.draft(*place, b"* of o1", TTL, covered=stored)) is Outcome.SUPERSEDED


def test_review_is_not_passed_by_what_was_thought_before_or_sent_back_meanwhile(store):
    """Breaks without the review's id: time 0 two Reflectors think, time 1 one puts its draft up, time 2 the other commits."""
    observed(store, "o1", 1)
    slow = reflecting(store, "o1")
    assert put_up(store, "o1", text="* a proposal") is Outcome.BUFFERED
    with nothing_changes(store):
        assert store.run(slow) is Outcome.SUPERSEDED
        assert put_up(store, "o1", review=Review("r2", 6, 10), text="* another") is Outcome.SUPERSEDED
        assert store.run(drafting(store)) is Outcome.SUPERSEDED
        assert put_up(store, "o1", text="* a proposal") is Outcome.BUFFERED  # the same call, whose reply was lost
    assert b"proposal" not in exported(store)
    assert b'"proposed' not in exported(store)

    def sent_back():
        put_up(store, "o1", was="r1", review=Review("r2", 5))

    steps = interrupted(reflecting(store, "o1", proposed="r1"), "reflect", sent_back)
    assert (store.run(steps), generations(store)) == (Outcome.SUPERSEDED, [])
    assert reflect(store, "o1", proposed="r2") is Outcome.REFLECTED
    assert record(store).proposed == ""
