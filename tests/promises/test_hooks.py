"""Hooks see what models read and write; one that raises, hangs, answers nonsense or is missing loses nothing."""

import math

import pytest
from hook_house import hooked
from world import World

from om_api.domain.errors import HookError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

NOTES = "<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) {}\n</observations>"
BAD = {"raises": "error", "hangs": "timeout", "nonsense": "answer", "missing": "missing"}
WORKERS = ("before_observe", "after_observe", "before_reflect", "after_reflect")


def _world(client, prefix, *replies, **settings):
    said = replies or [NOTES.format("User has a cat")] * 20
    return World(client, prefix, Scripted(*said), **{"message_threshold": "100000", **settings})


def _observe(world, *texts):
    ids = world.say(*texts or ("I have a cat", "and a dog"))
    world.om.force_observe("t-1", "harold")
    world.tick_forgiving()
    return ids


def _reflect(world):
    world.om.force_reflect("harold", "t-1")
    world.tick_forgiving()


def _told(world):
    return [each for each in world.om.events(kinds="hook_failed").events if each.kind == "hook_failed"]


def _locks(world):
    found = world.client.scan_iter(f"{world.prefix}:{{*}}:lock:*", count=1000)
    return [key for key in found if b":lock:observed" not in key]


def test_what_the_observer_reads_is_what_hooks_leave_and_the_source_stays_what_was_said(client, prefix, hook_house):
    def shorten(given):
        first, *_ = given["messages"]
        return {"messages": [{"id": first["id"], "content": "I have an animal"}]}

    hook_house.install(shorten=shorten)
    world = _world(client, prefix, **hooked("before_observe", "shorten"))
    ids = _observe(world)
    (asked,) = world.model.requests
    assert "I have an animal" in asked.prompt
    assert "cat" not in asked.prompt
    assert "dog" not in asked.prompt
    (observation,) = world.om.observations("harold")
    assert [each.content for each in world.om.sources(observation.id, "harold")] == ["I have a cat", "and a dog"]
    assert world.covering() == sorted(ids)
    assert world.om.verify() == []


def test_a_hook_that_fails_is_skipped_as_if_it_were_not_there_and_told_once(client, prefix_for, hook_house):
    for point, bad in zip(WORKERS, BAD, strict=True):
        world = _world(client, prefix_for(bad), **hooked(point, bad))
        ids = [*_observe(world), *_observe(world, "more")]
        _reflect(world)
        _observe(world, "again")
        _reflect(world)
        assert len(world.om.generations("harold")) == 2, bad
        assert set(ids) <= set(world.covering()), bad
        (event,) = _told(world)
        assert (event.resource, event.setting, event.hook) == ("harold", f"hooks.{point}", bad)
        assert (event.why, event.then) == (BAD[bad], "skip")
        (state,) = world.om.hooks("harold")
        assert (state.point, state.name, state.ready) == (point, bad, bad != "missing")
        assert state.failures >= 2, bad


@pytest.mark.parametrize(("point", "bad"), [("before_observe", "raises"), ("after_observe", "nonsense")])
def test_a_hook_that_says_stop_puts_observing_off_and_burns_no_attempt(client, prefix, hook_house, point, bad):
    world = _world(client, prefix, **hooked(point, bad, on_failure="stop"), observer__max_attempts="1")
    ids = _observe(world)
    waits = f"{world.prefix}:{{harold}}:lock:waits"
    for _ in range(3):
        (chunk,) = world.om.chunks("harold")
        assert world.client.delete(waits) == (point == "after_observe")
        with pytest.raises(HookError, match=f"hook {bad} of {point}"):
            world.perform("observe_chunk", "harold", chunk.id)
    world.client.delete(waits)
    (chunk,) = world.om.chunks("harold")
    assert ((chunk.attempts, chunk.messages), world.om.rejected("harold")) == ((0, 2), [])
    assert world.covering() == sorted(ids)
    hook_house.install(**{bad: lambda _: None})
    assert world.perform("observe_chunk", "harold", chunk.id) is Outcome.BUFFERED
    assert world.om.verify() == []


def test_a_context_is_given_without_a_hook_that_fails_and_refused_where_it_says_stop(client, prefix_for, hook_house):
    for bad, why in BAD.items():
        skips = _world(client, prefix_for(bad), **hooked("before_context", bad))
        stops = _world(client, prefix_for(bad), **hooked("before_context", bad, on_failure="stop"))
        skips.say("hello")
        assert "hello" in skips.context().text
        with pytest.raises(HookError, match=rf"hook {bad} of before_context failed \({why}\).*om hooks list harold"):
            stops.context()
        (event,) = _told(skips)
        assert (event.setting, event.hook, event.why) == ("hooks.before_context", bad, why)
        assert skips.om.hooks("harold")[0].failures == 2


def test_no_lock_is_held_while_a_hook_runs(client, prefix, hook_house):
    seen = {}
    hook_house.install(looks=lambda given: seen.setdefault(given["point"], _locks(world)) and None)
    world = _world(client, prefix, **{k: v for point in WORKERS for k, v in hooked(point, "looks").items()})
    _observe(world)
    _reflect(world)
    assert seen == {point: [] for point in WORKERS}


def test_what_a_hook_saw_is_what_the_model_reads_though_more_came_meanwhile(client, prefix, hook_house):
    """A note that was activated while a hook thought was not seen by it: it must not reach the model past the hook."""
    late = []

    def hide(given):
        if not late:
            late.append(True)
            world.say("something new")
            world.om.force_observe("t-1", "harold")
            looked = world.scope_worker().observe("harold", until=math.inf)
            world.observer().observe_chunks("harold", *looked.chunks)
        return {"texts": [text.replace("secret", "…") for text in given["texts"]]}

    hook_house.install(hide=hide)
    notes = [NOTES.format(f"The secret cat {n} is something new") for n in range(9)]
    world = _world(client, prefix, *notes, **hooked("before_reflect", "hide"))
    _observe(world)
    world.om.force_reflect("harold", "t-1")
    assert world.perform("reflect", "harold") is Outcome.SUPERSEDED
    world.settle()
    reflected = [each for each in world.model.requests if each.purpose == "reflect"]
    assert reflected
    assert not any("secret" in each.prompt for each in reflected)
    assert len(world.om.generations("harold")[0].observation_ids) == 2


def test_a_message_that_says_something_else_by_now_is_not_noted_as_a_hook_saw_it(client, prefix, hook_house):
    """Old text is redacted while a hook thinks: the message has its id still, and other words."""
    late, redacting = [], _world(client, prefix, redaction__before="store").om
    redacting.redact("harold", dry_run=True)  # so that all it needs is loaded: a hook has a second

    def thinks(given):
        if not late:
            late.append(True)
            redacting.redact("harold")

    hook_house.install(thinks=thinks)
    world = _world(client, prefix, **hooked("before_observe", "thinks"))
    world.say("I am ada@example.com")
    world.om.force_observe("t-1", "harold")
    world.tick_forgiving()
    assert late
    assert "ada@example.com" not in str(world.model.requests)
    world.settle()
    assert "[email]" in str(world.model.requests)
    assert world.om.verify() == []


def test_what_a_hook_stops_of_one_thread_keeps_no_other_one_that_shares_its_call(client, prefix_for, hook_house):
    """Catches a call of several threads that is given up as a whole: one conversation would hold up all others."""

    def refuses(given):
        if given["thread"] == "t-1":
            raise RuntimeError("not this one")

    for point in WORKERS[:2]:
        hook_house.install(refuses=refuses)
        settings = {"message_threshold": "100000", **hooked(point, "refuses", on_failure="stop")}
        world = World(client, prefix_for(point), Scripted.echo(), **settings)
        ids = [name for thread in ("t-1", "t-2", "t-3") for name in world.say("hello", thread=thread)]
        world.om.force_observe(None, "harold")
        world.tick_forgiving()
        (late,) = [each for each in world.om.chunks("harold") if not each.ready]
        assert (late.thread, late.attempts, len(world.model.requests), len(_told(world))) == ("t-1", 0, 1, 1), point
        assert world.covering() == sorted(ids), point
        world.client.delete(f"{world.prefix}:{{harold}}:lock:waits")
        hook_house.install(refuses=lambda _: None)
        assert world.perform("observe_chunk", "harold", late.id) is Outcome.BUFFERED, point
        world.settle()
        assert sorted(each.thread_id for each in world.om.observations("harold")) == ["t-1", "t-2", "t-3"], point
        assert world.om.verify() == [], point
