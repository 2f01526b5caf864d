"""Dead work with real processes: whatever dies, what it was doing is found and done within a minute of its death."""

import base64
import json
import time

import pytest
import redis
from processes import BEAT, WORKER
from world import World, wait_until

from om_api.domain.messages import Message
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.memory.push import push

_A_MINUTE = 60
_SLOW = "{delay: 600}"  # longer than the test: whoever asks this model must die
_YAML = """
observational_memory:
  {tokenizer: estimate, model: quick, message_threshold: 1000, observation_threshold: 400, min_recent_messages: 0}
models:
  quick: {provider: scripted}
  slow: {provider: scripted}
"""
_FILES = {
    "observational-memory.yaml": _YAML,
    "agents/killed/memory.yaml": "observational_memory: {observer_model: slow, model: null, reflector_model: quick}",
    "agents/reflecting/memory.yaml": "observational_memory: {observer_model: quick, model: null, reflector_model: slow}",
}


@pytest.mark.timeout(200)
def test_whatever_dies_its_work_is_done_within_a_minute_by_another(run):
    """Four deaths side by side: a worker killed while models think (an observation, a reflection), tasks that the broker
    lost, a chunk that nobody has on any list.

    Breaks when a tick or a worker takes a scope off the due index before its work is done, when a lock outlives its
    owner, or when the sweep looks at raw messages only. The broker is no help: its visibility timeout is an hour.
    """
    house = run(_FILES, commands=())
    house.spawn(*WORKER, "-n", "ticks@%h", "-Q", "ticks,maintenance")
    house.spawn(*BEAT)
    doomed = house.spawn(*WORKER, "-n", "doomed@%h", "-Q", "observe,reflect", OM_MODELS__SLOW__OPTIONS=_SLOW)
    said = {"killed": _say(house, "killed", 2), "reflecting": [], "lost": [], "forgotten": []}
    while not _thinking(house, "reflecting"):
        said["reflecting"] += _say(house, "reflecting", 2)
        time.sleep(0.1)
    wait_until(lambda: _locked(house, "killed", "chunk:"), "the model to be asked", 60)

    doomed.kill()
    died = dict.fromkeys(("killed", "reflecting"), time.monotonic())
    assert doomed.wait(10) == -9
    said["lost"] = _say(house, "lost", 2)
    died["lost"] = _lose_tasks(house)
    said["forgotten"] = _forget(house)
    died["forgotten"] = time.monotonic()
    house.spawn(*WORKER, "-n", "next@%h", "-Q", "observe,reflect")

    _until(lambda: _reflected(house), died["reflecting"], "the reflection")
    for name in ("killed", "lost", "forgotten"):
        _until(lambda name=name: _observed(house, name) >= set(said[name]), died[name], f"what {name} said")
    for name, ids in said.items():
        context = house.om.get_context("t-1", name)
        raw, text = [message.id for message in context.messages], context.text
        assert [one for one in ids if (one in raw) + (f"[{one}]" in text) != 1] == []
    assert house.om.verify() == []


def _until(done, died, what):
    wait_until(done, f"{what}, a minute after its worker died", _A_MINUTE - (time.monotonic() - died))


def _message(name, n):
    return Message(role="user", content=f"{name} said {n}", id=n, thread_id="t-1", resource_id=name, tokens=100)


def _say(house, name, many):
    ids = [f"{name}-{time.monotonic_ns()}-{n}" for n in range(many)]
    house.om.add_messages([_message(name, one) for one in ids])
    return ids


def _locked(house, name, what):
    return any(house.client.scan_iter(f"{house.prefix}:{{{name}}}:lock:{what}*", count=1000))


def _thinking(house, name):
    """Whether a model is asked to reflect: its lock has one owner for a second; a look that asks none has it for an instant."""
    lock = f"{house.prefix}:{{{name}}}:lock:reflect"
    owner = house.client.get(lock)
    if owner is None:
        return False
    time.sleep(1)
    return house.client.get(lock) == owner


def _lose_tasks(house):
    """Delete the queues once a task of `lost` is in them, as a broker without persistence does that is started again."""
    with redis.Redis.from_url(house.broker) as broker:
        wait_until(lambda: b"lost" in b"".join(_bodies(broker)), "the task")
        broker.delete("observe", "reflect")
    return time.monotonic()


def _bodies(broker):
    return [base64.b64decode(json.loads(each)["body"]) for each in broker.lrange("observe", 0, -1)]


def _forget(house):
    """Seal a chunk and tell nobody: neither the due index, nor by a look that would put the sweep off."""
    world = World(house.client, house.prefix, tokenizer="estimate")
    ids = [f"forgotten-{n}" for n in range(2)]
    messages = [_message("forgotten", one) for one in ids]
    encoded = [EncodedMessage(message, encode_message(message)) for message in messages]
    world.services.run(push(world.services.keys, world.services.clock, "forgotten", encoded, mark=False))
    world.scope_worker().observe("forgotten")
    house.client.zrem(f"{house.prefix}:due:observe", "forgotten")
    house.client.zadd(f"{house.prefix}:resources", {"forgotten": 0})
    assert house.client.zcard(f"{house.prefix}:{{forgotten}}:chunks")
    return ids


def _observed(house, name):
    """The ids behind observations, those of chunks that are ready included."""
    base = f"{house.prefix}:{{{name}}}"
    chunks = [house.client.hget(key, "observation") for key in house.client.scan_iter(f"{base}:chunk:*", count=1000)]
    stored = [*house.client.zrange(f"{base}:observations", 0, -1), *filter(None, chunks)]
    return {one for each in stored for one in json.loads(each)["message_ids"]}


def _reflected(house):
    """Whether the model has answered the second worker: a draft is kept, or a generation in force."""
    base = f"{house.prefix}:{{reflecting}}"
    return house.client.exists(f"{base}:draft", f"{base}:reflections")
