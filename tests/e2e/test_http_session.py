"""An agent that knows nothing but HTTP and its key, with a server, a beat and a worker of its own."""

import httpx2
import pytest
from key_ring import KeyRing
from processes import api_started
from world import wait_until

ENOUGH = {"message_threshold": "1000", "observation_threshold": "4000", "min_recent_messages": "0"}


@pytest.fixture
def house(run, tmp_path):
    """Everything that runs, and harold's operator as a client of the server."""
    running = run(**ENOUGH)
    _, token = KeyRing(running.om.settings, client=running.client).create(["harold"], "operator")
    headers = {"Authorization": f"Bearer {token}"}
    with (
        api_started(running.environment, cwd=tmp_path) as url,
        httpx2.Client(base_url=f"{url}/v1/resources/harold", headers=headers, timeout=60) as agent,
    ):
        yield running, agent


def _say(agent, thread, *numbers):
    given = [
        {"id": f"{thread}-{n}", "role": "user", "content": f"I say {n} in {thread}", "tokens": 100} for n in numbers
    ]
    assert agent.post(f"threads/{thread}/messages", json={"messages": given}).json()["added"] == len(given)


@pytest.mark.smoke
def test_an_agent_is_observed_and_reflected_paused_and_goes_on(house):
    running, agent = house
    for n in range(0, 24, 4):
        for thread in ("t-1", "t-2"):
            _say(agent, thread, *range(n, n + 4))
    assert agent.post("observe", json={"wait": 30}).json()["outcome"] in {"activated", "rest"}
    assert agent.post("reflect", json={"wait": 30}).json()["outcome"] == "reflected"
    _say(agent, "t-1", 24, 25)
    assert "I say 25" in agent.get("threads/t-1/context").json()["context"]
    agent.post("pause")
    assert agent.get("stats").json()["paused"] is True
    agent.post("resume")
    _say(agent, "t-1", *range(26, 40))
    assert agent.post("observe", json={"wait": 30}).json()["outcome"] == "activated"
    wait_until(lambda: not running.om.stats("harold").due, "the workers")
    assert running.om.verify() == []
