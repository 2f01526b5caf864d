"""Requests that are answered one by one: nothing is kept between two, so any process serves any client."""

import asyncio
import json

import pytest

from om_api import AsyncObservationalMemory
from om_api.mcp.caller import local_caller
from om_api.mcp.exchange import StatelessExchange

HEADERS = {"content-type": "application/json", "accept": "application/json"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a host", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "status", "arguments": {}}}


def answers(settings, *bodies, told=lambda _: None, caller=lambda _: local_caller("harold"), **headers):
    named = {**HEADERS, **headers}

    async def asked():
        async with AsyncObservationalMemory(settings) as memory:
            exchange = StatelessExchange(memory, caller, told, 10_000)
            async with exchange.open():
                return [await exchange.answer(scope(named), body) for body in bodies]

    return asyncio.run(asked())


def scope(headers):
    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": named, "state": {}}


def test_a_call_is_answered_without_a_word_before_it(settings, client):
    for version in ("2025-03-26", "2025-06-18", "2025-11-25"):
        (found,) = answers(settings, json.dumps(CALL).encode(), **{"mcp-protocol-version": version})
        assert (found.status, found.headers["content-type"]) == (200, "application/json"), version
        assert "mcp-session-id" not in found.headers
        told = json.loads(found.body)["result"]["content"][0]["text"]
        assert told.startswith("Nothing is kept of harold yet")


@pytest.mark.timeout(20)
def test_what_would_stay_open_is_refused_and_holds_up_nobody(settings, client):
    listen = {
        "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {"notifications": {}, "_meta": META},
    }  # fmt: skip
    (found, after) = answers(
        settings,
        json.dumps(listen).encode(),
        json.dumps({**CALL, "params": {**CALL["params"], "_meta": META}}).encode(),
        **{
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "subscriptions/listen",
        },
    )

    assert b"Method not found" in found.body
    assert after.status in {200, 400}


def test_what_is_no_request_is_refused(settings, client):
    found = answers(settings, b"{nonsense", b"x" * 10_001, b"[]")

    assert [each.status for each in found] == [400, 413, 400]
    assert "Parse error" in found[0].body.decode()
    assert "too large" in found[1].body.decode()
