"""/mcp: the same keys, roles, rates and shares as everywhere else, and no memory of who asked before."""

import msgspec
import pytest
from key_ring import KeyRing
from starlette.testclient import TestClient

from om_api import load_settings
from om_api.domain.push_limits import PushLimits
from om_api.http import make_app
from om_api.http.routes import mcp
from om_api.http.serving.limits import MAX_CALL
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


# -- who may ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "challenge"),
    [
        ({}, f'Bearer resource_metadata="http://testserver{METADATA}"'),
        (
            {"Authorization": "Bearer om_none"},
            f'Bearer error="invalid_token", resource_metadata="http://testserver{METADATA}"',
        ),
        ({"Host": 'evil", x="'}, f'Bearer resource_metadata="http://testserver{METADATA}"'),
    ],
)
def test_whoever_has_no_key_is_told_where_to_read_how_to_get_in(app, headers, challenge):
    answer = app.post("/mcp", json=request("tools/list"), headers=headers)

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, challenge)
    assert "om keys create makes one" in answer.json()["detail"]


def test_the_metadata_say_what_the_address_is_and_that_a_header_is_sent(app):
    told = app.get(METADATA, headers={"Host": "memory.example.org"}).json()

    assert told["resource"] == "http://memory.example.org/mcp"
    assert told["bearer_methods_supported"] == ["header"]
    assert "authorization_servers" not in told


def test_a_key_that_has_expired_or_was_revoked_opens_nothing(app, ring, client, prefix):
    key, token = ring.create(["harold"], "reader")
    ring.revoke(key.id)
    past, old = ring.create(["harold"], "reader", expires_s=60)
    client.hset(f"{prefix}:keys", past.id, msgspec.json.encode(msgspec.structs.replace(past, expires_at=1)))
    answers = [
        app.post("/mcp", json=request("tools/list"), headers={"Authorization": f"Bearer {each}"})
        for each in (token, old)
    ]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert "expired" in answers[1].json()["detail"]


@pytest.mark.parametrize(("role", "number"), [("reader", 7), ("writer", 10), ("operator", 11)])
def test_a_key_sees_what_it_may_use(post, role, number):
    tools = post(role, "tools/list").json()["result"]["tools"]

    assert len(tools) == number
    assert not [tool for tool in tools if "resource_id" in tool["inputSchema"]["properties"]]


def test_a_key_reads_and_writes_what_it_is_bound_to(call):
    assert "Kept in thread t-1: 1 of 1" in call("writer", "add_messages", thread_id="t-1", **HELLO)
    assert "My flight is on Friday." in call("reader", "recall", query="flight")
    assert "needs the role writer" in call("reader", "add_messages", thread_id="t-1", **HELLO)
    assert "not to berta" in call("reader", "status", resources=("harold", "albert"), resource_id="berta")


def test_an_address_may_say_whose_memory_and_which_conversation(call, post):
    at = "?resource_id=harold&thread_id=t-1"
    both = ("harold", "albert")

    assert "Kept in thread t-1" in call("writer", "add_messages", at=at, resources=both, **HELLO)
    assert "My flight" in call("reader", "get_context", at=at, resources=both)
    assert post("reader", "tools/list", at="?resource_id=a%20b").status_code == 422
    assert "not to berta" in call("reader", "status", at="?resource_id=berta")


def test_without_keys_this_machine_may_do_everything_and_no_page_may(settings):
    with TestClient(make_app(settings, locked=False), base_url="http://127.0.0.1:8000") as http:
        body = request("tools/list")
        here = http.post("/mcp", json=body, headers=ACCEPT)
        page = http.post("/mcp", json=body, headers={**ACCEPT, "Origin": "http://127.0.0.1:8000"})
        rebound = http.post("/mcp", json=body, headers={**ACCEPT, "Host": "evil.example.org"})

    assert len(here.json()["result"]["tools"]) == 11
    assert (page.status_code, rebound.status_code) == (403, 403)


def test_behind_a_proxy_any_host_is_ours_and_any_origin_with_a_key(using):
    holding = using("reader", "harold")
    named = {**ACCEPT, "Host": "memory.example.org", "Origin": "https://host.example.org"}

    assert holding("POST", "/mcp", json=request("tools/list"), headers=named).status_code == 200


# -- how much ---------------------------------------------------------------------------------------------------------


def test_a_rate_of_a_key_counts_here_too(app, ring):
    _, token = ring.create(["harold"], "reader", rate="2/h")
    headers = {**ACCEPT, "Authorization": f"Bearer {token}"}
    answers = [app.post("/mcp", json=request("tools/list"), headers=headers) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0


def test_what_a_key_may_push_counts_here_too(app, ring):
    _, token = ring.create(["harold"], "writer", limits=PushLimits(1, 0))
    headers = {**ACCEPT, "Authorization": f"Bearer {token}"}
    given = [{"role": "user", "content": f"message {n}", "id": f"m-{n}"} for n in range(100)]
    bodies = [
        request("tools/call", name="add_messages", arguments={"thread_id": "t", "messages": given[:50]}),
        request("tools/call", name="add_messages", arguments={"thread_id": "t", "messages": given[50:]}),
    ]
    results = [app.post("/mcp", json=body, headers=headers).json()["result"] for body in bodies]

    assert results[1]["isError"]
    assert "repeat the call with the same ids in" in results[1]["content"][0]["text"]


def test_a_body_has_its_limit(using):
    answer = using("writer", "harold")("POST", "/mcp", content=b"x" * (MAX_CALL + 1), headers=ACCEPT)

    assert answer.status_code == 413


def test_what_is_sent_counts_as_what_its_key_has_in_flight(post, monkeypatch):
    held, hold = [], Share.hold
    monkeypatch.setattr(Share, "hold", lambda share, size: held.append(size) or hold(share, size))
    post("reader", "tools/list", padding="x" * 100_000)

    assert sum(held) > 100_000


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_what_is_heavy_is_taken_up_off_the_event_loop_as_anywhere(using, world, monkeypatch, version):
    worked, work = [], Share.work
    monkeypatch.setattr(Share, "work", lambda share, job: worked.append(share) or work(share, job))
    world.say("word " * 80_000)
    body = request("tools/call", name="get_context", arguments={"thread_id": "t-1"})
    headers = {**ACCEPT, "Mcp-Protocol-Version": version}

    assert "word word" in using("reader", "harold")("POST", "/mcp", json=body, headers=headers).text
    assert worked


def test_a_share_is_given_back(app, post):
    post("reader", "tools/list")
    post("reader", "nonsense")

    assert app.app.state.app_state.shares.lanes == {}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_sessions_to_open_or_end(using, method):
    answer = using("reader", "harold")(method, "/mcp", headers=ACCEPT)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_page_that_is_let_in_may_send_what_hosts_send(settings):
    own = load_settings(
        None,
        {
            "OM_PREFIX": settings.prefix,
            "OM_REDIS_URL": settings.redis_url,
            "OM_API__CORS_ORIGINS": '["https://app.example.org"]',
        },
    )
    asks = {
        "Origin": "https://app.example.org",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type, mcp-method, mcp-name, mcp-protocol-version",
    }
    with TestClient(make_app(own)) as http:
        assert http.options("/mcp", headers=asks).status_code == 200


# -- what may be missing ----------------------------------------------------------------------------------------------


def test_without_its_extra_it_is_said_which_brings_it(monkeypatch, settings):
    monkeypatch.setattr(mcp, "_LACKING", "mcp is not installed: pip install 'cortex-om[mcp]' brings it")
    with TestClient(make_app(settings)) as http:
        answers = [http.post("/mcp", json={}), http.get(METADATA)]

        assert http.get("/readyz").status_code == 200

    assert [answer.status_code for answer in answers] == [501, 501]
    assert "pip install 'cortex-om[mcp]' brings it" in answers[0].json()["detail"]


def test_it_is_in_no_document(app):
    assert "/mcp" not in app.get("/v1/openapi.json").json()["paths"]


def test_a_store_that_is_away_is_told(ring, settings):
    with TestClient(make_app(settings, locked=False, timeout=0.5), base_url="http://127.0.0.1") as http:
        own = load_settings(None, {"OM_REDIS_URL": "redis://127.0.0.1:1/0"})
        body = request("tools/call", name="status", arguments={"resource_id": "harold"})
        assert http.post("/mcp", json=body, headers=ACCEPT).status_code == 200
    with TestClient(make_app(own, locked=False, timeout=0.5), base_url="http://127.0.0.1") as http:
        told = http.post("/mcp", json=body, headers=ACCEPT).json()["result"]
    with TestClient(make_app(own, timeout=0.5)) as http:
        locked = http.post(
            "/mcp", json=body, headers={"Authorization": f"Bearer {KeyRing(settings).create(['h'], 'reader')[1]}"}
        )

    assert told["isError"]
    assert "the store did not answer" in told["content"][0]["text"]
    assert (locked.status_code, locked.json()["stored"]) == (503, False)
