"""When the Reflector thinks, what it covers, and what it leaves."""

import pytest
from world import World

from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome, Scope
from om_workers.llm.scripted import Scripted
from om_workers.work.scope_worker import SealOutcome


def _fill(world, messages, **options):
    for n in range(messages):
        world.say(f"message {n} " + "x" * 40, **options)
        world.tick()


def test_a_draft_is_thought_at_half_the_threshold_and_committed_at_the_threshold_with_what_was_pinned(client, prefix):
    world = World(client, prefix, observation_threshold="800", reflection__drain="false")
    while not client.exists(f"{prefix}:{{harold}}:draft"):
        _fill(world, 1)
    assert world.om.generations("harold") == []
    line = _pinnable(world)
    world.om.pin(line, "harold")
    while not world.om.generations("harold"):
        _fill(world, 1)
    assert not client.exists(f"{prefix}:{{harold}}:draft")
    (era,) = world.om.history("harold")
    assert era.replaced
    assert era.generation.text.count(line) == 1
    assert world.om.observations("harold")  # what came after the draft stays
    assert world.om.verify() == []
    while not client.exists(f"{prefix}:{{harold}}:draft"):
        _fill(world, 1)
    world.om.forget(world.om.observations("harold")[0].id, "harold")  # a draft goes with what it covers
    assert not client.exists(f"{prefix}:{{harold}}:draft")


def test_an_empty_or_looping_reflection_never_changes_the_memory(client, prefix_for):
    loop, excuse = "* loop of a line that repeats itself\n" * 400, "I am sorry, I cannot do that."
    for n, answer in enumerate(("", "<observations>\n</observations>", loop, excuse)):
        world = World(client, prefix_for(n))
        world.say(*[f"message {n} " + "x" * 40 for n in range(4)])
        world.om.force_observe("t-1", "harold")
        world.settle()
        if answer == excuse:
            world.om.pin(_pinnable(world), "harold")
        before = world.om.observations("harold")
        world.model = Scripted(*[answer] * 10)
        world.om.force_reflect("harold")
        with pytest.raises(ModelError, match="stays as it is"):
            world.reflector().reflect("harold")
        assert world.om.observations("harold") == before, answer
        assert world.om.generations("harold") == []
        assert _requested(world), answer


def test_a_generation_names_the_observations_of_which_nothing_is_left(client, prefix):
    world = World(client, prefix, reflection__max_loss="1")
    for text in ("Harold sails his green boat to Lerwick", "The kettle needs another handle",
                 "Ada plays chess in Graz"):  # fmt: skip
        world.say(text, tokens=500)
        world.say("and so on", tokens=600)
        world.settle()
    world.om.force_observe("t-1", "harold")
    world.settle()
    listed = world.om.observations("harold")
    world.model = Scripted("<observations>\n* Harold sails his boat to Lerwick\n* Ada plays chess\n</observations>")
    world.om.force_reflect("harold")
    world.reflector().reflect("harold")
    (made,) = world.om.generations("harold")
    assert made.observation_ids == tuple(each.id for each in listed)
    kettle = [each.id for each in listed if "kettle" in each.text and "sails" not in each.text]
    assert kettle
    assert set(made.dropped_ids) == {
        each.id for each in listed if not any(word in each.text for word in ("sails", "chess"))
    }
    assert set(kettle) <= set(made.dropped_ids)
    assert world.om.verify() == []
    assert [message.id for message in world.om.sources(kettle[0], "harold")]


def test_a_drain_observes_what_is_raw_first_but_for_the_newest_turns(client, prefix):
    limits = {"message_threshold": "500", "observation_threshold": "250", "min_recent_messages": "2"}
    world = World(client, prefix, **limits, reflection__drain="true")
    for n in range(40):
        world.say(f"message {n}", thread=f"t-{n % 2}")
        world.tick()
        if world.om.generations("harold"):
            break
    world.settle()
    assert world.om.generations("harold")
    assert all(len(world.context(f"t-{n}").messages) >= 2 for n in range(2))
    assert all(state.current_task is not None for state in world.om.threads("harold"))
    assert client.hget(f"{prefix}:{{harold}}:record", "drain") is None


def _claimed(world):
    world.client.zadd(f"{world.prefix}:due:reflect", {"harold": 1})
    world.dispatch.queue.clear()
    world.claim()
    return next(ids for verb, ids in world.dispatch.queue if verb == "reflect")


def _now(client):
    seconds, microseconds = client.time()
    return seconds * 1000 + microseconds / 1000


def _indexed(world):
    return world.client.zscore(f"{world.prefix}:due:reflect", "harold") is not None


def test_a_scope_that_another_reflector_has_is_busy_and_looked_at_when_its_lock_ends(world):
    """Catches a lock that everyone is granted, and a busy look that leaves the scope on its lease: if the other is dead,

    its lock and another lease would be waited for.
    """
    _fill(world, 12)
    world.settle()
    world.om.force_reflect("harold")
    ids = _claimed(world)
    asked = len(world.model.requests)
    world.client.set(world.services.lock_name(Scope("harold"), "reflect"), "dead", px=5_000)
    assert world.perform("reflect", *ids) is Outcome.BUSY
    assert len(world.model.requests) == asked
    assert _indexed(world)
    assert world.client.zscore(f"{world.prefix}:due:reflect", "harold") < _now(world.client) + 5_100


@pytest.mark.parametrize("due", ["nothing", "a draft", "a reflection"])
def test_a_scope_that_is_done_leaves_the_index(client, prefix, due):
    """Catches a lease that nobody ends: every reflected scope would be looked at again every thirty seconds."""
    world = World(client, prefix, observation_threshold="4000")
    _fill(world, 12)
    if due == "a draft":
        client.hset(f"{prefix}:{{harold}}:record", "observation_tokens", 2100)
    if due == "a reflection":
        world.om.force_reflect("harold")
    outcome = {"nothing": Outcome.REST, "a draft": Outcome.BUFFERED, "a reflection": Outcome.REFLECTED}[due]
    assert world.perform("reflect", *_claimed(world)) is outcome
    assert not _indexed(world)


def _full(client, prefix, **options):
    """A world whose observations have reached the threshold: what is raw must be drained first."""
    world = World(client, prefix, observation_threshold="4000", **options)
    _fill(world, 12)
    world.settle()
    client.hset(f"{prefix}:{{harold}}:record", "observation_tokens", 4100)
    return world


def test_a_scope_that_drains_stays_on_lease_and_is_looked_at_by_the_mover(client, prefix):
    """Catches a reflection that is taken for done: what waits for the drain would wait until an activation marks it."""
    world = _full(client, prefix)
    world.say("one more")
    client.delete(f"{prefix}:due:observe")
    assert world.perform("reflect", *_claimed(world)) is Outcome.SEALED
    assert _indexed(world)
    assert client.zscore(f"{prefix}:due:observe", "harold")
    assert world.om.stats("harold").chunks


def test_what_a_drain_waits_for_is_noted_once_and_not_where_it_was_overtaken(client, prefix):
    """Catches a drain that begins anew at every look: with a busy agent there would always be something newer to wait for."""
    world = _full(client, prefix)
    world.say("one more")
    record, overtaken = f"{prefix}:{{harold}}:record", world.reflector()
    overtaken._worker.seal = lambda state, move: SealOutcome(
        Outcome.SUPERSEDED
    )  # what was raw has changed since it was read
    assert overtaken.reflect("harold") is Outcome.SUPERSEDED
    assert client.hget(record, "drain") is None
    world.reflector().reflect("harold")
    noted = client.hget(record, "drain")
    world.say("another")
    assert world.reflector().reflect("harold") is Outcome.SEALED
    assert client.hget(record, "drain") == noted is not None
    assert client.zcard(f"{prefix}:{{harold}}:messages:t-1") == 1


def test_a_drain_of_nothing_raw_waits_for_the_chunks_there_are(client, prefix):
    world = _full(client, prefix)
    world.say("one more", "and one")
    world.claim()
    world.perform("observe", *next(ids for verb, ids in world.dispatch.queue if verb == "observe"))
    assert client.zcard(f"{prefix}:{{harold}}:messages:t-1") == 0
    assert world.reflector().reflect("harold") is Outcome.SEALED
    assert float(client.hget(f"{prefix}:{{harold}}:record", "drain")) > 0


def _requested(world):
    return world.client.hexists(f"{world.prefix}:{{harold}}:record", "force-reflect")


def test_a_request_whose_reflection_was_overtaken_still_stands(world):
    """Time 0: it thinks about an observation. Time 5: its owner has it forgotten. Time 9: the commit is refused."""
    _fill(world, 12)
    world.settle()
    world.while_it_thinks(lambda: world.om.forget(world.om.observations("harold")[0].id, "harold"), "reflect")
    world.om.force_reflect("harold")
    assert world.reflector().reflect("harold") is Outcome.SUPERSEDED
    assert _requested(world)


def test_a_requested_reflection_covers_what_came_after_the_draft_too(world):
    _fill(world, 12)
    world.settle()
    world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", 2100)
    assert world.reflector().reflect("harold") is Outcome.BUFFERED
    world.say("a new fact")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.om.force_reflect("harold")
    assert world.reflector().reflect("harold") is Outcome.REFLECTED
    assert world.om.observations("harold") == []
    assert not _requested(world)


def _pinnable(world, n=0):
    return world.om.observations("harold")[n].text.split("\n")[-1].strip()


@pytest.mark.parametrize("meanwhile", ["pin", "unpin", "forget"])
def test_what_is_pinned_while_a_model_thinks_is_put_in_and_no_model_asked_again(client, prefix, meanwhile):
    """Time 0: the notes are read. Time 5: a line of them is pinned. Time 9: the answer lacks it; asked once, it is put in."""
    world = World(client, prefix, reflection__max_loss="1")
    _fill(world, 12)
    world.settle()
    line, before = _pinnable(world), _pinnable(world, 1)
    world.om.pin(before, "harold")
    first = world.om.observations("harold")[0]
    happens = {"pin": lambda: world.om.pin(line, "harold"), "unpin": lambda: world.om.unpin(before, "harold"),
               "forget": lambda: world.om.forget(first.id, "harold")}[meanwhile]  # fmt: skip
    world.model = Scripted("<observations>\n* nothing of it\n</observations>")
    world.while_it_thinks(happens)
    world.om.force_reflect("harold")
    outcome = world.reflector().reflect("harold")
    assert len(world.model.requests) == 1
    assert outcome is (Outcome.SUPERSEDED if meanwhile == "forget" else Outcome.REFLECTED)
    made = world.om.generations("harold")
    assert [line in each.text for each in made] == {"pin": [True], "unpin": [False], "forget": []}[meanwhile]
    assert world.om.verify() == []
