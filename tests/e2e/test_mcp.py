"""A host of models and `om mcp` as a process over stdin and stdout, with a store that dies."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from servers import Server

OM = str(Path(sys.executable).with_name("om"))
SAID = [{"role": "user", "content": "My flight to Oslo is on Friday."}, {"role": "assistant", "content": "Noted."}]
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
    "clientInfo": {"name": "a host", "version": "1"}}}  # fmt: skip


@pytest.fixture
def environ(server_client, server_url, prefix):
    """What a process of ours is told."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    return {**clean, "OM_REDIS_URL": server_url, "OM_PREFIX": prefix, "OM_TOKENIZER": "estimate"}


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


def process(environ, *options):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([OM, "mcp", *options], env=environ, text=True, **streams)


def request(number, tool, **given):
    params = {"name": tool, "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def ask(running, message):
    running.stdin.write(f"{json.dumps(message)}\n")
    running.stdin.flush()
    return json.loads(running.stdout.readline())


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
    for how in (None, signal.SIGINT, signal.SIGTERM):
        with process(environ) as running:
            answer = ask(running, INITIALIZE)
            if how is None:
                running.stdin.close()
            else:
                running.send_signal(how)
            code = running.wait(20)
            said = running.stderr.read(), running.stdout.read()
        assert answer["result"]["serverInfo"]["name"] == "cortex-om"
        assert (code, said) == (0, ("", "")), how


def test_a_store_that_dies_in_the_middle_loses_no_turn_and_doubles_none(environ, tmp_path):
    with Server(tmp_path / "store", "--appendonly", "yes", "--appendfsync", "always") as store:
        told = {**environ, "OM_REDIS_URL": store.url}
        with process(told, "--resource", "harold", "--thread", "t-1") as running:
            ask(running, INITIALIZE)
            first = ask(running, request(2, "add_messages", messages=SAID[:1]))
            store.kill()
            lost = ask(running, request(3, "add_messages", messages=SAID[1:]))
            store.start()
            again = ask(running, request(4, "add_messages", messages=SAID[1:]))
            context = ask(running, request(5, "get_context"))["result"]["content"][0]["text"]
            running.stdin.close()
            code = running.wait(20)
    assert [each["result"].get("isError", False) for each in (first, lost, again)] == [False, True, False]
    assert (context.count("My flight"), context.count("Noted."), code) == (1, 1, 0)
