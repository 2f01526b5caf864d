"""A host of models and `om mcp` as a process over stdin and stdout, and how it ends."""

import asyncio
import json
import signal
import subprocess

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from processes import OM, inherited

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
