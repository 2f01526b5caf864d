"""All tools: who sees which, who may ask for whom, and what a call is answered that cannot be carried out."""

from structlog.testing import capture_logs

from om_api import load_settings
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
    "recall": {"query": "hello"}, "browse": {"message_id": "m-1"}, "list_threads": {}, "observations": {},
    "sources": {"observation_id": "o-1"}, "forget": {"observation_id": "o-1"},
    "update_working_memory": {"fields": {"City": "Graz"}}, "status": {},
}  # fmt: skip


def test_a_key_sees_what_it_may_use_and_is_refused_the_rest(having):
    for role, seen in SEEN.items():
        host = having(role, "harold")
        calls = list(CALLS.items())
        refused = {
            name for name, told in zip(CALLS, host.at_once(*calls), strict=True) if "needs the role" in told.text
        }
        assert set(host.tools()) == seen, role
        assert refused == set(TOOLS) - seen, role
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
    calls = [
        (name, given) for name, given in CALLS.items() if name != "share_note"
    ]  # the host is bound to harold alone
    for (name, _), answer in zip(calls, host.at_once(*calls), strict=True):
        assert answer.failed, name
        assert "the store did not answer" in answer.text, name
        assert "Nothing was kept or changed by this call." in answer.text, name
        assert "secret" not in answer.text, name


def test_errors_in_words():
    for error, told in [
        (StoreError("It is slow.", stored=None), "repeat the same call, and nothing is kept twice"),
        (StoreError("It is slow.", stored=True), "do not repeat the call"),
        (NotPermittedError("no"), "Nothing was kept or changed"),
        (RateLimitedError("too fast: repeat in 2 s", retry_after=2), "too fast: repeat in 2 s"),
        (StoreError("redis://me:secret@host/0 is away"), "redis://me:***@host/0 is away"),
        (SettingsError("/etc/secret"), "the server's fault"),
    ]:
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
