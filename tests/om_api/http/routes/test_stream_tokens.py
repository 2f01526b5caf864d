"""Tokens for whoever can send no header: they open the events of their key, nothing else, and not for long."""

import pytest
from refusals import problem
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from om_api.http import make_app
from om_api.store.fleet.stream_tokens import LASTS_S

EVENTS, TOKEN = "/v1/events", "/v1/events/token"


@pytest.fixture
def token_of(app):
    """A token for the events that a key sees."""

    def made(key):
        answer = app.post(TOKEN, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text
        return answer.json()["token"]

    return made


def test_a_token_lasts_for_a_minute_is_kept_by_nobody_between_and_names_no_key(app, ring):
    key, secret = ring.create(["harold"], "reader")
    answer = app.post(TOKEN, headers={"Authorization": f"Bearer {secret}"})

    assert answer.json().keys() == {"token", "expires_in"}
    assert answer.json()["expires_in"] == LASTS_S
    assert answer.headers["cache-control"] == "no-store"
    assert key.id not in answer.json()["token"]


def test_a_token_shows_the_events_of_its_key_and_of_nobody_else(app, ring, token_of, publish):
    publish("sealed")
    publish("failed", resource="albert")
    token = token_of(ring.create(["harold"], "reader")[1])
    found = app.get(EVENTS, params={"token": token, "after": "0"}).json()

    assert [each["kind"] for each in found["items"]] == ["sealed"]
    assert app.get(EVENTS, params={"token": token, "resource": "albert"}).status_code == 403


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", TOKEN),
        ("GET", "/v1/resources"),
        ("GET", "/v1/resources/harold/stats"),
        ("DELETE", "/v1/resources/harold?confirm=harold"),
        ("GET", "/metrics"),
    ],
)
def test_a_token_opens_nothing_but_events(app, ring, token_of, method, path):
    token = token_of(ring.create(["*"], "operator")[1])
    joint = "&" if "?" in path else "?"

    assert app.request(method, f"{path}{joint}token={token}").status_code == 401
    assert app.request(method, path, headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_token_that_has_expired_is_refused_and_says_what_to_do(app, ring, token_of, client, prefix):
    token = token_of(ring.create(["harold"], "reader")[1])
    client.delete(*client.keys(f"{prefix}:lock:stream-token:*"))
    sent = {"Accept": "text/event-stream", "Last-Event-ID": "1-0"}

    told = problem(app.get(EVENTS, params={"token": token}, headers=sent), 401)
    assert "POST /v1/events/token" in told["detail"]


@pytest.mark.parametrize("text", ["oms_x", "om_0123456789ab_" + "x" * 43, "ä\0", "x" * 5_000])
def test_what_is_no_token_is_refused(app, text):
    assert app.get(EVENTS, params={"token": text}).status_code == 401


def test_a_token_ends_with_its_key(app, ring, token_of):
    gone, secret = ring.create(["harold"], "reader")
    turned, old = ring.create(["harold"], "reader")
    kept, still = ring.create(["harold"], "reader")
    tokens = [token_of(each) for each in (secret, old, still)]
    ring.revoke(gone.id)
    ring.rotate(turned.id)
    ring.rotate(kept.id, grace=600)

    assert [app.get(EVENTS, params={"token": each}).status_code for each in tokens] == [401, 401, 200]


def test_a_token_of_a_key_that_expired_is_refused(app, ring, token_of, wait_until):
    token = token_of(ring.create(["harold"], "reader", expires_s=5)[1])

    wait_until(lambda: app.get(EVENTS, params={"token": token}).status_code == 401, "the key's end")


def test_a_token_counts_against_the_rate_of_its_key(app, ring, token_of):
    token = token_of(ring.create(["harold"], "reader", rate="2/h")[1])

    assert [app.get(EVENTS, params={"token": token}).status_code for _ in range(2)] == [200, 429]


def test_a_token_is_said_by_no_log_and_by_no_refusal(app, ring, token_of, client):
    key, secret = ring.create(["harold"], "reader")
    token = token_of(secret)
    with capture_logs() as lines:
        asked = [{}, {"kinds": "seald"}, {"resource": "albert"}, {"limit": 0}]
        answers = [app.get(EVENTS, params={"token": token, **query}) for query in asked]
        ring.revoke(key.id)
        answers.append(app.get(EVENTS, params={"token": token}))

    assert [answer.status_code for answer in answers] == [200, 422, 403, 422, 401]
    assert [line["path"] for line in lines] == [EVENTS] * 5
    assert token not in f"{lines} {[(answer.text, answer.headers) for answer in answers]}"


def test_a_key_in_the_header_goes_before_a_token(using, publish):
    publish("sealed")

    assert using("reader", "harold")("GET", EVENTS, params={"token": "oms_x", "after": "0"}).status_code == 200


def test_without_keys_there_are_no_tokens_either(settings):
    with TestClient(make_app(settings, locked=False), base_url="http://127.0.0.1") as http:
        assert "none is needed" in problem(http.post(TOKEN), 422)["detail"]
        assert http.get(EVENTS, params={"token": "oms_x"}).status_code == 200
