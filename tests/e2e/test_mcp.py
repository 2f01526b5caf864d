"""A host of models and real processes: `om mcp` over stdin and stdout, `om api` over HTTP, and a store that dies."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import redis
from key_ring import KeyRing
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from ports import reserve_port
from processes import started
from servers import Server
from world import wait_until

from om_api import load_settings

OM = str(Path(sys.executable).with_name("om"))
SAID = [{"role": "user", "content": "My flight to Oslo is on Friday."}, {"role": "assistant", "content": "Noted."}]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a host", "version": "1"}},
}
NOBODY = "redis://u:a-password@127.0.0.1:1/0"


@pytest.fixture
def environ(server_client, server_url, prefix):
    """What a process of ours is told."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    return {**clean, "OM_REDIS_URL": server_url, "OM_PREFIX": prefix, "OM_TOKENIZER": "estimate"}


@pytest.fixture
def over_stdio(environ, tmp_path):
    """A host that starts `om mcp`."""

    @contextlib.asynccontextmanager
    async def connected(*options, **how):
        told = StdioServerParameters(command=OM, args=["mcp", *options], env=environ, cwd=tmp_path)
        async with Client(stdio_client(told), **how) as client:
            yield client

    return connected


@pytest.fixture(scope="module")
def house(server_url, tmp_path_factory):
    """Two processes of `om api`, and where keys of theirs are made."""
    prefix, folder = f"test-{secrets.token_hex(4)}:om", tmp_path_factory.mktemp("api")
    told = {"OM_REDIS_URL": server_url, "OM_PREFIX": prefix, "OM_TOKENIZER": "estimate"}
    environ = {**{name: text for name, text in os.environ.items() if not name.startswith("OM_")}, **told}
    ports = [reserve_port(), reserve_port()]
    with contextlib.ExitStack() as stack, redis.Redis.from_url(server_url) as client:
        for port in ports:
            log = stack.enter_context((folder / f"{port}.log").open("wb"))
            command = [OM, "api", "--port", str(port)]
            stack.enter_context(started(command, env=environ, cwd=folder, stdout=log, stderr=log))
        for port in ports:
            wait_until(lambda port=port: _listens(port), "the API", 60)
        yield [f"http://127.0.0.1:{port}/mcp" for port in ports], KeyRing(load_settings(environ=told), client=client)
        if left := list(client.scan_iter(f"{prefix}*", count=1000)):
            client.unlink(*left)


@pytest.fixture
def over_http(house):
    """A host that reaches a process of `om api`, the first or the second one, with a key."""
    addresses, ring = house

    @contextlib.asynccontextmanager
    async def connected(which, role, *resources, token="", **how):
        token = token or str(ring.create(resources, role)[1])
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
            Client(streamable_http_client(addresses[which], http_client=http), **how) as client,
        ):
            yield client

    return connected


def _listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


async def _told(client, tool, **given):
    result = await client.call_tool(tool, given)
    return result.is_error, result.content[0].text


def process(environ, *options, **how):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([OM, "mcp", *options], env=environ, text=True, **streams, **how)


def request(number, tool, **given):
    params = {"name": tool, "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def ask(running, message):
    running.stdin.write(f"{json.dumps(message)}\n")
    running.stdin.flush()
    return json.loads(running.stdout.readline())


# -- stdin and stdout -------------------------------------------------------------------------------------------------


def test_a_host_starts_it_and_its_model_remembers(over_stdio):
    async def talk():
        async with over_stdio("--resource", "harold", "--thread", "t-1", mode="legacy") as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            await _told(client, "add_messages", messages=SAID)
            resources = (await client.list_resources()).resources
            prompt = await client.get_prompt("use_memory")
            return tools, await _told(client, "get_context"), resources, prompt.messages[0].content.text

    async def later():
        async with over_stdio("--resource", "harold", "--role", "reader") as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return tools, await _told(client, "recall", query="flight oslo")

    tools, (failed, context), (resource,), prompt = asyncio.run(talk())
    fewer, (_, found) = asyncio.run(later())

    assert (len(tools), len(fewer), failed) == (11, 7, False)
    assert "user: My flight to Oslo is on Friday." in context
    assert resource.uri == "om://harold/threads/t-1/context"
    assert "Use thread_id 't-1'" in prompt
    assert "My flight to Oslo is on Friday." in found


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


def test_an_address_that_cannot_be_ends_it_at_once_with_a_line_on_stderr(environ):
    with process({**environ, "OM_REDIS_URL": "http://me:a-password@nonsense"}) as running:
        out, err = running.communicate(timeout=30)

    assert (running.returncode, out, len(err.strip().splitlines())) == (2, "", 1)
    assert "OM_REDIS_URL" in err
    assert "a-password" not in err


def test_a_store_that_is_away_is_said_and_it_goes_on(environ):
    with process({**environ, "OM_REDIS_URL": NOBODY}, "--resource", "harold") as running:
        ask(running, INITIALIZE)
        answer = ask(running, request(2, "add_messages", thread_id="t-1", messages=SAID))
        said = running.stderr.readline()
        running.stdin.close()
        code, more = running.wait(20), running.stderr.read()

    assert answer["result"]["isError"]
    assert "the store did not answer" in answer["result"]["content"][0]["text"]
    assert (code, json.loads(said)["event"], more) == (0, "store_unavailable", "")
    assert "a-password" not in said + json.dumps(answer)


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


def test_lines_that_are_no_request_do_not_end_it(environ):
    with process(environ, "--resource", "harold") as running:
        for line in ("{nonsense", "", '"hello"', "\ud83d".encode("utf-8", "replace").decode()):
            running.stdin.write(f"{line}\n")
        answer = ask(running, INITIALIZE)
        running.stdin.close()

        assert running.wait(20) == 0
    assert answer["id"] == 1


# -- HTTP -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_hosts_with_keys_share_a_memory_through_two_processes(over_http, mode):
    async def talk():
        async with over_http(0, "writer", f"harold-{mode}", mode=mode) as writer:
            added = await _told(writer, "add_messages", thread_id="t-1", messages=SAID)
        async with over_http(1, "reader", f"harold-{mode}", mode=mode) as reader:
            tools = {tool.name for tool in (await reader.list_tools()).tools}
            found = await _told(reader, "recall", query="flight")
            refused = await _told(reader, "forget", observation_id="o-1")
            several = await asyncio.gather(*(_told(reader, "get_context", thread_id="t-1") for _ in range(10)))
            return added, tools, found, refused, several

    added, tools, found, refused, several = asyncio.run(talk())

    assert added == (False, "Kept in thread t-1: 2 of 2 messages.")
    assert not tools & {"add_messages", "forget"}
    assert "My flight to Oslo is on Friday." in found[1]
    assert refused[0]
    assert {text.count("My flight") for _, text in several} == {1}


def test_one_client_is_served_by_any_process(house):
    """A balancer that sends each request to another process: none of them has seen this client before."""
    addresses, ring = house
    _, token = ring.create(["berta"], "writer")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    turns = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "add_messages", thread_id="t-1", messages=SAID),
        request(3, "get_context", thread_id="t-1"),
    ]
    with httpx2.Client(headers=headers, timeout=30) as http:
        answers = [http.post(addresses[n % 2], json=message) for n, message in enumerate(turns)]

    assert [answer.status_code for answer in answers] == [200, 202, 200, 200]
    assert "mcp-session-id" not in answers[0].headers
    assert "My flight" in answers[3].json()["result"]["content"][0]["text"]


def test_a_wrong_key_opens_nothing(house, over_http):
    wrong = "om_0123456789ab_" + "x" * 43
    (address, _), _ = house

    async def talk():
        async with over_http(0, "", token=wrong) as client:
            return await client.list_tools()

    with pytest.raises(BaseException):  # noqa: B017  whatever the SDK makes of a 401
        asyncio.run(talk())
    refused = httpx2.post(address, json=INITIALIZE, headers={"Authorization": f"Bearer {wrong}"})

    assert refused.status_code == 401
    metadata = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
    assert httpx2.get(metadata).json()["resource"] == address


def test_a_long_thread_is_read_page_by_page(over_http):
    told = [{"role": "user", "content": f"parcel {n} lies in Oslo, in a box of its own"} for n in range(200)]

    async def talk():
        pages, cursor = [], ""
        async with over_http(0, "writer", "albert") as client:
            for start in (0, 100):
                await _told(client, "add_messages", thread_id="t-1", messages=told[start : start + 100])
            while True:
                _, text = await _told(client, "get_context", thread_id="t-1", max_tokens=1_000, cursor=cursor)
                page, _, rest = text.partition("There is more: call this again with cursor '")
                pages.append(page)
                if not rest:
                    return pages
                cursor = rest.rstrip("'.")

    pages = asyncio.run(talk())

    assert len(pages) > 2
    assert ["".join(pages).count(f"parcel {n} lies") for n in range(200)] == [1] * 200
