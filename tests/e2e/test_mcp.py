"""MCP and HTTP sessions of real processes."""

import asyncio
import json
import signal
import subprocess

import httpx2
import pytest
from key_ring import KeyRing
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from processes import OM, api_started, inherited
from world import wait_until

SAID = [{"role": "user", "content": "My flight to Oslo is on Friday."}, {"role": "assistant", "content": "Noted."}]
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
    "clientInfo": {"name": "a host", "version": "1"}}}  # fmt: skip


@pytest.fixture
def environ(server_client, server_url, prefix):
    """What a process of ours is told."""
    return {**inherited(), "OM_REDIS_URL": server_url, "OM_PREFIX": prefix, "OM_TOKENIZER": "estimate"}


@pytest.fixture
def over_stdio(environ, tmp_path):
    """A host that starts `om mcp`."""

    def connected(*options):
        return Client(
            stdio_client(StdioServerParameters(command=OM, args=["mcp", *options], env=environ, cwd=tmp_path))
        )

    return connected


async def _told(client, tool, **given):
    result = await client.call_tool(tool, given)
    return result.is_error, result.content[0].text


@pytest.mark.smoke
def test_a_host_starts_it_and_its_model_remembers(over_stdio):
    async def talk():
        async with over_stdio("--resource", "harold", "--thread", "t-1") as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            await _told(client, "add_messages", messages=SAID)
            resources = (await client.list_resources()).resources
            return tools, await _told(client, "get_context"), await _told(client, "recall", query="oslo"), resources

    tools, (failed, context), (_, found), (resource,) = asyncio.run(talk())
    assert (len(tools), failed) == (11, False)
    assert "user: My flight to Oslo is on Friday." in context
    assert "My flight to Oslo is on Friday." in found
    assert resource.uri == "om://harold/threads/t-1/context"


def test_it_ends_in_order_when_stdin_does_or_a_signal_says_so(environ):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    for how in (None, signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([OM, "mcp"], env=environ, text=True, **streams) as running:
            running.stdin.write(f"{json.dumps(INITIALIZE)}\n")
            running.stdin.flush()
            answer = json.loads(running.stdout.readline())
            if how is None:
                running.stdin.close()
            else:
                running.send_signal(how)
            code = running.wait(20)
            said = running.stderr.read(), running.stdout.read()
        assert answer["result"]["serverInfo"]["name"] == "cortex-om"
        assert (code, said) == (0, ("", "")), how


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
