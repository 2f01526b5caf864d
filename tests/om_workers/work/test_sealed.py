"""What a worker reads of sealed chunks before it asks a model, and what it stores of the answer."""

from __future__ import annotations

from om_api.domain.values import Scope
from om_api.store.memory import scope_state
from om_workers.llm.base import Reply
from om_workers.prompts.parse import Observed
from om_workers.work import sealed

HAROLD = Scope("harold")


def _sealed(world, *texts, thread="t-1"):
    """Seal a chunk of these messages; its id."""
    world.say(*texts, thread=thread, tokens=50)
    world.om.force_observe(thread, "harold")
    world.scope_worker().observe("harold")
    chunks = world.services.run(scope_state.look(world.services.keys, HAROLD)).chunks
    (sealed_now,) = [chunk.id for chunk in chunks if chunk.thread == thread and not chunk.ready]
    return sealed_now


def test_chunks_are_read_with_their_own_messages_in_the_order_they_are_asked_for(world):
    first, second = _sealed(world, "one", "two"), _sealed(world, "three", thread="t-2")
    found = sealed.read(world.services, HAROLD, [second, first])

    assert [[message.content for message in each.messages] for each in found] == [["three"], ["one", "two"]]
    assert [each.chunk.id for each in found] == [second, first]
    assert {each.scope for each in found} == {HAROLD}


def test_what_is_gone_or_observed_is_left_out_and_shown_to_who_comes_next(world):
    """Catches a chunk that is observed twice, and one that is observed without what the one before it noted."""
    first = _sealed(world, "[[w1-1]] one")
    world.perform("observe_chunk", "harold", first)
    second = _sealed(world, "two")
    (found,) = sealed.read(world.services, HAROLD, ["nobody", first, second])

    assert found.chunk.id == second
    assert ["[[w1-1]] one" in text for text in found.texts] == [True]


def test_a_chunk_that_became_ready_since_it_was_seen_is_left_out_too(world):
    chunk = _sealed(world, "one")
    (seen,) = sealed.read(world.services, HAROLD, [chunk])
    world.perform("observe_chunk", "harold", chunk)

    assert sealed.read(world.services, HAROLD, [chunk], seen.state) == []


def test_an_observation_covers_the_messages_of_its_chunk_from_the_first_to_the_last(world):
    (found,) = sealed.read(world.services, HAROLD, [_sealed(world, "one", "two", "three")])
    observed = Observed(text="* noted", priority=3, current_task="rest", suggested_response="Go on")
    made = sealed.observation_of(found, observed, Reply(text="", model="m", cost=0.5), 7)
    ids = tuple(message.id for message in found.messages)

    assert (made.id, made.thread_id) == (found.chunk.id, "t-1")
    assert (made.message_ids, made.source_range) == (ids, (ids[0], ids[2]))
    assert (made.from_, made.to) == (found.messages[0].at, found.messages[2].at)
    assert (made.text, made.priority, made.task_state, made.suggested_response) == ("* noted", 3, "rest", "Go on")
    assert (made.tokens, made.message_tokens, made.model, made.cost) == (7, 150, "m", 0.5)
