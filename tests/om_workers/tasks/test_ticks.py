"""A tick finds what is due and passes it on, once in its slot however many beats there are."""

import re
from types import SimpleNamespace

import pytest
from world import World

from om_api.domain.errors import ModelError
from om_api.store.fleet import health
from om_workers.process.settings_watcher import SettingsWatcher
from om_workers.tasks import ticks, wiring
from om_workers.tasks.task_events import Flushing


@pytest.fixture(autouse=True)
def house(monkeypatch, world):
    """This process' services are the world's, and its threads are there for every task."""
    monkeypatch.setattr(wiring, "services", lambda: world.services)
    monkeypatch.setattr(wiring, "_watcher", lambda: SettingsWatcher(world.settings))
    world.services.presence.serve(health.QUEUES, 32)


def _mark(world, *names, index="observe"):
    for name in names:
        world.client.hset(world.services.keys.of(name).tokens, "*", 0)
    world.client.zadd(f"{world.prefix}:due:{index}", dict.fromkeys(names, 1))


def _passed_on(world):
    return sorted(ids[0] for _, ids in world.dispatch.queue)


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
    with pytest.raises(ticks.WorkFailedError, match=r"^failed: ForeignDataError \(store\)$"):
        ticks.adopt(*keys)
    assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "#t-1") == b"1"
    assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "#t-3") == b"1"
    world.client.delete(keys[1])


class Away:
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
    failed = []
    while world.dispatch.queue and len(failed) < 20:
        with pytest.raises(ticks.WorkFailedError) as caught:
            ticks.observe(*world.dispatch.queue.popleft()[1])
        failed.append((str(caught.value), caught.value.__context__))
    assert failed
    assert failed == [("failed: ModelError (other)", None)] * min(len(failed), 3)  # none of its text
    assert world.client.zscore(f"{prefix}:due:observe", "harold") > 1_000 * client.time()[0]
