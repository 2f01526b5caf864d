"""Workers and beats as real processes, in a few seconds each: they observe, stop in order, and take over from the dead."""

import json
import signal
import time

import pytest
from processes import BEAT, WORKER
from world import wait_until

from om_api.store.memory.keys import queued

pytestmark = pytest.mark.smoke
_THINKS = "{delay: 600}"  # longer than a test
_YAML = """
observational_memory: {tokenizer: estimate, model: quick, message_threshold: 1000, min_recent_messages: 0}
models:
  quick: {provider: scripted}
"""


def _locks(house):
    return list(house.client.scan_iter(f"{house.prefix}:{{harold}}:lock:chunk:*", count=1000))


def _held_once(house, ids, thread="t-1"):
    context = house.om.get_context(thread, "harold")
    raw, text = [message.id for message in context.messages], context.text
    assert [one for one in ids if (one in raw) + (f"[{one}]" in text) != 1] == []


def _thinking(run):
    """A worker whose model thinks for ten minutes about what harold said; what he said."""
    house = run({"observational-memory.yaml": _YAML}, commands=(BEAT,))
    doomed = house.spawn(*WORKER, OM_MODELS__QUICK__OPTIONS=_THINKS, OM_STOP_GRACE="0.5s")
    ids = house.say(2)
    wait_until(lambda: _locks(house), "the model to be asked", 60)
    return house, doomed, ids


def test_a_worker_and_a_beat_turn_what_was_pushed_by_anybody_into_notes(run):
    house = run({"observational-memory.yaml": _YAML})
    member = json.dumps({"id": "plain", "role": "user", "content": "by two commands", "tokens": 200})
    plain = f"{house.prefix}:{{harold}}:messages:t-2"  # what a writer in any language does
    house.client.zadd(plain, {member: int(time.time() * 1000)})
    house.client.zadd(f"{house.prefix}:adopt", {plain: 0})
    ids = house.say(12)
    wait_until(lambda: house.om.observations("harold"), "an observation, by the threshold alone", 60)
    known = f"{house.prefix}:{{harold}}:known:t-2"
    wait_until(lambda: house.client.exists(known), "the plain message to be adopted", 60)
    assert house.om.force_observe(resource_id="harold", wait=60) in {"activated", "rest"}
    _held_once(house, ids)
    wait_until(lambda: "[plain]" in house.om.get_context("t-2", "harold").text, "the note of the plain message", 60)
    assert house.om.verify() == []


def test_a_worker_that_is_told_to_stop_gives_back_what_it_holds_and_ends(run):
    """Breaks when a lock stays, when an attempt stays counted, and when the process waits for its model, as Celery does."""
    house, doomed, _ = _thinking(run)
    doomed.send_signal(signal.SIGTERM)
    assert doomed.wait(20) == 0
    assert _locks(house) == []
    (chunk,) = house.client.scan_iter(f"{house.prefix}:{{harold}}:chunk:*", count=1000)
    assert (house.client.hget(chunk, "attempts"), house.client.zcard(f"{house.prefix}:workers")) == (b"0", 0)


def test_work_of_a_worker_that_was_killed_is_done_by_the_next_one(run):
    house, doomed, ids = _thinking(run)
    doomed.kill()
    assert doomed.wait(10) == -signal.SIGKILL
    index = f"{house.prefix}:due:observe"
    house.client.delete(*_locks(house), queued(index))  # what a lease does that nobody renews
    house.client.zadd(index, {"harold": 1})
    house.spawn(*WORKER)
    wait_until(lambda: house.om.observations("harold") or house.om.stats("harold").ready_chunks, "the note", 60)
    house.om.force_observe(resource_id="harold", wait=60)
    assert house.om.observations("harold")[0].message_ids == tuple(ids)
    _held_once(house, ids)
    assert house.om.verify() == []
