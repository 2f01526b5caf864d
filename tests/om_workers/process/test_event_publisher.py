"""What workers tell: each thing that happened, once, with what its kind carries, and its counters."""

import pytest
from redis.exceptions import TimeoutError as NotAnswered
from world import World

from om_api.domain.errors import BudgetReachedError, InvalidInputError, ModelError, StoreError
from om_api.domain.events import KINDS, Event, Wanted
from om_api.domain.policy import Move
from om_api.domain.values import Outcome, Scope
from om_api.store.driver.connection import Connection
from om_api.store.fleet import event_stream
from om_api.store.fleet.event_stream import BEGINNING
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import scope_state
from om_api.store.memory import seal as seal_steps
from om_workers.llm.scripted import Scripted
from om_workers.process.event_publisher import EventPublisher
from om_workers.tasks import ticks, wiring

ALWAYS = {"kind", "id", "at", "resource"}


def told(world, *kinds):
    return world.services.run(event_stream.since(world.services.keys, BEGINNING, Wanted(kinds), 10_000)).events


def counted(world, resource="harold"):
    (found,) = world.services.run(event_stream.counted(world.services.keys, [resource]))
    return found


def carried(event):
    return {name for name in event.__struct_fields__ if getattr(event, name) is not None} - ALWAYS


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


def test_every_event_carries_what_its_kind_does_and_nothing_else(client, prefix):
    world = World(client, prefix, observation_threshold="300")
    for _ in range(30):
        say(world, 2)
        world.context()
    seen = {event.kind: carried(event) for event in told(world)}

    assert {"sealed", "observing", "buffered", "activated", "reflecting", "reflected"} <= set(seen)
    assert {kind: names - set(KINDS[kind]) for kind, names in seen.items()} == {kind: set() for kind in seen}


def test_one_observation_stored_is_one_counted(world):
    say(world, 30)
    (n,) = world.services.run(event_stream.counted(world.services.keys, [None]))

    assert counted(world)["observations"] == len(told(world, "buffered")) > 3
    assert n == counted(world)


def test_a_result_that_comes_too_late_is_told_and_counted_by_nobody(world):
    """Time 0: a worker asks. Time 1: it lost its lock, another one asks and stores. Time 2: the first one's answer comes."""

    def overtaken(_request):
        world.client.delete(*world.client.keys(f"{world.prefix}:{{harold}}:lock:chunk:*"))
        world.model = Scripted.echo()
        world.perform("observe_chunk", *ids)
        return "<observations>\n* late\n</observations>"

    world.say("one", "two")
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    ids, world.model = world.dispatch.queue.popleft()[1], Scripted(overtaken)

    assert world.perform("observe_chunk", *ids) is Outcome.SUPERSEDED
    assert len(told(world, "buffered")) == counted(world)["observations"] == 1


def test_a_cut_that_came_too_late_is_told_by_nobody(world, monkeypatch):
    """Time 0: two threads are to be cut. Time 1: a message of the second is gone. Time 2: one cut is told."""
    for thread in ("t-1", "t-2"):
        world.say("one", "two", thread=thread)
    look, seal = world.services.run(scope_state.look(world.services.keys, Scope("harold"))), seal_steps.seal

    def overtaken(keys, scope, epoch, thread, *rest):
        if thread == "t-2":
            world.client.zremrangebyrank(keys.of("harold").messages(thread), 0, 0)
        return seal(keys, scope, epoch, thread, *rest)

    monkeypatch.setattr(seal_steps, "seal", overtaken)

    assert world.scope_worker().seal(look, Move("seal", threads=("t-1", "t-2")))[0] is Outcome.SUPERSEDED
    assert [event.thread for event in told(world, "sealed")] == ["t-1"]


def test_an_activation_that_came_too_late_is_told_by_nobody(world, monkeypatch):
    """Time 0: a worker is about to activate. Time 1: a client does. Time 2: the worker is refused."""
    say(world, 9)
    world.say("the tenth")
    activate = activate_steps.activate

    def overtaken(*args, **rest):
        monkeypatch.setattr(activate_steps, "activate", activate)
        world.context()
        return activate(*args, **rest)

    monkeypatch.setattr(activate_steps, "activate", overtaken)
    world.scope_worker().observe("harold")

    assert [event.by for event in told(world, "activated")] == ["client"]


def test_chunks_that_share_a_call_are_told_one_by_one(world):
    for thread in ("t-1", "t-2"):
        world.say("first", "second", thread=thread)
    world.om.force_observe(None, "harold")
    world.settle()

    assert len(world.model.requests) == 1
    assert sorted(event.thread for event in told(world, "buffered")) == ["t-1", "t-2"]
    assert counted(world)["observations"] == 2


class Chokes(Scripted):
    """A model that refuses whatever holds a certain word."""

    def complete(self, request):
        if "poison" in request.prompt:
            raise ModelError("no", retryable=False, why="refused")
        return super().complete(request)


def test_what_cannot_be_observed_is_told_as_it_is_halved_and_quarantined(world):
    world.model = Chokes.echo()
    world.say("poison", "water")
    for _ in range(20):
        world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})
        world.tick_forgiving()
    kinds = {event.kind for event in told(world)}

    assert {"split", "quarantined"} <= kinds
    assert counted(world)["quarantined"] == len(told(world, "quarantined")) == world.om.stats("harold").rejected
    assert counted(world).get("observations", 0) == len(told(world, "buffered"))


def test_a_draft_and_what_becomes_of_it_are_told_and_its_cost_once(client, prefix):
    world = World(client, prefix, observation_threshold="1000", reflection__drain="false")
    while not told(world, "reflected"):
        say(world, 2)
    (drafted, *_), (reflected, *_) = told(world, "drafted"), told(world, "reflected")

    assert drafted.generation == reflected.generation == 1
    assert (drafted.seconds is None, reflected.seconds, reflected.cost) == (False, None, None)
    assert len(told(world, "reflecting")) == len(told(world, "drafted")) == 1
    assert (counted(world)["reflections"], counted(world)["reflector|le|0.5"]) == (1, 1)


def test_what_a_plain_writer_got_wrong_is_told_when_it_is_adopted(world):
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    world.client.zadd(key, {"{broken": 1, "[]": 2})
    world.client.zadd(f"{world.prefix}:adopt", {key: 0})
    world.sweep()

    (event,) = told(world, "quarantined")
    assert (event.thread, event.messages, event.chunk) == ("t-1", 2, None)
    assert counted(world)["quarantined"] == 2


def test_a_memory_that_the_sweep_ends_is_told(client, prefix):
    world = World(client, prefix, ttl_days="1")
    say(world, 1)
    for stirred_at in (None, 1):
        if stirred_at:
            client.hset(f"{prefix}:{{harold}}:record", "stirred_at", stirred_at)
        client.zadd(f"{prefix}:resources", {"harold": 1})
        world.sweep()

    (event,) = told(world, "cleared")
    assert (event.resource, event.messages, event.observations) == ("harold", 1, 0)


def test_a_memory_that_its_owner_ends_is_told(world):
    say(world, 3)
    world.om.clear("harold", "t-1")
    world.om.clear("harold")

    assert [event.thread for event in told(world, "cleared")] == ["t-1", None]


def test_what_a_client_activates_is_told_as_a_clients(world):
    say(world, 8)
    world.say("and", "more")
    world.context()

    assert told(world, "activated")[-1].by == "client"


def test_what_was_served_is_counted_for_its_resource_and_for_all(world):
    world.say("hello")
    world.context()
    world.om.close()

    served = {name: n for name, n in counted(world).items() if name.startswith("served|")}
    assert (served["served|contexts"], served["served|tokens"] > 0) == (1, True)
    assert served.items() <= counted(world, None).items()


def test_bills_are_counted_by_who_asked(world):
    world.services.events.billed("harold", "observe", 1_260)
    world.services.events.billed("harold", "reflect", 40)
    world.services.events.billed("harold", "observe", None)

    assert counted(world) == {"micros|observer": 1_260, "micros|reflector": 40}


def test_a_budget_that_is_used_up_is_told_once_a_day_however_many_processes_notice(world):
    for services in (world.new_services(), world.new_services()):
        services.events.budget_reached("harold", "budget.calls_per_day", "pause", "2026-11-21")
        services.events.budget_reached("", "total_budget.calls_per_day", "extractive", "2026-11-21")
    world.services.events.budget_reached("harold", "budget.calls_per_day", "pause", "2026-11-22")

    assert [(event.resource, event.setting, event.then) for event in told(world, "budget_reached")] == [
        ("harold", "budget.calls_per_day", "pause"),
        ("", "total_budget.calls_per_day", "extractive"),
        ("harold", "budget.calls_per_day", "pause"),
    ]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ModelError("secret", why="timeout"), "timeout"),
        (BudgetReachedError("secret", retry_after=1), "budget"),
        (StoreError("secret"), "store"),
        (InvalidInputError("secret"), "other"),
        (KeyError("secret"), "other"),
    ],
)
def test_a_task_that_fails_is_told_by_the_kind_of_its_failure_and_never_by_its_text(
    world, monkeypatch, error, expected
):
    def work(*_):
        raise error

    monkeypatch.setattr(wiring, "made", lambda: world.services)

    assert ticks.unit("chunk_observed", "om.observe_chunk")(work)("harold|t-1", "c-1").outcome == "failed"
    (event,) = told(world)
    assert (event.resource, event.thread, event.task, event.why) == ("harold", "t-1", "om.observe_chunk", expected)
    assert b"secret" not in repr(world.client.xrange(world.services.keys.events)).encode()
    assert counted(world) == {f"failed|{expected}": 1}


def test_a_key_that_cannot_be_adopted_fails_for_whose_it_is(world):
    for key in (f"{world.prefix}:{{harold}}:messages:t-1", f"{world.prefix}:messages:t-2", "what | ever"):
        world.services.events.failed(key, "om.adopt", KeyError("x"))

    assert [(event.resource, event.thread) for event in told(world)] == [("harold", "t-1"), ("", "t-2"), ("", None)]


def test_a_task_fails_like_any_other_where_nobody_can_be_told(monkeypatch):
    def observe(*_):
        raise KeyError("broken settings")

    monkeypatch.setattr(wiring, "made", lambda: None)

    assert ticks.unit("scope_observed", "om.observe")(observe)("harold").outcome == "failed"


def test_what_cannot_be_told_fails_nothing(world):
    """Catches a telling that raises: what was observed and paid for would be thrown away for a figure."""

    def away(_steps):
        raise StoreError("away")

    world.services.events._run = away
    say(world, 20)

    assert told(world) == []
    assert world.om.stats("harold").observations > 0


def test_a_stream_that_is_no_stream_stops_nobody(world):
    world.client.set(world.services.keys.events, "mine", ex=60)
    say(world, 12)
    world.context()

    assert world.om.stats("harold").observed_messages > 0


def test_who_has_only_written_is_measured_after_a_sweep_as_far_as_there_is_room(client, prefix):
    world = World(client, prefix, metrics__resources="2")
    say(world, 1, resource="harold")
    before = world.services.run(event_stream.measured(world.services.keys, 9))
    world.sweep()
    for name in ("ada", "albert"):
        say(world, 1, resource=name)
        world.sweep()

    assert before == []
    assert sorted(world.services.run(event_stream.measured(world.services.keys, 9))) == ["ada", "harold"]


def test_a_store_that_answers_nothing_is_asked_once_for_each_thing_told(world):
    """Catches a worker that waits for two time-outs at every event, because it does not know the server's time yet."""
    asked = []

    class Silent:
        def execute_command(self, *command):
            asked.append(command[0])
            raise NotAnswered("nothing came")

        def get_connection(self):
            return self.execute_command("several")

    Silent.connection_pool = Silent()
    telling = EventPublisher(world.settings, Connection(Silent()), world.services.keys)
    telling.tell(Event(kind="cleared", resource="harold"))
    telling.met(["harold"], 1)

    assert len(asked) == 2


def test_what_was_archived_is_counted_of_all_together_and_is_no_event(world):
    world.services.events.archived(40)
    world.services.events.archived(2)
    world.services.events.archived(0)

    assert counted(world, None)["archived"] == 42
    assert told(world) == []
