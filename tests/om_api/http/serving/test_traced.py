"""A span for each request, under its caller's: by its route, never by what was asked."""

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from structlog.testing import capture_logs
from traced import traced

from om_api.http.serving.log import Logged
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


def test_other_requests_are_named_by_what_they_are_and_who_looks_whether_it_lives_is_not_told(app, told):
    for path in ("/healthz", "/nowhere"):
        app.get(path)
    TestClient(Traced(Response(status_code=503))).get("/", headers={"traceparent": "nonsense"})
    served = told.all()[-1]
    assert [span.name for span in told.all() if span.kind.name == "SERVER"] == ["GET", "GET"]
    assert (served.attributes["error.type"], served.parent) == ("503", None)


def test_each_request_is_a_line_but_whether_it_lives_is_none_unless_that_is_refused():
    long = f"/v1/resources/{'r' * 200}/threads/{'t' * 200}/messages"
    for path, status, told in [
        ("/healthz", 200, False), ("/healthz", 400, True), ("/readyz", 503, True), (long, 200, True),
    ]:  # fmt: skip
        with capture_logs() as lines:
            TestClient(Logged(Response(status_code=status))).get(path)
        found = [(line["path"], line["status"]) for line in lines if line["log_level"] == "info"]
        assert found == [(path, status)] * told, path
