"""What is refused is a problem that says what is wrong, where, what is permitted; and what became of a write."""

import contextlib
import json

from refusals import problem
from served import serving, settings_of
from servers import Proxy, Server

from om_api import load_settings

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
GOOD = {"id": "m-1", "role": "user", "content": "x"}
JSON = {"Content-Type": "application/json"}


def test_a_body_that_is_not_what_is_read_says_what_to_send(ask):
    """Catches words of the library that checks bodies, for what another vendor calls contents."""
    for body in (b"", b"\xff\xfe", b"[" * 100_000, b'{"messages": NaN'):
        assert ask("POST", MESSAGES, content=body, headers=JSON).status_code in {400, 422}, body[:20]
    found = problem(ask("POST", MESSAGES, content=b"{broken", headers=JSON), 400)
    why = "Expecting property name enclosed in double quotes"
    assert (found["errors"], found["detail"]) == ([{"where": "body[1]", "what": why}], f"the body is not JSON: {why}")

    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = ask("POST", MESSAGES, content=json.dumps({"messages": [GOOD]}), headers={"Content-Type": kind})
        assert "send the body with Content-Type: application/json" in problem(answer, 422)["detail"]
    for door in ("messages", "sync"):
        for body in ({"contents": []}, [{"role": "user", "content": "hi"}], {}):
            detail = problem(ask("POST", f"{HAROLD}/threads/t-1/{door}", json=body), 422)["detail"]
            assert '{"messages": [{"role": "user", "content": "…"}]}' in detail, body
    unknown = problem(ask("PATCH", f"{HAROLD}/threads/t-1", json={"memry": "off"}), 422)
    assert unknown["detail"].startswith("body.memry: unknown field; /docs lists the fields")


def test_a_question_that_cannot_be_answered_says_which_part_of_it(ask):
    for path, what in [
        ("threads?limit=0", "query.limit"), ("threads?limit=501", "query.limit"),
        ("threads?cursor=%25", "leave it out"), ("threads?cursor=x", "leave it out"),
        ("threads/t-1/context?format=xml", "query.format"), ("threads/t-1/context?max_tokens=0", "query.max_tokens"),
        (f"observations?thread_id={'x' * 201}", "query.thread_id"), (f"threads/{'x' * 201}/context", "path.thread"),
    ]:  # fmt: skip
        detail = problem(ask("GET", f"{HAROLD}/{path}"), 422)["detail"]
        assert what in detail, path
        assert "kept" not in detail


def test_what_is_not_here_and_what_is_not_done_here_are_told_apart(app):
    assert "/v1/openapi.json" in problem(app.get("/v1/nothing"), 404)["detail"]
    for path, permitted in [
        (f"{HAROLD}/threads/t-1/messages", "GET, POST"), (f"{HAROLD}/threads/t-1/sync", "POST"), (HAROLD, "DELETE"),
        ("/v1/openapi.json", "GET, HEAD"),
    ]:  # fmt: skip
        answer = app.put(path)
        assert answer.headers["allow"] == permitted
        assert f"PUT is not permitted here: use {permitted}" == problem(answer, 405)["detail"]


# -- the store is away -------------------------------------------------------------------------------------------------


def _add(http, name="m-1"):
    return http.post(MESSAGES, json={"messages": [{**GOOD, "id": name}]})


def test_a_store_that_is_away_is_a_503_that_says_nothing_was_stored(settings):
    away = settings_of(settings, redis_url="redis://127.0.0.1:1/0")
    with serving(away, locked=False) as http:
        answer = _add(http)
        assert (problem(answer, 503)["stored"], answer.headers["retry-after"]) == (False, "1")
        assert (http.get("/readyz").status_code, http.get("/healthz").status_code) == (503, 200)
        for path in ("export", "recall?q=x", "messages/m-1/around"):
            problem(http.get(f"{HAROLD}/{path}"), 503)
        problem(http.post(f"{HAROLD}/recall-tool", json={"query": "x"}), 503)
    with serving(away) as http:
        token = "om_0123456789ab_" + "x" * 43
        problem(http.get(f"{HAROLD}/stats", headers={"Authorization": f"Bearer {token}"}), 503)


def test_a_lost_reply_says_that_nobody_knows_and_a_full_store_that_nothing_was_stored(tmp_path):
    with Server(tmp_path) as server, contextlib.closing(Proxy(server)) as proxy, server.client() as plain:
        settings = load_settings(environ={"OM_REDIS_URL": proxy.url, "OM_TOKENIZER": "estimate"})
        with serving(settings, locked=False, timeout=0.5) as http:
            _add(http, "m-0")
            proxy.lose(b"EVALSHA", refuse=True)
            lost = problem(_add(http), 503)
            proxy.listen()
            again = _add(http).json()
            plain.config_set("maxmemory", 1)
            full = problem(_add(http, "m-2"), 503)

    assert (lost["stored"], "same ids" in lost["detail"], again["duplicates"]) == (None, True, ["m-1"])
    assert (full["stored"], "out of memory" in full["detail"]) == (False, True)
