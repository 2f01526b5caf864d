"""What workers tell: each thing that happened, once, with what its kind carries, and its counters."""

from world import World

from om_api.domain.errors import BudgetReachedError, ModelError, StoreError
from om_api.domain.events import Wanted
from om_api.store.fleet import event_stream
from om_api.store.fleet.event_stream import BEGINNING
from om_workers.tasks import ticks, wiring


def told(world, *kinds):
    return world.services.run(event_stream.since(world.services.keys, BEGINNING, Wanted(kinds), 10_000)).events


def counted(world, resource="harold"):
    (found,) = world.services.run(event_stream.counted(world.services.keys, [resource]))
    return found


def say(world, n, **fields):
    world.say(*[f"message {i}" for i in range(n)], **fields)
    world.settle()


def test_a_conversation_is_told_from_sealed_to_activated(world):
    say(world, 2)
    say(world, 9)
    kinds = [event.kind for event in told(world)]
    assert kinds[:3] == ["sealed", "observing", "buffered"]
    assert "activated" in kinds
    assert {event.resource for event in told(world)} == {"harold"}
    (of_all,) = world.services.run(event_stream.counted(world.services.keys, [None]))
    assert counted(world)["observations"] == len(told(world, "buffered")) == of_all["observations"] > 1


def test_a_budget_that_is_used_up_is_told_once_a_day_however_many_processes_notice(world):
    for services in (world.new_services(), world.new_services()):
        services.events.budget_reached("harold", "budget.calls_per_day", "pause", "2026-11-21")
        services.events.budget_reached("", "total_budget.calls_per_day", "extractive", "2026-11-21")
    world.services.events.budget_reached("harold", "budget.calls_per_day", "pause", "2026-11-22")
    assert [(event.resource, event.setting, event.then) for event in told(world, "budget_reached")] == [
        ("harold", "budget.calls_per_day", "pause"), ("", "total_budget.calls_per_day", "extractive"),
        ("harold", "budget.calls_per_day", "pause")]  # fmt: skip


def test_a_task_that_fails_is_told_by_the_kind_of_its_failure_and_never_by_its_text(client, prefix_for, monkeypatch):
    rows = [(ModelError("secret", why="timeout"), "timeout"), (BudgetReachedError("secret", retry_after=1), "budget"),
            (StoreError("secret"), "store"), (KeyError("secret"), "other")]  # fmt: skip
    for n, (error, expected) in enumerate(rows):
        world = World(client, prefix_for(n))

        def work(*_, error=error):
            raise error

        monkeypatch.setattr(wiring, "made", lambda world=world: world.services)
        assert ticks.unit("chunk_observed", "om.observe_chunk")(work)("harold|t-1", "c-1").outcome == "failed"
        (event,) = told(world)
        assert (event.resource, event.thread, event.task, event.why) == ("harold", "t-1", "om.observe_chunk", expected)
        assert b"secret" not in repr(client.xrange(world.services.keys.events)).encode()
        assert counted(world) == {f"failed|{expected}": 1}


def test_a_key_that_cannot_be_adopted_fails_for_whose_it_is(world):
    for key in (f"{world.prefix}:{{harold}}:messages:t-1", f"{world.prefix}:messages:t-2", "what | ever"):
        world.services.events.failed(key, "om.adopt", KeyError("x"))
    assert [(event.resource, event.thread) for event in told(world)] == [("harold", "t-1"), ("", "t-2"), ("", None)]


def test_what_cannot_be_told_fails_nothing(world):
    """Catches a telling that raises: what was observed and paid for would be thrown away for a figure."""

    def away(_steps):
        raise StoreError("away")

    world.services.events._run = away
    say(world, 20)
    assert told(world) == []
    assert world.om.stats("harold").observations > 0
