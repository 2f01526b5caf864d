"""Pages of other origins: none is let in unless it is named, and then every answer may be read, the bad ones above all."""

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import StoreError
from om_api.http import make_app
from om_api.http.serving.cors import open_to

THREADS = "/v1/resources/harold/threads"
PAGE = "https://app.example.org"
ALLOWED = "access-control-allow-origin"
ASKS = {"Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": "authorization, content-type"}


def _settings(settings, origins):
    known = {"OM_PREFIX": settings.prefix, "OM_REDIS_URL": settings.redis_url}
    return load_settings(None, {**known, "OM_API__CORS_ORIGINS": origins, "OM_API__STREAMS_PER_KEY": "1"})


@pytest.fixture
def http(settings):
    with TestClient(make_app(_settings(settings, f'["{PAGE}"]')), raise_server_exceptions=False) as http:
        yield http


def _key(ring, **options):
    return {"Authorization": f"Bearer {ring.create(['harold'], 'reader', **options)[1]}"}


def test_by_default_no_page_is_let_in(app, using):
    assert ALLOWED not in using("reader", "harold")("GET", THREADS, headers={"Origin": PAGE}).headers
    assert app.options(THREADS, headers={"Origin": PAGE, **ASKS}).status_code == 405


def test_what_a_browser_asks_beforehand_needs_no_key_and_is_logged(http):
    with capture_logs() as lines:
        answer = http.options(THREADS, headers={"Origin": PAGE, **ASKS})

    assert (answer.status_code, answer.headers[ALLOWED]) == (200, PAGE)
    assert "DELETE" in answer.headers["access-control-allow-methods"]
    assert "Authorization" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers
    assert [(line["method"], line["status"]) for line in lines] == [("OPTIONS", 200)]


@pytest.mark.parametrize(
    "origin", ["https://app.example.org.evil.example", "http://app.example.org", "null", PAGE + ":8443"]
)
def test_a_page_that_is_not_named_is_let_in_by_nothing(http, ring, origin):
    asked = http.options(THREADS, headers={"Origin": origin, **ASKS})
    answer = http.get(THREADS, headers={"Origin": origin, **_key(ring)})

    assert asked.status_code == 400
    assert (answer.status_code, answer.headers["vary"]) == (200, "Origin")
    assert ALLOWED not in {*asked.headers, *answer.headers}


def test_whatever_is_answered_may_be_read_by_the_page(http, ring, monkeypatch):
    reader, slow = _key(ring), _key(ring, rate="1/h")
    asked = [
        (200, THREADS, reader),
        (401, THREADS, {}),
        (403, "/v1/resources/albert/threads", reader),
        (404, "/v1/nowhere", reader),
        (422, "/v1/events?limit=0", reader),
        (200, THREADS, slow),
        (429, THREADS, slow),
    ]
    answers = [http.get(path, headers={"Origin": PAGE, **sent}) for _, path, sent in asked]

    assert [answer.status_code for answer in answers] == [status for status, _, _ in asked]
    assert {answer.headers.get(ALLOWED) for answer in answers} == {PAGE}
    assert {"Retry-After" in answer.headers["access-control-expose-headers"] for answer in answers} == {True}


@pytest.mark.parametrize(("error", "status"), [(StoreError("away", stored=False), 503), (RuntimeError("ours"), 500)])
def test_what_fails_may_be_read_by_the_page(http, ring, monkeypatch, error, status):
    """Catches a 500 that is made outside of what adds the headers: a browser tells its page nothing of it."""
    sent = {"Origin": PAGE, **_key(ring)}

    async def fails(*_, **__):
        raise error

    monkeypatch.setattr(http.app.state.app_state.memory, "threads", fails)
    with capture_logs() as lines:
        answer = http.get(THREADS, headers=sent)

    assert (answer.status_code, answer.headers.get(ALLOWED)) == (status, PAGE)
    assert answer.headers["content-type"] == "application/problem+json"
    assert [line["status"] for line in lines if line["event"] == "request_served"] == [status]


def test_every_page_is_let_in_where_that_is_said(settings, ring):
    with TestClient(make_app(_settings(settings, '"*"'))) as http:
        answer = http.get(THREADS, headers={"Origin": "https://anywhere.example", **_key(ring)})

    assert answer.headers[ALLOWED] == "*"


def test_without_keys_no_page_is_let_in_whatever_the_setting_says(settings):
    with TestClient(make_app(_settings(settings, '"*"'), locked=False), base_url="http://127.0.0.1") as http:
        asked = http.options(THREADS, headers={"Origin": PAGE, **ASKS})
        answer = http.get(THREADS, headers={"Origin": PAGE})

    assert (asked.status_code, answer.status_code) == (405, 403)
    assert ALLOWED not in {*asked.headers, *answer.headers}


def test_an_app_that_is_open_to_nobody_is_left_as_it_is():
    app = object()

    assert open_to((), app) is app
