"""A span for each request, under its caller's: by its route, never by what was asked."""

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from traced import traced

from om_api.http.serving.traced import Traced

_CALLER = f"00-{7:032x}-{9:016x}-01"


@pytest.fixture
def told():
    with traced() as found:
        yield found


def test_a_request_is_told_by_its_route_under_its_caller_and_leads_on_to_the_memory(app, ring, told):
    _, token = ring.create(["harold"], "writer")
    headers = {"Authorization": f"Bearer {token}", "traceparent": _CALLER}
    path = "/v1/resources/harold/threads/t-1"
    app.post(f"{path}/messages", json={"messages": [{"role": "user", "content": "zebrafinch"}]}, headers=headers)
    app.get("/v1/resources/harold/recall", params={"q": "zebrafinch", "query": "zebrafinch"}, headers=headers)
    (pushed,) = told.named("om.push", resource="harold")
    (served,) = told.named("POST /v1/resources/{resource}/threads/{thread}/messages")

    assert (served.context.trace_id, served.parent.span_id) == (7, 9)
    assert pushed.parent.span_id == served.context.span_id
    assert dict(served.attributes) == {
        "http.request.method": "POST",
        "http.route": "/v1/resources/{resource}/threads/{thread}/messages",
        "http.response.status_code": 200,
        "url.scheme": "http",
    }
    assert "zebrafinch" not in told.text()
    assert str(token) not in told.text()


def test_a_call_of_a_tool_is_one_request_and_what_the_memory_did(app, ring, told):
    _, token = ring.create(["harold"], "writer")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    app.post("/mcp", json=call, headers=headers)

    assert [span.name for span in told.all() if span.kind.name == "SERVER"] == ["POST /mcp"]


@pytest.mark.parametrize(("path", "status", "names"), [("/healthz", 200, []), ("/nowhere", 404, ["GET"])])
def test_who_only_looks_whether_it_lives_is_not_told(app, told, path, status, names):
    assert app.get(path).status_code == status
    assert [span.name for span in told.all()] == names


def test_what_fails_says_so_and_not_why(told):
    TestClient(Traced(Response("zebrafinch", status_code=503))).get("/", headers={"traceparent": "nonsense"})
    (served,) = told.all()

    assert (served.attributes["error.type"], served.parent) == ("503", None)
