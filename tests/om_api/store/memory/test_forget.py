"""forget: one observation goes with all that is behind it, and only while it is the one that was read."""

from __future__ import annotations

import pytest
from scene import HAROLD, interrupted, nothing_changes, observed, record, reflect

from om_api.domain.values import Outcome
from om_api.store.memory import forget, reading


def ids(store, scope=HAROLD):
    return [s.observation.id for s in store.run(reading.observations(store.keys, scope))]


def forgetting(store, chunk, epoch=None):
    stored = next(s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.id == chunk)
    return forget.forget(store.keys, HAROLD, record(store).epoch if epoch is None else epoch, stored)


def test_a_forgotten_observation_takes_its_messages_along(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)

    assert store.run(forgetting(store, "o1")) is Outcome.CLEARED
    assert ids(store) == ["o2"]
    assert store.client.exists(store.keys.of("harold").source("o1")) == 0
    assert (record(store).observation_count, record(store).observation_tokens) == (1, 5)


def test_a_forgotten_observation_leaves_the_quarantine_with_every_copy_of_its_entry(store):
    """Catches a copy that came while the owner's word was on its way: it holds what was to be forgotten."""
    observed(store, "o1", 1)
    rejected = store.keys.of("harold").rejected
    entry, other = (b'{"kind":"unobservable","observation":"%s"}' % name for name in (b"o1", b"o2"))
    store.client.rpush(rejected, entry, other)
    store.run(interrupted(forgetting(store, "o1"), "forget", lambda: store.client.rpush(rejected, entry)))

    assert store.client.lrange(rejected, 0, -1) == [other]


@pytest.mark.parametrize("why", ["another memory", "forgotten before", "reflected meanwhile"])
def test_a_refused_forget_changes_nothing(store, why):
    observed(store, "o1", 1)
    late = forgetting(store, "o1", "other" if why == "another memory" else None)
    if why == "forgotten before":
        store.run(forgetting(store, "o1"))
    if why == "reflected meanwhile":
        reflect(store, "o1")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED
