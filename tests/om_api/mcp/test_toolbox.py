"""All tools: who sees which, who may ask for whom, and what a call is answered that cannot be carried out."""

import json

import pytest
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain import tokens
from om_api.domain.api_keys import Role
from om_api.domain.errors import NotPermittedError, RateLimitedError, SettingsError, StoreError
from om_api.mcp import toolbox
from om_api.mcp.toolbox import TOOLS, in_words

READ = {"get_context", "recall", "browse", "list_threads", "observations", "sources", "status"}
WRITE = {"add_messages", "share_note", "update_working_memory"}
SEEN = {"reader": READ, "writer": READ | WRITE, "operator": READ | WRITE | {"forget"}}
AWAY = "redis://u:secret@127.0.0.1:1/0"
CALLS = {
    "share_note": {"resource_id": "harold", "share_with": "albert", "text": "We ship in May."},
    "get_context": {"thread_id": "t-1"},
    "add_messages": {"thread_id": "t-1", "messages": [{"role": "user", "content": "hello"}]},
    "recall": {"query": "hello"},
    "browse": {"message_id": "m-1"},
    "list_threads": {},
    "observations": {},
    "sources": {"observation_id": "o-1"},
    "forget": {"observation_id": "o-1"},
    "update_working_memory": {"fields": {"City": "Graz"}},
    "status": {},
}


@pytest.mark.parametrize("role", SEEN)
def test_a_key_sees_what_it_may_use_and_is_refused_the_rest(having, role):
    host = having(role, "harold")
    refused = {name for name, given in CALLS.items() if "needs the role" in host(name, **given).text}

    assert set(host.tools()) == SEEN[role]
    assert refused == set(TOOLS) - SEEN[role]


def test_a_refusal_says_what_is_permitted(having):
    answer = having("reader", "harold")("forget", observation_id="o-1")

    assert answer.failed
    assert answer.text.startswith(
        "forget needs the role operator, and this key is a reader's; permitted are get_context,"
    )
    assert "there is no such tool; permitted are get_context" in having("reader", "harold")("remember").text


@pytest.mark.parametrize("name", CALLS)
def test_no_tool_answers_of_a_resource_that_the_key_is_not_bound_to(world, having, name):
    world.say("berta's secret", resource="berta", id="m-1")
    several = having("operator", "harold", "albert")(name, **{**CALLS[name], "resource_id": "berta"})
    one = having("operator", "harold")(name, **{**CALLS[name], "resource_id": "berta"})

    assert (several.failed, one.failed) == (True, True)
    assert several.text == "the key in use is bound to harold, albert, not to berta: resource_id can be no other"
    assert "resource_id is harold here and can be no other" in one.text


def test_hints_say_what_a_tool_does(host):
    listed = host.tools()
    reading = {name for name, tool in listed.items() if tool.annotations.read_only_hint}
    destroying = {name for name, tool in listed.items() if tool.annotations.destructive_hint}

    assert reading == {name for name, tool in TOOLS.items() if tool.role is Role.READER}
    assert destroying == {"forget"}
    assert not any(tool.output_schema for tool in listed.values())


def test_all_tools_together_are_a_small_part_of_a_prompt(anybody):
    told = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in anybody.tools().values()]

    assert tokens.counter("o200k_base")(json.dumps(told)) < 3_400


@pytest.mark.parametrize("name", [name for name in CALLS if name != "share_note"])  # this host is bound to harold alone
def test_a_store_that_is_away_is_told_by_every_tool(settings, host, name):
    host.settings = load_settings(None, {"OM_REDIS_URL": AWAY, "OM_WORKING_MEMORY__TEMPLATE": "- City:"})
    answer = host(name, **CALLS[name])

    assert answer.failed
    assert "the store did not answer" in answer.text
    assert "Nothing was kept or changed by this call." in answer.text
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("It is slow.", stored=None), "repeat the same call, and nothing is kept twice"),
        (StoreError("It is slow.", stored=True), "do not repeat the call"),
        (NotPermittedError("no"), "Nothing was kept or changed"),
        (RateLimitedError("too fast: repeat in 2 s", retry_after=2), "too fast: repeat in 2 s"),
        (StoreError("redis://me:secret@host/0 is away"), "redis://me:***@host/0 is away"),
        (SettingsError("/etc/secret"), "the server's fault"),
    ],
)
def test_errors_in_words(error, told):
    assert told in in_words(error)
    assert "secret" not in in_words(error)


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


def test_half_a_character_is_answered_all_the_same(host):
    assert host("recall", query="half \ud83d").text.startswith("query: Input should be a valid string")
    assert " is no argument here: permitted are " in host("status", **{"half \ud83d": 1}).text


def test_many_calls_at_once(host, world):
    world.say("My flight is on Friday.")
    answers = host.at_once(*CALLS.items(), ("recall", {"query": "flight"}))

    assert len(answers) == len(CALLS) + 1
    assert "My flight is on Friday." in answers[-1].text
