"""What is refused is a problem that says what is wrong, where, what is permitted; and what became of a write."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from refusals import problem
from servers import Proxy, Server
from starlette.testclient import TestClient
from world import wait_until

from om_api import load_settings
from om_api.http import make_app
from om_api.http.serving.limits import MAX_MESSAGE

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
GOOD = {"id": "m-1", "role": "user", "content": "x"}


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("body", [b"{broken", b"", b"\xff\xfe", b"[" * 100_000, b'{"messages": NaN'])
def test_a_body_that_is_not_json_is_refused(ask, body):
    assert ask("POST", MESSAGES, content=body, headers=JSON).status_code in {400, 422}


def test_a_body_that_is_not_json_is_told_where_that_begins_and_what_stands_there(ask):
    found = problem(ask("POST", MESSAGES, content=b"{broken", headers=JSON), 400)
    why = "Expecting property name enclosed in double quotes"

    assert found["errors"] == [{"where": "body[1]", "what": why}]
    assert found["detail"] == f"the body is not JSON: {why}"


def test_a_message_may_take_as_many_bytes_as_it_may_and_no_more(ask):
    def add(size):
        given = {**GOOD, "content": "x" * size, "tokens": 5, "timestamp": "2026-11-20T09:30:00Z"}
        return ask("POST", MESSAGES, json={"messages": [given]})

    takes = int(problem(add(MAX_MESSAGE), 422)["detail"].partition(" takes ")[2].split()[0].replace(",", ""))
    most = MAX_MESSAGE - (takes - MAX_MESSAGE)
    assert f"takes {MAX_MESSAGE + 1:,} bytes" in problem(add(most + 1), 422)["detail"]
    assert add(most).status_code == 200


@pytest.mark.parametrize(
    "kind", [{"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}]
)
def test_a_body_that_does_not_say_it_is_json_is_told_to(ask, kind):
    answer = ask("POST", MESSAGES, content=json.dumps({"messages": [GOOD]}), headers=kind)

    problem(answer, 422)
    assert "send the body with Content-Type: application/json" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "what"),
    [
        (f"{HAROLD}/threads?limit=0", "query.limit"),
        (f"{HAROLD}/threads?limit=501", "query.limit"),
        (f"{HAROLD}/threads?cursor=%25", "leave it out"),
        (f"{HAROLD}/threads?cursor=x", "leave it out"),
        (f"{HAROLD}/threads/t-1/context?format=xml", "query.format"),
        (f"{HAROLD}/threads/t-1/context?max_tokens=0", "query.max_tokens"),
        (f"{HAROLD}/observations?thread_id=a%2Fb", "query.thread_id"),
        (f"{HAROLD}/threads/..%20/context", "path.thread"),
    ],
)
def test_a_question_that_cannot_be_answered_says_which_part_of_it(ask, path, what):
    assert what in problem(ask("GET", path), 422)["detail"]


def test_what_is_not_here_and_what_is_not_done_here_are_told_apart(ask):
    assert "/v1/openapi.json" in problem(ask("GET", "/v1/nothing"), 404)["detail"]
    assert "use GET" in problem(ask("PUT", f"{HAROLD}/stats"), 405)["detail"]
    assert ask("PUT", "/v1/webhooks").headers["allow"] == "GET, POST"


@pytest.mark.parametrize(
    ("path", "permitted"),
    [
        (f"{HAROLD}/threads/t-1/messages", "GET, POST"),
        (f"{HAROLD}/threads/t-1/sync", "POST"),
        (HAROLD, "DELETE"),
        ("/v1/openapi.json", "GET, HEAD"),
    ],
)
def test_every_method_of_a_path_is_named_to_whoever_uses_another_one(app, path, permitted):
    answer = app.put(path)

    assert answer.headers["allow"] == permitted
    assert f"PUT is not permitted here: use {permitted}" == problem(answer, 405)["detail"]


def test_a_fault_of_ours_shows_nothing_of_itself(ask, app, monkeypatch):
    async def broken(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(app.app.state.app_state.memory, "observations", broken)
    found = problem(ask("GET", f"{HAROLD}/observations"), 500)

    assert "secret" not in json.dumps(found)


# -- the store is away -------------------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as own:
        yield own


@pytest.fixture
def proxy(server):
    between = Proxy(server)
    yield between
    between.close()


_CALLERS = 16


def _house(url, timeout=0.5):
    settings = load_settings(environ={"OM_REDIS_URL": url, "OM_TOKENIZER": "estimate"})
    return TestClient(make_app(settings, locked=False, timeout=timeout), base_url="http://127.0.0.1")


def _add(http, name="m-1"):
    return http.post(MESSAGES, json={"messages": [{**GOOD, "id": name}]})


def test_a_store_that_is_away_is_a_503_that_says_nothing_was_stored(server):
    with _house(server.url) as http:
        server.kill()
        answer = _add(http)
        assert (problem(answer, 503)["stored"], answer.headers["retry-after"]) == (False, "1")
        assert (http.get("/readyz").status_code, http.get("/healthz").status_code) == (503, 200)


def test_an_export_that_cannot_begin_is_a_503_and_no_file(server):
    with _house(server.url) as http:
        server.kill()
        problem(http.get(f"{HAROLD}/export"), 503)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "recall?q=x"), ("GET", "messages/m-1/around"), ("POST", "recall-tool")]
)
def test_nothing_is_recalled_while_the_store_is_away_and_that_is_no_answer_that_nothing_was_said(server, method, path):
    with _house(server.url) as http:
        server.kill()
        answer = http.request(method, f"{HAROLD}/{path}", json={"query": "x"} if method == "POST" else None)
        problem(answer, 503)
        assert answer.headers["retry-after"] == "1"


def test_when_the_store_is_back_nobody_is_told_of_the_connections_that_died(server):
    """Catches a pool that hands out the dead, where there is no second try on another connection either."""
    with _house(server.url, timeout=10) as http, ThreadPoolExecutor(_CALLERS) as callers, server.client() as plain:

        def ask_all_at_once():
            server.pause()  # so that each of them holds a connection
            asked = [callers.submit(_add, http, f"m-{n}") for n in range(_CALLERS)]
            wait_until(lambda: sum(each.running() for each in asked) == _CALLERS, "everybody to ask")
            server.go_on()
            return {each.result().status_code for each in asked}

        assert ask_all_at_once() == {200}
        assert len(plain.client_list()) > _CALLERS / 2
        server.kill()
        assert _add(http).status_code == 503
        server.start()
        assert ask_all_at_once() == {200}
        assert http.get("/readyz").status_code == 200


def test_a_full_store_says_that_nothing_was_stored_and_what_to_do(server):
    with _house(server.url) as http, server.client() as plain:
        plain.config_set("maxmemory", 1)
        found = problem(_add(http), 503)

    assert (found["stored"], "out of memory" in found["detail"]) == (False, True)


def test_a_lost_reply_says_that_nobody_knows_and_a_repetition_adds_nothing(proxy):
    with _house(proxy.url) as http:
        _add(http, "m-0")
        proxy.lose(b"EVALSHA", refuse=True)
        found = problem(_add(http), 503)
        proxy.listen()
        again = _add(http).json()

    assert (found["stored"], "same ids" in found["detail"]) == (None, True)
    assert again["duplicates"] == ["m-1"]


def test_what_needs_a_key_is_a_503_too_while_keys_cannot_be_looked_at(server):
    settings = load_settings(environ={"OM_REDIS_URL": server.url})
    with TestClient(make_app(settings, timeout=0.5)) as http:
        server.kill()
        token = "om_0123456789ab_" + "x" * 43
        problem(http.get(f"{HAROLD}/stats", headers={"Authorization": f"Bearer {token}"}), 503)


def test_of_a_read_nobody_is_told_that_nothing_was_kept(ask):
    detail = problem(ask("GET", f"{HAROLD}/threads/t-1/context?format=opnai"), 422)["detail"]

    assert "kept" not in detail
    assert "Correct it and repeat the request" in detail


@pytest.mark.parametrize("door", ["messages", "sync"])
@pytest.mark.parametrize("body", [{"contents": []}, [{"role": "user", "content": "hi"}], {}], ids=str)
def test_who_sends_no_messages_is_told_what_to_send(ask, door, body):
    """Catches words of the library that checks bodies, for what another vendor calls contents."""
    detail = problem(ask("POST", f"{HAROLD}/threads/t-1/{door}", json=body), 422)["detail"]

    assert '{"messages": [{"role": "user", "content": "…"}]}' in detail
