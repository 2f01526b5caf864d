"""Test calls in the store: one at a time of each model, taken by one worker, told to everybody who asked, gone by themselves."""

from msgspec.structs import replace

from om_api.store.fleet import model_trials
from om_api.store.memory.keys import safe_name


def _later(store, model, seconds):
    """Have a request been made so many seconds ago."""
    store.client.zincrby(store.keys.trials, -1000 * seconds, model)


def test_who_asks_while_one_stands_waits_for_that_one_and_it_is_taken_once(store):
    first, second = [store.run(model_trials.ask(store.keys, "notes")) for _ in range(2)]
    assert (first, first.outcome) == (second, "busy")
    _later(store, "notes", 1)
    other = store.run(model_trials.ask(store.keys, "another/model"))
    assert store.run(model_trials.waiting(store.keys)) == 2
    taken = store.run(model_trials.take(store.keys))
    store.run(model_trials.put_back(store.keys, taken))
    _later(store, "notes", 1)
    taken = [store.run(model_trials.take(store.keys)) for _ in range(3)]
    assert [each and each.model for each in taken] == [first.model, other.model, None]
    assert store.run(model_trials.waiting(store.keys)) == 0


def test_what_came_of_it_is_told_to_whoever_asked_and_the_next_may_be_asked_for(store):
    """Catches a page that shows what an earlier call came to, as if the mistake was not mended meanwhile."""
    asked = store.run(model_trials.ask(store.keys, "notes"))
    assert store.run(model_trials.stands(store.keys, "notes", asked.asked_at)) == asked
    taken = store.run(model_trials.take(store.keys))
    ended = replace(taken, outcome="answered", seconds=0.5, input=40, output=1, cost=0.1, text="ready")
    store.run(model_trials.end(store.keys, ended))
    assert store.run(model_trials.stands(store.keys, "notes", asked.asked_at)) == ended
    assert store.run(model_trials.stands(store.keys, "notes", asked.asked_at + 1)).text != "ready"
    store.client.set(store.keys.trying(safe_name("notes")), asked.asked_at + 1, ex=60)  # the next one, however soon
    assert store.run(model_trials.stands(store.keys, "notes", asked.asked_at + 1)).outcome == "busy"


def test_one_that_nobody_began_in_time_is_begun_by_nobody_and_said_to_have_failed(store):
    asked = store.run(model_trials.ask(store.keys, "notes"))
    _later(store, "notes", model_trials.BEGUN_S + 1)

    assert store.run(model_trials.take(store.keys)) is None
    store.client.delete(store.keys.trying(safe_name("notes")))  # as it does by itself
    found = store.run(model_trials.stands(store.keys, "notes", asked.asked_at))
    assert (found.outcome, "om doctor" in found.error) == ("failed", True)


def test_nothing_of_it_stays(store):
    asked = store.run(model_trials.ask(store.keys, "notes"))
    store.run(model_trials.ask(store.keys, "another"))
    store.run(model_trials.end(store.keys, asked))
    lives = [store.client.ttl(name) for name in store.client.scan_iter(f"{store.keys.prefix}*")]

    assert len(lives) == 3
    assert all(0 < life <= model_trials.KEPT_S for life in lives)
