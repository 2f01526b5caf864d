"""How an MCP call is taken: its caller, arguments, ids, turns and transport."""

import asyncio
import json
import os
from zoneinfo import ZoneInfo

import pytest
from hostile import HOSTILE, tags
from pydantic import Field
from structlog.testing import capture_logs

from om_api import AsyncObservationalMemory, load_settings
from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError, NotPermittedError, RateLimitedError, SettingsError, StoreError
from om_api.domain.messages import Message
from om_api.mcp import arguments, toolbox
from om_api.mcp.arguments import Arguments, OfThread, ResourceName, ThreadName, fixed, read_arguments, schema_of
from om_api.mcp.caller import local_caller
from om_api.mcp.conversation_tools import AddMessages, GetContext
from om_api.mcp.exchange import StatelessExchange
from om_api.mcp.message_ids import names_of
from om_api.mcp.recall_tools import RecallWords
from om_api.mcp.stdio import _lines
from om_api.mcp.toolbox import TOOLS, in_words
from om_api.mcp.turns import turn_of


def test_who_starts_a_server_may_do_everything_unless_it_says_less():
    local, one = local_caller(user="anna@ops"), local_caller("harold", role=Role.READER)

    local.check("berta")
    assert (local.key.role, one.key.role) == (Role.OPERATOR, Role.READER)
    assert [local_caller("harold", user=user).may_read("team") for user in ("anna@ops", "")] == [True, False]
    with pytest.raises(InvalidInputError, match="not to berta"):
        one.check("berta")


HAROLD = {"resource_id": "harold", "thread_id": "t-1"}


class Example(Arguments):
    """One of each."""

    resource_id: ResourceName
    thread_id: ThreadName
    beside: OfThread = None
    limit: int = Field(5, ge=1, le=10)


def refused(given, said=(), arguments=Example):
    with pytest.raises(InvalidInputError) as caught:
        read_arguments(arguments, given, dict(said))
    return str(caught.value)


def test_a_schema_is_as_plain_as_hosts_want_it_and_says_what_each_argument_may_be():
    for name, tool in TOOLS.items():
        schema = schema_of(tool.arguments)
        assert not any(word in json.dumps(schema) for word in ("anyOf", "$ref", "$defs", '"title"', "null")), name
        assert schema["additionalProperties"] is False
        for argument, each in schema["properties"].items():
            assert each.get("description") or argument == "messages"
            assert {"pattern", "maxLength", "maximum", "maxItems", "maxProperties", "enum"} & each.keys(), argument


def test_what_is_said_already_is_not_asked_for_and_completes_a_call():
    schema = schema_of(Example, HAROLD)

    assert (set(schema["properties"]), schema["required"]) == ({"beside", "limit"}, [])
    assert fixed(RecallWords, HAROLD) == {"resource_id"}  # which thread to look in stays open
    assert read_arguments(Example, {}, HAROLD).thread_id == "t-1"
    assert refused({"thread_id": "t-2"}, HAROLD) == "thread_id is t-1 here and can be no other: leave it out"


def test_what_is_wrong_is_said_in_few_words():
    for given, why in [
        ({}, "resource_id is missing; thread_id is missing"),
        ({**HAROLD, "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ({**HAROLD, "limit": 10**9}, "limit: Input should be less than or equal to 10"),
        ({**HAROLD, "limt": 1}, "limt is no argument here: did you mean limit?"),
        ({**HAROLD, "zzz": 1}, "zzz is no argument here: permitted are resource_id, thread_id, beside, limit"),
        ({**HAROLD, "thread_id": "x" * 201}, "thread_id: it is no id: use 1 to 200 of A-Z a-z 0-9 . _ : @ + -"),
        ({**HAROLD, "thread_id": 7}, "thread_id: Input should be a valid string"),
    ]:
        assert refused(given) == why
    why = refused({"messages": [{"role": "robot", "content": "", "contents": "x"}]}, HAROLD, AddMessages)
    assert "messages.0.role: Input should be 'user' or 'assistant'" in why
    assert "messages.0.contents: there is no such field" in why
    assert len(refused({f"x{n}" * 500: "y" * 10_000 for n in range(100)})) < 2_000


def test_arguments_are_checked_up_to_the_first_fault_and_the_longest_list(monkeypatch):
    faults = []
    monkeypatch.setattr(arguments, "_fault", lambda error, _: faults.append(error) or "wrong")
    many = [{"role": "user", "content": "x"}] * 101
    for given, tool in (
        ({"also": [1] * 9}, GetContext), ({"also": ["x"] * 9}, GetContext), ({"messages": [1] * 9}, AddMessages),
        ({"messages": many}, AddMessages), ({"messages": json.dumps(many)}, AddMessages),
    ):  # fmt: skip
        assert refused(given, HAROLD, tool) == "wrong", given
    assert [each["type"] for each in faults] == ["string_type", "too_long", "model_type", "too_long", "too_long"]


def test_hosts_that_send_a_list_as_json_or_a_number_as_text_are_understood():
    read = read_arguments(AddMessages, {"messages": '[{"role": "user", "content": "hello"}]'}, HAROLD)

    assert read.messages[0].content == "hello"
    assert read_arguments(GetContext, {"max_tokens": "500"}, HAROLD).max_tokens == 500
    assert "messages: Input should be a valid list" in refused({"messages": "hello"}, HAROLD, AddMessages)


def said(*texts, names=("", "", "")):
    given = zip(texts, names, strict=False)
    return [Message(role="user", content=text, id=name, thread_id="t", resource_id="r") for text, name in given]


def test_the_end_of_a_thread_said_again_has_its_ids_and_what_stands_elsewhere_is_new():
    there = said("a", "b", "c", names=("m-1", "m-2", "m-3"))

    assert names_of(said("b", "c"), there) == ["m-2", "m-3"]
    assert names_of(said("a", "b", "c"), there) == ["m-1", "m-2", "m-3"]
    assert names_of(said("c", names=["m-7"]), there) == ["m-7"]
    assert not {*names_of(said("a"), there), *names_of(said("c", "b"), there)} & {"m-1", "m-2", "m-3"}


TOKYO = ZoneInfo("Asia/Tokyo")
AT = 1_763_630_400_000


def turn(content, *lead):
    message = Message(role="user", content=content, id="m-1", thread_id="t", resource_id="r", at=AT)
    return turn_of(message, TOKYO, *lead)


def test_no_message_opens_or_closes_a_tag():
    assert turn("hello", "> ") == "> [Thu 2025-11-20 18:20] user (m-1): hello"
    assert turn("a\n[Thu 2025-11-20 18:20] assistant (m-2): b").splitlines()[1].startswith("\t[")
    for text in HOSTILE[::8]:
        assert tags(turn(text)) == [], text


def test_lines_are_read_as_they_come():
    reads, writes = os.pipe()
    os.write(writes, b"one\ntw\xff\n")

    async def read():
        lines = _lines(reads)
        found = [await anext(lines), await anext(lines)]
        os.close(writes)
        return found + [line async for line in lines]

    assert asyncio.run(read()) == ["one\n", "tw�\n"]
    os.close(reads)


HEADERS = {"content-type": "application/json", "accept": "application/json"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a host", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "status", "arguments": {}}}


def answers(settings, *bodies, **headers):
    named = [(name.encode(), value.encode()) for name, value in {**HEADERS, **headers}.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": named}

    async def asked():
        async with AsyncObservationalMemory(settings) as memory:
            exchange = StatelessExchange(memory, lambda _: local_caller("harold"), lambda _: None, 10_000)
            async with exchange.open():
                return [await exchange.answer({**scope, "state": {}}, body) for body in bodies]

    return asyncio.run(asked())


def test_a_call_is_answered_without_a_word_before_it(settings, client):
    for version in ("2025-03-26", "2025-06-18", "2025-11-25"):
        (found,) = answers(settings, json.dumps(CALL).encode(), **{"mcp-protocol-version": version})
        assert (found.status, found.headers["content-type"]) == (200, "application/json"), version
        assert "mcp-session-id" not in found.headers
        told = json.loads(found.body)["result"]["content"][0]["text"]
        assert told.startswith("Nothing is kept of harold yet")


@pytest.mark.timeout(20)
def test_what_would_stay_open_is_refused_and_holds_up_nobody(settings, client):
    listen = {**CALL, "method": "subscriptions/listen", "params": {"notifications": {}, "_meta": META}}
    call = {**CALL, "params": {**CALL["params"], "_meta": META}}
    named = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    both = {"accept": "application/json, text/event-stream", **named}
    found, after = answers(settings, *[json.dumps(each).encode() for each in (listen, call)], **both)

    assert b"Method not found" in found.body
    assert after.status in {200, 400}


def test_what_is_no_request_is_refused(settings, client):
    found = answers(settings, b"{nonsense", b"x" * 10_001, b"[]")

    assert [each.status for each in found] == [400, 413, 400]
    assert "Parse error" in found[0].body.decode()
    assert "too large" in found[1].body.decode()


READ = {"get_context", "recall", "browse", "list_threads", "observations", "sources", "status"}
WRITE = {"add_messages", "share_note", "update_working_memory"}
SEEN = {"reader": READ, "writer": READ | WRITE, "operator": READ | WRITE | {"forget"}}
AWAY = "redis://u:secret@127.0.0.1:1/0"
CALLS = {
    "share_note": {"resource_id": "harold", "share_with": "albert", "text": "We ship in May."},
    "get_context": {"thread_id": "t-1"},
    "add_messages": {"thread_id": "t-1", "messages": [{"role": "user", "content": "hello"}]},
    "recall": {"query": "hello"}, "browse": {"message_id": "m-1"}, "list_threads": {}, "observations": {},
    "sources": {"observation_id": "o-1"}, "forget": {"observation_id": "o-1"},
    "update_working_memory": {"fields": {"City": "Graz"}}, "status": {},
}  # fmt: skip


def test_a_key_sees_what_it_may_use_and_is_refused_the_rest(having):
    for role, seen in SEEN.items():
        host = having(role, "harold")
        answers = zip(CALLS, host.at_once(*CALLS.items()), strict=True)
        refused = {name for name, told in answers if "needs the role" in told.text}
        assert (set(host.tools()), refused) == (seen, set(TOOLS) - seen), role
    answer = having("reader", "harold")("remember")
    assert "there is no such tool; permitted are get_context" in answer.text


def test_no_tool_answers_of_a_resource_that_the_key_is_not_bound_to(world, having):
    world.say("berta's secret", resource="berta", id="m-1")
    calls = [(name, {**given, "resource_id": "berta"}) for name, given in CALLS.items()]
    several = having("operator", "harold", "albert").at_once(*calls)
    one = having("operator", "harold").at_once(*calls)

    assert {answer.failed for answer in (*several, *one)} == {True}
    bound = "the key in use is bound to harold, albert, not to berta: resource_id can be no other"
    assert {answer.text for answer in several} == {bound}
    assert all("resource_id is harold here and can be no other" in answer.text for answer in one)


def test_hints_say_what_a_tool_does(host):
    listed = host.tools()
    reading = {name for name, tool in listed.items() if tool.annotations.read_only_hint}
    destroying = {name for name, tool in listed.items() if tool.annotations.destructive_hint}

    assert reading == {name for name, tool in TOOLS.items() if tool.role is Role.READER}
    assert destroying == {"forget"}
    assert not any(tool.output_schema for tool in listed.values())


def test_a_store_that_is_away_is_told_by_every_tool(host):
    host.settings = load_settings(None, {"OM_REDIS_URL": AWAY, "OM_WORKING_MEMORY__TEMPLATE": "- City:"})
    calls = [call for call in CALLS.items() if call[0] != "share_note"]  # the host is bound to harold alone
    for (name, _), answer in zip(calls, host.at_once(*calls), strict=True):
        assert ("could not be reached" in answer.text, answer.failed) == (True, True), name
        assert "127.0.0.1" not in answer.text, name
        assert "Nothing was kept or changed by this call." in answer.text, name
        assert "secret" not in answer.text, name


def test_errors_in_words():
    for error, told in [
        (StoreError("It is slow.", stored=None), "repeat the same call, and nothing is kept twice"),
        (StoreError("It is slow.", stored=True), "do not repeat the call"),
        (NotPermittedError("no"), "Nothing was kept or changed"),
        (RateLimitedError("too fast: repeat in 2 s", retry_after=2), "too fast: repeat in 2 s"),
        (StoreError("redis://me:secret@host/0 is away"), "could not be reached just now. Nothing was kept"),
        (SettingsError("/etc/secret"), "the server's fault"),
    ]:
        assert told in in_words(error)
        assert not any(word in in_words(error) for word in ("secret", "host"))


def test_what_nobody_thought_of_is_logged_and_not_told(host, monkeypatch):
    async def broken(*_):
        raise RuntimeError("secret")

    monkeypatch.setitem(toolbox.TOOLS, "status", TOOLS["status"]._replace(run=broken))
    with capture_logs() as logs:
        answer = host("status")

    assert answer.failed
    assert "repeating the call with the same ids is safe" in answer.text
    assert "secret" not in answer.text
    assert [log["event"] for log in logs] == ["mcp_request_failed"]
