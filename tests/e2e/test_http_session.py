"""Two agents that know nothing but HTTP and their keys, with a server, a beat and a worker of their own."""

import os
import sys
from pathlib import Path

import httpx2
import pytest
from key_ring import KeyRing
from ports import reserve_port
from processes import started
from world import wait_until

ENOUGH = {"MESSAGE_THRESHOLD": "1000", "OBSERVATION_THRESHOLD": "4000", "MIN_RECENT_MESSAGES": "0"}


@pytest.fixture
def house(run, tmp_path):
    """Everything that runs, and the address of the server."""
    running = run(**{name.lower(): value for name, value in ENOUGH.items()})
    port = str(reserve_port())
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    with (tmp_path / "api.log").open("wb") as log:
        command = [str(Path(sys.executable).with_name("om")), "api", "--port", port]
        with started(command, env={**clean, **running.environment}, cwd=tmp_path, stdout=log, stderr=log) as server:
            wait_until(lambda: _answers(port), "the server", 60)
            yield running, f"http://127.0.0.1:{port}/v1"
            server.terminate()
            server.wait(15)


def _answers(port):
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/readyz").is_success
    except httpx2.TransportError:
        return False


@pytest.fixture
def session(house):
    """Somebody with a key: `session("writer", "harold")` is a client that sends it."""
    running, url = house
    ring, clients = KeyRing(running.om.settings, client=running.client), []

    def begin(role, *resources):
        _, token = ring.create(resources, role)
        clients.append(httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


def _say(agent, resource, thread, *numbers):
    given = [{"id": f"{thread}-{n}", "role": "user", "content": f"{resource} says {n} in {thread}", "tokens": 100}
        for n in numbers]  # fmt: skip
    answer = agent.post(f"resources/{resource}/threads/{thread}/messages", json={"messages": given})
    assert answer.json()["added"] == len(given)


def _contexts(operator, resource):
    """What the models of every thread read."""
    shown = [operator.get(f"resources/{resource}/threads/{thread}/context",
        params={"format": "blocks"}).json()["context"] for thread in ("t-1", "t-2")]  # fmt: skip
    assert all(shown)
    return shown


def _live(agent, resource):
    """Two threads until there are observations, a reflection, and messages that are not observed yet."""
    for n in range(0, 24, 4):
        for thread in ("t-1", "t-2"):
            _say(agent, resource, thread, *range(n, n + 4))
    assert agent.post(f"resources/{resource}/observe", json={"wait": 30}).json()["outcome"] in {"activated", "rest"}
    assert agent.post(f"resources/{resource}/reflect", json={"wait": 30}).json()["outcome"] == "reflected"
    _say(agent, resource, "t-1", 24, 25)


@pytest.mark.smoke
def test_two_agents_live_side_by_side_and_one_leaves_and_comes_back(house, session):
    agents = {name: session("writer", name) for name in ("harold", "albert")}
    operator = session("operator", "harold")
    for name, agent in agents.items():
        _live(agent, name)
    for name, other in (("harold", "albert"), ("albert", "harold")):
        text = agents[name].get(f"resources/{name}/threads/t-1/context").json()["context"]
        assert f"{name} says 25" in text
        assert other not in text
        assert agents[name].get(f"resources/{other}/threads/t-1/context").status_code == 403
        assert agents[name].get(f"resources/{other}/export").status_code == 403
        assert agents[name].post(f"resources/{other}/import", content=b"").status_code == 403
        assert agents[name].get("resources").json()["items"] == [name]
    operator.post("resources/harold/pause")
    before, albert = _contexts(operator, "harold"), _contexts(agents["albert"], "albert")
    file = operator.get("resources/harold/export").content
    assert operator.delete("resources/harold", params={"confirm": "harold"}).json()["outcome"] == "cleared"
    assert "harold says" not in operator.get("resources/harold/threads/t-1/context").json()["context"]
    imported = operator.post("resources/harold/import", content=file).json()
    assert (imported["generations"], _contexts(operator, "harold")) == (1, before)
    assert _contexts(agents["albert"], "albert") == albert
    _goes_on(house, operator, agents["harold"])


def _goes_on(house, operator, agent):
    running, _ = house
    assert operator.get("resources/harold/stats").json()["paused"] is True
    operator.post("resources/harold/resume")
    _say(agent, "harold", "t-1", *range(26, 40))
    assert agent.post("resources/harold/observe", json={"wait": 30}).json()["outcome"] == "activated"
    wait_until(lambda: not running.om.stats("harold").due, "the workers")
    assert running.om.verify() == []
