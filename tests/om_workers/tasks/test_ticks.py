"""A tick finds what is due and passes it on, once in its slot however many beats there are."""

import re
import threading
import time
from collections import deque
from contextlib import suppress
from types import SimpleNamespace

import pytest
from redis.connection import AbstractConnection
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import ModelError
from om_api.store.fleet import health
from om_workers.process.settings_watcher import SettingsWatcher
from om_workers.tasks import ticks, wiring
from om_workers.tasks.task_events import Flushing
from om_workers.work.rollout import Rollout


@pytest.fixture(autouse=True)
def house(monkeypatch, world):
    """This process' services are the world's, and its threads are there for every task."""
    monkeypatch.setattr(wiring, "services", lambda: world.services)
    monkeypatch.setattr(wiring, "_watcher", lambda: SettingsWatcher(world.settings))
    world.services.presence.serve(health.QUEUES, 32)


def _mark(world, *names, index="observe"):
    """Have scopes due under whose names somebody once wrote."""
    for name in names:
        world.client.hset(world.services.keys.of(name).tokens, "*", 0)
    world.client.zadd(f"{world.prefix}:due:{index}", dict.fromkeys(names, 1))


def _passed_on(world):
    return sorted(ids[0] for _, ids in world.dispatch.queue)


def _next_slot(world):
    world.client.delete(world.services.keys.tick("observer"))


def test_each_index_is_passed_on_to_who_works_it(world):
    _mark(world, "harold")
    _mark(world, "albert", index="reflect")
    ticks.observer_tick()
    ticks.reflector_tick()

    assert [(verb, ids[0]) for verb, ids in world.dispatch.queue] == [("observe", "harold"), ("reflect", "albert")]


def test_settings_are_made_known_by_the_first_tick_of_a_process_and_by_the_next_when_they_changed(world, monkeypatch):
    """Catches settings of a restart, and of a file that was written while workers run, that no memory hears of."""
    watcher, told = SettingsWatcher(world.settings), []
    monkeypatch.setattr(wiring, "_watcher", lambda: watcher)
    monkeypatch.setattr(Rollout, "_tell", lambda _, names: told.append(names) or 0)
    for since in (watcher.since, watcher.since, watcher.since + 9):
        watcher.since = since
        _next_slot(world)
        ticks.observer_tick()

    assert len(told) == 2


def test_tasks_carry_ids_and_never_what_was_said(world):
    sent = []
    for verb in ("observe", "reflect", "adopt"):
        own = getattr(world.dispatch, verb)
        setattr(world.dispatch, verb, lambda *args, own=own: (sent.append(args), own(*args)))
    world.say(*(f"a secret of {n} words" for n in range(12)), tokens=400)
    world.om.force_reflect("harold")
    world.settle()

    words = {word for args in sent for each in args for word in ([each] if isinstance(each, str) else each)}
    assert len(sent) > 3
    assert all(re.fullmatch(r"[A-Za-z0-9._:@+|{}-]+", word) for word in words)


def test_who_looks_at_a_scope_observes_there_what_comes_first_and_passes_on_the_rest(client, prefix, monkeypatch):
    """Catches a chunk that is observed by nobody, and one that is passed on though it is being observed right there."""
    world = World(client, prefix, observer__max_tokens_per_batch="0")
    world.services.presence.serve(health.QUEUES, 32)
    monkeypatch.setattr(wiring, "services", lambda: world.services)
    monkeypatch.setattr(ticks, "_TURN_S", 0)
    monkeypatch.setattr(ticks, "_TASK_S", 0)
    world.say("first", thread="t-1", tokens=700)
    world.say("second", thread="t-2", tokens=700)
    with capture_logs() as lines:
        assert ticks.observe("harold") == "buffered"

    assert [line["event"] for line in lines] == ["scope_observed", "chunk_observed"]
    assert [[message.content for message in request.messages] for request in world.model.requests] == [["first"]]
    assert _passed_on(world) == ["harold"]
    world.work()
    assert [request.messages[0].content for request in world.model.requests] == ["first", "second"]


def _full_scopes(world, *names):
    for name in names:
        world.say("what was said", resource=name, tokens=50_000)


def test_a_task_goes_on_with_the_scopes_whose_turn_comes_next_and_tells_flower_of_each(world, monkeypatch):
    """Catches a backlog that costs a task a scope, a scope taken twice, and one that Flower does not see."""
    told = []
    monkeypatch.setattr(Flushing, "sender", SimpleNamespace(send=lambda kind, **fields: told.append((kind, fields))))
    _full_scopes(world, "a", "b", "c")
    ticks.observer_tick()
    task = world.dispatch.queue.popleft()[1]
    _full_scopes(world, "d", "e")
    ticks.observe(*task)

    observed = {request.messages[0].resource_id for request in world.model.requests}
    assert observed == {task[0], "d", "e"}  # the two others were handed out to whoever takes their tasks
    assert sorted(_passed_on(world)) == sorted({"a", "b", "c"} - {task[0]})
    assert [kind for kind, _ in told] == ["task-received", "task-started", "task-succeeded"] * 2
    assert [fields["args"].partition(",")[0] for kind, fields in told if kind == "task-received"] == ["('d'", "('e'"]
    assert {fields["result"] for kind, fields in told if kind == "task-succeeded"} == {"'buffered'"}
    assert len({fields["uuid"] for _, fields in told}) == 2


def test_a_task_says_how_many_scopes_it_went_on_with(world):
    _full_scopes(world, "a", "b", "c")
    assert ticks.observe("a") == "buffered, and 2 more"


def test_what_follows_a_task_that_failed_is_done_and_a_failure_that_follows_is_told_as_its_own(world, monkeypatch):
    """Catches one agent whose work fails taking down, or hiding behind, the agents that follow it."""
    told = []
    monkeypatch.setattr(Flushing, "sender", SimpleNamespace(send=lambda kind, **fields: told.append((kind, fields))))
    answers = world.model.complete

    def complete(request):
        if request.messages[0].resource_id in {"a", "c"}:
            raise ModelError("it is away", retryable=False, why="other")
        return answers(request)

    monkeypatch.setattr(world.model, "complete", complete)
    _full_scopes(world, "a", "b", "c")
    with pytest.raises(ticks.WorkFailedError):
        ticks.observe("a")

    ended = [(kind, fields) for kind, fields in told if kind in {"task-succeeded", "task-failed"}]
    assert ("task-succeeded", "'buffered'") in [(kind, fields.get("result")) for kind, fields in ended]
    failed = [fields["exception"] for kind, fields in ended if kind == "task-failed"]
    assert failed
    assert all(each.startswith("WorkFailedError('failed: ModelError") for each in failed)


def test_a_worker_that_stops_goes_on_with_no_other_scope(world):
    _full_scopes(world, "a", "b")
    world.services.stopping.ask(60)
    assert ticks.observe("a") == "buffered"
    assert [request.messages[0].resource_id for request in world.model.requests] == ["a"]


def test_a_task_that_another_did_in_its_place_looks_at_nothing(world, monkeypatch):
    """Catches stale tasks that look: 12,000 scopes became 56,801 tasks, each of which found nothing to do."""
    _mark(world, "harold")
    ticks.observer_tick()
    task = world.dispatch.queue.popleft()[1]
    assert ticks.observe(*task) == "rest"

    monkeypatch.setattr(ticks, "ScopeWorker", lambda _: pytest.fail("a stale task looked"))
    assert ticks.observe(*task) == "superseded"
    assert _passed_on(world) == []


def test_one_task_adopts_many_keys_and_what_is_wrong_with_one_hurts_no_other(world):
    for thread in ("t-1", "t-3"):
        world.client.zadd(f"{world.prefix}:{{harold}}:messages:{thread}", {'{"role": "user", "content": "hi"}': 1})
    keys = [f"{world.prefix}:{{harold}}:messages:t-{n}" for n in (1, 2, 3)]
    world.client.set(keys[1], "no messages")
    with pytest.raises(ticks.WorkFailedError, match=r"^failed: StoreError \(store\)$"):
        ticks.adopt(*keys)

    assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "#t-1") == b"1"
    assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "#t-3") == b"1"
    world.client.delete(keys[1])


def test_who_looks_at_a_scope_where_nothing_is_to_be_observed_says_what_the_look_came_to(world):
    assert ticks.observe("harold") == "rest"


def _three_chunks(world):
    for _ in range(3):
        world.say("something", tokens=50_000)
        world.om.force_observe(None, "harold")
        world.scope_worker().observe("harold")


def test_a_task_goes_on_with_what_comes_next_of_its_scope(world):
    """Catches a task for each chunk: a long conversation would wait for its turn as many times."""
    _three_chunks(world)
    sealed = world.om.stats("harold").chunks
    ticks.observe("harold")
    stats = world.om.stats("harold")

    assert sealed == 3
    assert (stats.chunks - stats.ready_chunks, world.dispatch.queue) == (0, deque())


def test_a_chunk_takes_25_round_trips_from_due_to_buffered(server_client, prefix, monkeypatch):
    """Catches a walk that reads again what it knows: it took 35."""
    world = World(server_client, prefix)
    world.services = world.new_services(guarded=True)
    world.services.registry.model_for = lambda name, tokens: world.model
    world.services.presence.serve(health.QUEUES, 32)
    monkeypatch.setattr(wiring, "services", lambda: world.services)
    for resource in ("warm", "harold"):
        world.say("one", "two", "three", "four", resource=resource)
        _next_slot(world)
        ticks.observer_tick()
        _, task = world.dispatch.queue.popleft()
        trips = _trips_of(monkeypatch, lambda task=task: ticks.observe(*task))

    assert next(n for n, sent in enumerate(trips, 1) if b"buffered" in sent) <= 25


def _trips_of(monkeypatch, work):
    """What this thread sends while it works, one round trip each."""
    trips, send, here = [], AbstractConnection.send_packed_command, threading.get_ident()

    def noted(connection, command, **options):
        if threading.get_ident() == here:
            trips.append(b"".join(command) if isinstance(command, list) else command)
        return send(connection, command, **options)

    with monkeypatch.context() as patch:
        patch.setattr(AbstractConnection, "send_packed_command", noted)
        work()
    return trips


class Away:
    """A model that cannot answer."""

    name = "away"

    def complete(self, request):
        raise ModelError("503", retryable=True)


def test_chunks_whose_model_cannot_answer_are_asked_for_once_each_and_then_put_off(client, prefix, monkeypatch):
    """Catches a hot loop: each look marked the scope for the chunks of other threads, and the next one did the same."""
    world = World(client, prefix, model=Away())
    world.services.presence.serve(health.QUEUES, 32)
    monkeypatch.setattr(wiring, "services", lambda: world.services)
    for n in range(3):
        world.say("something", thread=f"t-{n}", tokens=50_000)
    ticks.observer_tick()
    looks = 0
    while world.dispatch.queue and looks < 20:
        with suppress(ticks.WorkFailedError):
            ticks.observe(*world.dispatch.queue.popleft()[1])
        looks += 1

    assert looks <= 3
    assert world.client.zscore(f"{prefix}:due:observe", "harold") > 1_000 * client.time()[0]


def test_a_task_that_failed_fails_with_its_errors_name_and_kind_and_none_of_its_text(client, prefix, monkeypatch):
    """Catches work that failed and stands among what succeeded, and a traceback that tells more than the line of log."""
    world = World(client, prefix, model=Away())
    monkeypatch.setattr(wiring, "services", lambda: world.services)
    world.say("the vault opens with swordfish", tokens=50_000)

    with pytest.raises(ticks.WorkFailedError) as caught:
        ticks.observe("harold")
    assert str(caught.value) == "failed: ModelError (other)"
    assert caught.value.__context__ is None
    assert all(
        ticks.WorkFailedError in task.throws for task in (ticks.observe, ticks.reflect, ticks.sweep, ticks.adopt)
    )


def test_a_tick_tells_what_it_did(world):
    idle = ticks.reflector_tick()
    _mark(world, "harold", "albert")

    assert (idle, ticks.observer_tick()) == ("rest", "due 2")
    assert ticks.observer_tick() == "busy"


def test_a_task_whose_turn_is_over_leaves_what_comes_next_to_another(world, monkeypatch):
    """Catches a long conversation that keeps a thread for itself while others wait."""
    _three_chunks(world)
    monkeypatch.setattr(ticks, "_TURN_S", 0.05)
    monkeypatch.setattr(ticks, "_TASK_S", 0)
    answers = world.model.complete
    monkeypatch.setattr(world.model, "complete", lambda request: (time.sleep(0.1), answers(request))[1])
    ticks.observe("harold")
    stats = world.om.stats("harold")

    assert stats.chunks - stats.ready_chunks == 2
    assert _passed_on(world) == ["harold"]
