"""Flower and remote control, as operations use them: names, ids and outcomes through `/api/tasks`, and no text anywhere."""

import contextlib
import json
import urllib.error

import pytest
from celery import Celery
from flowers import Flower
from processes import BEAT, WORKER
from world import wait_until

from om_api.domain.values import Outcome
from om_workers.tasks.task_events import TICKS

_SECRET = "the vault opens with swordfish"
_YAML = """
observational_memory: {tokenizer: estimate, model: echo, message_threshold: 1000, min_recent_messages: 0}
models:
  echo: {provider: scripted}
  away: {base_url: "http://127.0.0.1:1/v1", model: nobody}
"""
_FILES = {
    "observational-memory.yaml": _YAML,
    "agents/albert/memory.yaml": "observational_memory: {observer_model: away, model: null, reflector_model: echo}",
}


@pytest.fixture
def house(run):
    return run(_FILES, commands=())


@pytest.fixture
def flower(house):
    one = Flower(house)
    yield one
    one.stop()


def _ended(flower, name, scope, outcome):
    """The tasks of this name that Flower shows with a scope among their args, and an outcome as their result."""
    return [task for task in flower.tasks()
        if (task["name"], task["result"]) == (name, repr(outcome)) and repr(scope) in (task["args"] or "")]  # fmt: skip


def _failed(flower, scope):
    """The tasks of a scope that Flower shows among those that failed."""
    return [task for task in flower.tasks() if task["state"] == "FAILURE" and repr(scope) in (task["args"] or "")]


@pytest.mark.smoke
def test_name_scope_and_outcome_of_every_kind_of_task_and_none_of_what_was_said(house, flower):
    """A chunk that is buffered, one that is gone when its task comes, and one whose model is away."""
    wait_until(flower.is_there, "flower", 60)
    house.spawn(*WORKER, "-n", "one@%h")
    house.spawn(*BEAT)
    house.say(2, text=_SECRET)
    house.say(2, "albert", text=_SECRET)
    wait_until(lambda: _ended(flower, "om.observe", "harold", "buffered"), "a chunk that was buffered", 60)
    with contextlib.closing(Celery(broker=house.broker, set_as_current=False)) as app:  # an operator's own tool
        app.send_task("om.observe_chunk", ("harold", "a-chunk-that-is-gone"), queue="observe")
    wait_until(lambda: _ended(flower, "om.observe_chunk", "harold", "superseded"), "a chunk that was gone", 60)
    wait_until(lambda: _failed(flower, "albert"), "a chunk whose model is away", 60)
    shown = flower.tasks()
    failed = {task["result"] for task in _failed(flower, "albert")}
    assert failed == {"WorkFailedError('failed: TurnedAwayError (unreachable)')"}
    ticks = [task for task in shown if task["name"] in TICKS]
    results = {task["result"] for task in shown if task["result"] and task not in ticks}
    assert {task["name"] for task in shown} <= {"om.observe", "om.observe_chunk", "om.reflect", "om.adopt", *TICKS}
    assert "'due " in str([task["result"] for task in ticks])  # ticks that did something
    assert results <= failed | {repr(str(outcome)) for outcome in Outcome}
    assert b"Traceback" not in house.log.read_bytes()
    assert "swordfish" not in json.dumps(shown)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        flower.get("/api/tasks", password="guessed")
