"""/mcp: the same keys, roles, rates and shares as everywhere else, and no memory of who asked before."""

import json

import pytest
from refusals import problem
from served import serving

from om_api.domain.push_limits import PushLimits
from om_api.http.routes import mcp
from om_api.http.serving.limits import MAX_CALL, SMALL_BODY
from om_api.http.serving.shares import Share

METADATA = "/.well-known/oauth-protected-resource/mcp"
ACCEPT = {"Accept": "application/json, text/event-stream"}
HELLO = {"messages": [{"role": "user", "content": "My flight is on Friday.", "id": "m-1"}]}


def request(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.fixture
def post(using):
    """What a request with a key of harold's is answered."""

    def answered(role, method, *, at="", resources=("harold",), **params):
        return using(role, *resources)("POST", f"/mcp{at}", json=request(method, **params), headers=ACCEPT)

    return answered


@pytest.fixture
def call(post):
    """The text that a tool answers a key of harold's."""

    def told(role, tool, *, at="", resources=("harold",), **given):
        answer = post(role, "tools/call", at=at, resources=resources, name=tool, arguments=given)
        assert answer.status_code == 200, answer.text
        (content,) = answer.json()["result"]["content"]
        return content["text"]

    return told


def test_whoever_has_no_key_is_told_where_to_read_how_to_get_in(app, ring):
    key, token = ring.create(["harold"], "reader")
    ring.revoke(key.id)
    where = f'resource_metadata="http://testserver{METADATA}"'
    for headers, challenge in [
        ({}, f"Bearer {where}"),
        ({"Authorization": "Bearer om_none"}, f'Bearer error="invalid_token", {where}'),
        ({"Authorization": f"Bearer {token}"}, f'Bearer error="invalid_token", {where}'),
        ({"Host": 'evil", x="'}, f"Bearer {where}"),
    ]:
        answer = app.post("/mcp", json=request("tools/list"), headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, challenge), headers
        assert "om keys create makes one" in answer.json()["detail"]

    told = app.get(METADATA, headers={"Host": "memory.example.org"}).json()
    assert (told["resource"], told["bearer_methods_supported"]) == ("http://memory.example.org/mcp", ["header"])
    assert "authorization_servers" not in told


def test_a_key_sees_what_it_may_use_and_reads_and_writes_what_it_is_bound_to(post, call):
    for role, number in (("reader", 7), ("writer", 10), ("operator", 11)):
        assert len(post(role, "tools/list").json()["result"]["tools"]) == number, role
    assert "Kept in thread t-1: 1 of 1" in call("writer", "add_messages", thread_id="t-1", **HELLO)
    assert "My flight is on Friday." in call("reader", "recall", query="flight")
    assert "needs the role writer" in call("reader", "add_messages", thread_id="t-1", **HELLO)
    both, at = ("harold", "albert"), "?resource_id=harold&thread_id=t-1"  # whose memory, and which conversation
    assert "not to berta" in call("reader", "status", resources=both, resource_id="berta")
    assert "not to berta" in call("reader", "status", at="?resource_id=berta")
    assert "My flight" in call("reader", "get_context", at=at, resources=both)
    assert post("reader", "tools/list", at="?resource_id=%2E%2E").status_code == 422


def test_without_keys_this_machine_may_do_everything_and_no_page_may(settings, using):
    body = request("tools/list")
    with serving(settings, locked=False) as http:
        here = http.post("/mcp", json=body, headers=ACCEPT)
        page = http.post("/mcp", json=body, headers={**ACCEPT, "Origin": "http://127.0.0.1:8000"})
        rebound = http.post("/mcp", json=body, headers={**ACCEPT, "Host": "evil.example.org"})
    assert len(here.json()["result"]["tools"]) == 11
    assert (page.status_code, rebound.status_code) == (403, 403)

    named = {**ACCEPT, "Host": "memory.example.org", "Origin": "https://host.example.org"}  # behind a proxy
    assert using("reader", "harold")("POST", "/mcp", json=body, headers=named).status_code == 200


def test_rates_push_limits_and_limits_of_bodies_count_here_too(app, ring, using):
    _, slow = ring.create(["harold"], "reader", rate="2/h")
    headers = {**ACCEPT, "Authorization": f"Bearer {slow}"}
    answers = [app.post("/mcp", json=request("tools/list"), headers=headers) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0

    _, few = ring.create(["harold"], "writer", limits=PushLimits(1, 0))
    given = [{"role": "user", "content": f"message {n}", "id": f"m-{n}"} for n in range(100)]
    for part in (given[:50], given[50:]):
        body = request("tools/call", name="add_messages", arguments={"thread_id": "t", "messages": part})
        result = app.post("/mcp", json=body, headers={**ACCEPT, "Authorization": f"Bearer {few}"}).json()["result"]
    assert result["isError"]
    assert "repeat the call with the same ids in" in result["content"][0]["text"]
    large = using("writer", "harold")("POST", "/mcp", content=b"x" * (MAX_CALL + 1), headers=ACCEPT)
    assert large.status_code == 413
    icons = {"clientInfo": {"name": "x", "version": "1", "icons": [1] * SMALL_BODY}}
    for params in ({"_meta": icons}, icons):
        for method in ("tools/call", "initialize"):
            refused = using("writer", "harold")("POST", "/mcp", json=request(method, **params), headers=ACCEPT)
            assert "without a tool's arguments" in problem(refused, 413)["detail"]


def test_only_messages_of_add_messages_may_be_large_and_they_are_checked_in_a_thread(using, monkeypatch):
    worked, work = [], Share.work
    monkeypatch.setattr(Share, "work", lambda share, job: worked.append(job) or work(share, job))
    turn, lists = {"role": "user", "content": "x" * SMALL_BODY}, [[]] * SMALL_BODY
    encoded = json.dumps([turn])
    for name, given, status in (
        ("recall", {"query": "x" * SMALL_BODY}, 413),
        ("add_messages", {"messages": lists}, 413),
        ("add_messages", {"messages": json.dumps(lists)}, 413),
        ("add_messages", {"messages": [turn], "pad": lists}, 413),
        ("add_messages", {"messages": [turn]}, 200),
        ("add_messages", {"messages": encoded}, 200),
    ):
        worked.clear()
        body = request("tools/call", name=name, arguments={"thread_id": "t-1", **given})
        answer = using("writer", "harold")("POST", "/mcp", json=body, headers=ACCEPT)
        assert (answer.status_code, len(worked) > 0) == (status, True), name
        assert status != 200 or not answer.json()["result"].get("isError")


def test_what_is_sent_counts_as_what_its_key_has_in_flight_and_what_is_heavy_is_taken_up_aside(
    app, post, using, world, monkeypatch
):
    held, hold, worked, work = [], Share.hold, [], Share.work
    monkeypatch.setattr(Share, "hold", lambda share, size: held.append(size) or hold(share, size))
    monkeypatch.setattr(Share, "work", lambda share, job: worked.append(share) or work(share, job))
    post("reader", "tools/list", padding="x" * 100_000)
    post("reader", "nonsense")
    assert sum(held) > 100_000

    world.say("word " * 80_000)
    body = request("tools/call", name="get_context", arguments={"thread_id": "t-1"})
    for version in ("2025-06-18", "2025-11-25"):
        worked.clear()
        headers = {**ACCEPT, "Mcp-Protocol-Version": version}
        assert "word word" in using("reader", "harold")("POST", "/mcp", json=body, headers=headers).text
        assert worked, version
    assert app.app.state.app_state.shares.lanes == {}


def test_without_its_extra_it_is_said_which_brings_it(monkeypatch, settings):
    monkeypatch.setattr(mcp, "_LACKING", "mcp is not installed: pip install 'cortex-om[mcp]' brings it")
    with serving(settings) as http:
        answers = [http.post("/mcp", json={}), http.get(METADATA)]
        assert http.get("/readyz").status_code == 200

    assert [answer.status_code for answer in answers] == [501, 501]
    assert "pip install 'cortex-om[mcp]' brings it" in answers[0].json()["detail"]
