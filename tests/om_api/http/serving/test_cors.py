"""Pages of other origins: none is let in unless it is named, and then every answer may be read, the bad ones above all."""

import pytest
from served import serving, settings_of
from structlog.testing import capture_logs

from om_api.domain.errors import StoreError

THREADS = "/v1/resources/harold/threads"
PAGE = "https://app.example.org"
ALLOWED = "access-control-allow-origin"
SENT = "authorization, content-type, mcp-method, mcp-name, mcp-protocol-version"
ASKS = {"Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": SENT}


@pytest.fixture
def http(settings):
    with serving(settings_of(settings, api__cors_origins=f'["{PAGE}"]', api__streams_per_key="1")) as http:
        yield http


def _key(ring, **options):
    return {"Authorization": f"Bearer {ring.create(['harold'], 'reader', **options)[1]}"}


def test_what_a_browser_asks_beforehand_needs_no_key_and_is_logged(http):
    with capture_logs() as lines:
        answer = http.options(THREADS, headers={"Origin": PAGE, **ASKS})

    assert (answer.status_code, answer.headers[ALLOWED]) == (200, PAGE)
    assert "DELETE" in answer.headers["access-control-allow-methods"]
    assert "Authorization" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers
    assert [(line["method"], line["status"]) for line in lines] == [("OPTIONS", 200)]


def test_a_page_that_is_not_named_is_let_in_by_nothing(http, ring):
    for origin in ("https://app.example.org.evil.example", "http://app.example.org", "null", PAGE + ":8443"):
        asked = http.options(THREADS, headers={"Origin": origin, **ASKS})
        answer = http.get(THREADS, headers={"Origin": origin, **_key(ring)})
        assert (asked.status_code, answer.status_code, answer.headers["vary"]) == (400, 200, "Origin"), origin
        assert ALLOWED not in {*asked.headers, *answer.headers}, origin


def test_whatever_is_answered_may_be_read_by_the_page(http, ring, monkeypatch):
    """Catches a 500 that is made outside of what adds the headers: a browser tells its page nothing of it."""
    reader, slow = _key(ring), _key(ring, rate="1/h")
    asked = [
        (200, THREADS, reader), (401, THREADS, {}), (403, "/v1/resources/albert/threads", reader),
        (404, "/v1/nowhere", reader), (422, "/v1/events?limit=0", reader), (200, THREADS, slow), (429, THREADS, slow),
    ]  # fmt: skip
    answers = [http.get(path, headers={"Origin": PAGE, **sent}) for _, path, sent in asked]
    assert [answer.status_code for answer in answers] == [status for status, _, _ in asked]
    assert {answer.headers.get(ALLOWED) for answer in answers} == {PAGE}
    assert {"Retry-After" in answer.headers["access-control-expose-headers"] for answer in answers} == {True}

    for error, status in ((StoreError("away", stored=False), 503), (RuntimeError("a secret"), 500)):

        async def fails(*_, error=error, **__):
            raise error

        monkeypatch.setattr(http.app.state.app_state.memory, "threads", fails)
        with capture_logs() as lines:
            answer = http.get(THREADS, headers={"Origin": PAGE, **reader})
        assert (answer.status_code, answer.headers.get(ALLOWED)) == (status, PAGE)
        assert (answer.headers["content-type"], "secret" in answer.text) == ("application/problem+json", False)
        assert [line["status"] for line in lines if line["event"] == "request_served"] == [status]


def test_every_page_is_let_in_where_that_is_said_and_none_by_default_or_without_keys(settings, ring):
    anybody = settings_of(settings, api__cors_origins='"*"')
    with serving(anybody) as http:
        answer = http.get(THREADS, headers={"Origin": "https://anywhere.example", **_key(ring)})
    assert answer.headers[ALLOWED] == "*"

    for named, locked, status in ((anybody, False, 403), (settings, True, 200)):  # by default none is
        with serving(named, locked=locked) as http:
            asked = http.options(THREADS, headers={"Origin": PAGE, **ASKS})
            answer = http.get(THREADS, headers={"Origin": PAGE, **_key(ring)})
        assert (asked.status_code, answer.status_code) == (405, status)
        assert ALLOWED not in {*asked.headers, *answer.headers}
