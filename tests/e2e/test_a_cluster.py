"""Everything of ours on a Cluster, in real processes: workers and a beat, the HTTP API, and `om`, while slots move."""

import json
import os
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx2
import pytest
from key_ring import KeyRing
from processes import started
from redis.crc import key_slot
from world import wait_until

from om_api import Message, SettingsError, load_settings
from om_workers.app import make_app

AGENTS = [f"agent-{n}" for n in range(4)]
ENOUGH = {"message_threshold": "1000", "observation_threshold": "4000", "min_recent_messages": "0"}


@pytest.fixture
def house(run, cluster, cluster_client):
    """A house whose memories live on the cluster, and whose tasks wait on the tests' server."""
    return run(redis_url=cluster.url, **ENOUGH)


@pytest.fixture
def om(house):
    """Run `om` as its operator does; what it prints."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}

    def call(*words, given=""):
        command = [str(Path(sys.executable).with_name("om")), *words]
        environ = {**clean, **house.environment}
        done = subprocess.run(command, env=environ, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


def say(memory, agent, *numbers):
    memory.add_messages(
        [
            Message(id=f"m-{n}", role="user", content=f"m {n}", thread_id="t-1", resource_id=agent, tokens=100)
            for n in numbers
        ]
    )


def covered(memory, agent):
    """The id of every message, once for each place that has it."""
    raw = [message.id for message in memory.messages(agent, "t-1")]
    return Counter(raw + [one for note in memory.observations(agent) for one in note.message_ids])


def test_workers_observe_every_message_once_while_slots_move_under_them(house, cluster):
    keys = [f"{house.prefix}:{{{agent}}}:x".encode() for agent in AGENTS]
    for n in range(20):
        for agent in AGENTS:
            say(house.om, agent, n)
        slot = key_slot(keys[n % len(keys)])
        cluster.move(slot, next(node for node in cluster.primaries if node is not cluster.owner(slot)))
    for agent in AGENTS:
        assert house.om.force_observe(resource_id=agent, wait=60) == "activated"
        assert covered(house.om, agent) == dict.fromkeys((f"m-{n}" for n in range(20)), 1)

    assert house.om.verify() == []


def test_an_operator_sees_moves_and_saves_memories_of_a_cluster(house, om):
    for agent in AGENTS:
        say(house.om, agent, *range(12))
        house.om.force_observe(resource_id=agent, wait=60)
    before = covered(house.om, AGENTS[0])
    file = om("export", AGENTS[0])
    om("clear", AGENTS[0], "--yes")
    assert covered(house.om, AGENTS[0]) == {}
    om("import", given=file)

    assert covered(house.om, AGENTS[0]) == before
    assert {each["resource"] for each in json.loads(om("stats", "--json"))} >= set(AGENTS)
    assert len(json.loads(om("queues", "--json"))["workers"]) == 1


def test_the_api_serves_memories_and_figures_of_a_cluster(house, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    command = [str(Path(sys.executable).with_name("om")), "api", "--port", port]
    ring = KeyRing(house.om.settings)
    _, token = ring.create(["*"], "operator")
    say(house.om, "harold", *range(12))
    with (
        (tmp_path / "api.log").open("wb") as log,
        started(command, env={**clean, **house.environment}, cwd=tmp_path, stdout=log, stderr=log) as server,
    ):
        url, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {token}"}
        wait_until(lambda: _answers(url), "the server", 60)
        said = httpx2.get(f"{url}/v1/resources/harold/threads/t-1/context", headers=headers)
        figures = httpx2.get(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"})
        server.terminate()
        server.wait(15)

    assert said.status_code == 200
    assert "m 11" in said.text
    assert "cortex_om_workers 1.0" in figures.text
    assert 'cortex_om_queue_tasks{queue="observe"}' in figures.text


def _answers(url):
    try:
        return httpx2.get(f"{url}/readyz").is_success
    except httpx2.TransportError:
        return False


def test_workers_without_a_broker_of_their_own_say_what_to_set(cluster, prefix):
    settings = load_settings(environ={"OM_REDIS_URL": cluster.url, "OM_PREFIX": prefix})
    with pytest.raises(SettingsError, match="set OM_BROKER_URL to a server of their own"):
        make_app(settings)
