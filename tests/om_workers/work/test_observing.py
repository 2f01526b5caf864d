"""Chunks in workers' hands."""

import pytest
from world import World

from om_api.domain.values import Outcome, Scope
from om_api.store.memory import decoding, due, model_cooldown, scope_state
from om_workers.llm.scripted import Scripted
from om_workers.work import observer


def _sealed(world, n=2, **fields):
    world.say(*[f"message {i}" for i in range(n)], **fields)
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    task = world.dispatch.queue.popleft()
    world.dispatch.queue.clear()
    return task


def test_what_a_chunks_observation_makes_due_is_left_to_nobody_who_looks_already(world):
    """Time 0: somebody looks. Time 1: the chunk is stored, which he did not see. The scope is due at once, not when he ends."""
    verb, ids = _sealed(world, 4)
    world.client.set(world.services.lock_name(Scope("harold"), "observe"), "somebody", px=20_000)
    assert world.perform(verb, *ids) is Outcome.BUFFERED
    seconds, _ = world.client.time()
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") < (seconds + 1) * 1_000


def test_a_task_that_changed_nothing_marks_nobody(world):
    """Catches a mark at every end of a task: a task delivered twice would end the lease of whoever works."""
    verb, ids = _sealed(world)
    world.perform(verb, *ids)
    leased = 9e12
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": leased})
    assert world.perform(verb, *ids) is Outcome.SUPERSEDED
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") == leased


def test_no_model_is_asked_for_who_must_not_be_observed(client, prefix_for):
    """Time 0: a chunk is passed on. Time 1: its owner pauses, settings change, a model fails. Time 2: it comes."""
    for why in ("paused", "enabled", "read_only", "waits"):
        prefix = prefix_for(why)
        world = World(client, prefix)
        task = _sealed(world)
        if why == "paused":
            world.om.pause("harold")
        elif why == "waits":
            world.services.run(model_cooldown.wait(world.services.keys, "harold"))
        else:
            world = World(client, prefix, **{why: "false" if why == "enabled" else "true"})
        assert world.perform(task[0], *task[1]) is Outcome.REST, why
        assert world.model.requests == []
        assert world.client.hget(f"{world.prefix}:{{harold}}:chunk:{task[1][1]}", "attempts") == b"0", why


def test_no_model_is_asked_for_a_chunk_that_was_observed_since_it_was_read(world, monkeypatch):
    """Time 0: A reads a chunk. Time 1: B, whose lock A's has outlived, stores it. Time 2: A would ask the model in vain."""
    verb, ids = _sealed(world)

    def gone(*_):
        return None
        yield

    monkeypatch.setattr(observer.chunking, "begin", gone)
    assert world.perform(verb, *ids) is Outcome.SUPERSEDED
    assert world.model.requests == []


def test_a_chunk_that_ended_every_worker_that_tried_it_is_halved_unasked(world):
    """Catches a count that nobody reads: the message that kills a worker would kill every worker, for ever."""
    verb, ids = _sealed(world)
    world.client.hset(f"{world.prefix}:{{harold}}:chunk:{ids[1]}", "attempts", 3)
    assert world.perform(verb, *ids) is Outcome.SPLIT
    assert world.model.requests == []


@pytest.mark.parametrize("known", [False, True])
def test_a_memory_waits_while_a_model_is_asked_that_may_end_us_and_for_none_that_is_known_to_work(
    world, monkeypatch, known
):
    """Catches a wait that ends before the question does, and one for nothing, in which other chunks are left."""
    verb, ids = _sealed(world, 1, tokens=200)
    world.client.hset(f"{world.prefix}:{{harold}}:chunk:{ids[1]}", "attempts", 3)
    if known:
        world.services.run(model_cooldown.observed(world.services.keys, "harold", ids[1]))
    waited, wait = [], model_cooldown.wait
    monkeypatch.setattr(model_cooldown, "wait", lambda *args: waited.append(args[2]) or wait(*args))
    assert world.perform(verb, *ids) is Outcome.REJECTED
    assert waited == ([] if known else [world.settings.memory.observer.timeout + due.LEASE_MS / 1000])
    assert len(world.model.requests) == (0 if known else 1)


def test_what_extractors_find_goes_with_the_observation(client, prefix):
    """What fits is kept, what does not is told by name; neither costs the notes anything."""
    reply = ("<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) User wrote\n</observations>\n<mood>\ncalm\n</mood>\n"
             "<contacts>\nnobody\n</contacts>")  # fmt: skip
    world = World(client, prefix, Scripted(reply), extractors="{mood: {instruction: how}, contacts: {of: resource}}")
    verb, ids = _sealed(world)
    assert world.perform(verb, *ids) is Outcome.BUFFERED
    state = world.services.run(scope_state.look(world.services.keys, Scope("harold"), ids[1:]))
    (made,) = [decoding.as_observation(each.observation) for each in state.chunks if each.observation]
    told = {each.kind: each.extractors for each in world.om.events("0").events if each.extractors}
    assert (made.extracted, made.common) == ({"mood": "calm"}, ())
    assert told == {"extracted": "mood", "extraction_refused": "contacts"}
