"""HTTP clients get the promises of the library: what is added is there once, and everything kept can be read."""

from __future__ import annotations

import jsonschema
import pytest
from starlette.testclient import TestClient

from om_api import load_settings
from om_api.http import make_app

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


def test_what_is_added_is_in_the_context_and_a_repetition_adds_nothing(say, ask):
    first, again = say("m-1", "m-2"), say("m-1", "m-2")

    assert first.json() == {"ids": ["m-1", "m-2"], "added": 2, "duplicates": []}
    assert again.json() == {"ids": ["m-1", "m-2"], "added": 0, "duplicates": ["m-1", "m-2"]}
    found = ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()
    assert [message["content"] for message in found["context"]][:2] == ["about m-1", "about m-2"]


def test_a_message_without_an_id_is_given_one(ask):
    given = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
    (name,) = ask("POST", f"{THREAD}/messages", json=given).json()["ids"]

    assert "hello" in ask("GET", f"{THREAD}/context").json()["context"]
    assert len(name) > 20


@pytest.mark.parametrize("form", ["text", "openai", "anthropic", "gemini", "blocks"])
def test_a_context_is_the_librarys_in_every_format(say, ask, world, form):
    say(*[f"m-{n}" for n in range(12)])
    world.settle()
    own = world.context()
    meant = {"text": own.text, "openai": own.as_openai(), "anthropic": own.as_anthropic(), "gemini": own.as_gemini()}
    found = ask("GET", f"{THREAD}/context", params={"format": form}).json()

    assert found["tokens"] == own.tokens
    if form == "blocks":
        assert [block["hash"] for block in found["context"]] == [block.hash for block in own.blocks]
    else:
        assert found["context"] == meant[form]


def test_a_message_may_say_that_it_takes_no_tokens(say, world):
    say("m-1", tokens=0)

    assert [message.tokens for message in world.context().messages] == [0]


def test_the_example_of_a_context_is_what_is_replied_to_its_one_message(say, ask, app):
    told = app.get("/v1/openapi.json").json()["paths"]["/v1/resources/{resource}/threads/{thread}/context"]["get"]
    say("m-1", content="Hello", tokens=5)
    found = ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()

    assert found == told["responses"]["200"]["content"]["application/json"]["example"]


def test_a_context_can_be_capped_and_says_what_it_left_out(say, ask):
    say(*[f"m-{n}" for n in range(9)])

    found = ask("GET", f"{THREAD}/context", params={"max_tokens": 400}).json()
    assert found["omitted"] > 0
    assert "about m-8" in found["context"]
    assert "about m-0" not in found["context"]


@pytest.fixture
def full(say, ask, world):
    """Harold's memory with observations, a generation and what it replaced, over two threads."""
    for n in range(12):
        say(f"a-{n}", thread="t-1")
        say(f"b-{n}", thread="t-2")
        world.settle()
    ask("POST", f"{HAROLD}/reflect", json={})
    world.settle()
    for n in range(12, 20):
        say(f"a-{n}", thread="t-1")
        world.settle()
    return world


def _walk(ask, path, **params):
    """Every entry of a list, page by page."""
    found, cursor = [], None
    while True:
        page = ask("GET", path, params={**params, **({"cursor": cursor} if cursor else {})}).json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found


def test_every_list_comes_in_pages_that_hold_each_entry_once(full, ask):
    om = full.om
    meant = {
        f"{HAROLD}/observations": [o.id for o in om.observations("harold")],
        f"{HAROLD}/threads": [thread.id for thread in om.threads("harold")],
        f"{HAROLD}/reflections": [generation.n for generation in om.generations("harold")],
        f"{HAROLD}/reflections/1/observations": [o.id for o in om.replaced(1, "harold")],
        f"{HAROLD}/observations/{om.observations('harold')[0].id}/messages": [
            message.id for message in om.sources(om.observations("harold")[0].id, "harold")
        ],
    }
    for path, names in meant.items():
        for limit in (1, 2, 500):
            found = [entry.get("id", entry.get("n")) for entry in _walk(ask, path, limit=limit)]
            assert (sorted(found), len(found) > 0) == (sorted(names), True), path


def test_what_a_thread_keeps_can_be_read_alone(full, ask):
    found = _walk(ask, f"{HAROLD}/observations", thread_id="t-1")

    assert {entry["thread_id"] for entry in found} == {"t-1"}
    assert _walk(ask, f"{HAROLD}/observations", thread_id="nobody") == []


def test_a_page_goes_on_behind_its_cursor_when_entries_were_removed_meanwhile(full, ask):
    first = ask("GET", f"{HAROLD}/reflections/1/observations", params={"limit": 2}).json()
    names = [o.id for o in full.om.replaced(1, "harold")]
    key = f"{full.prefix}:{{harold}}:reflected:1"
    full.client.zrem(key, full.client.zrange(key, 0, 0)[0])

    rest = _walk(ask, f"{HAROLD}/reflections/1/observations", cursor=first["next"])
    assert [entry["id"] for entry in first["items"] + rest] == sorted(names)


def test_statistics_record_and_settings_are_the_librarys(full, ask):
    assert ask("GET", f"{HAROLD}/stats").json()["observations"] == full.om.stats("harold").observations
    assert ask("GET", f"{HAROLD}/record").json()["generation"] == 1
    settings = {each["key"]: each["value"] for each in ask("GET", f"{HAROLD}/settings").json()}
    assert settings["message_threshold"] == 1000


def test_settings_that_change_while_it_runs_are_taken_up(server_url, client, prefix, tmp_path, wait_until):
    file = tmp_path / "agents" / "harold" / "memory.yaml"
    file.parent.mkdir(parents=True)
    settings = load_settings(tmp_path, {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url})
    with TestClient(make_app(settings, locked=False), base_url="http://127.0.0.1") as http:
        file.write_text("observational_memory: {read_only: true}")
        given = {"messages": [{"role": "user", "content": "x"}]}

        wait_until(lambda: http.post(f"{THREAD}/messages", json=given).status_code == 422, "the new settings")


def test_the_workers_can_be_asked_and_stopped(say, ask, world):
    say("m-1")

    assert ask("POST", f"{HAROLD}/observe", json={"thread_id": "t-1"}).json() == {"outcome": "busy"}
    world.settle()
    assert ask("POST", f"{HAROLD}/observe", json={}).json() == {"outcome": "rest"}
    assert ask("POST", f"{HAROLD}/pause").json() == {"outcome": "rest"}
    assert ask("GET", f"{HAROLD}/stats").json()["paused"] is True
    assert ask("POST", f"{HAROLD}/resume").json() == {"outcome": "rest"}


def test_what_is_removed_is_gone(full, ask):
    name = full.om.observations("harold")[0].id

    assert ask("DELETE", f"{HAROLD}/observations/{name}").json() == {"outcome": "cleared"}
    assert ask("DELETE", f"{HAROLD}/threads/t-2").json()["outcome"] == "cleared"
    assert [thread["id"] for thread in _walk(ask, f"{HAROLD}/threads")] == ["t-1"]
    assert ask("DELETE", HAROLD, params={"confirm": "harold"}).json()["outcome"] == "cleared"
    assert list(full.client.scan_iter(f"{full.prefix}:{{harold}}:*")) == []


def test_the_quarantine_can_be_looked_at_and_emptied(ask, world):
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {b'{"role":"robot"}': 1_763_600_000_000})
    world.sweep()
    (entry,) = _walk(ask, f"{HAROLD}/rejected")

    assert (entry["kind"], entry["member"]) == ("malformed", '{"role":"robot"}')
    assert ask("POST", f"{HAROLD}/rejected/{entry['id']}/retry").json() == {"outcome": "busy"}
    world.sweep()
    (entry,) = _walk(ask, f"{HAROLD}/rejected")
    assert ask("DELETE", f"{HAROLD}/rejected/{entry['id']}").json() == {"outcome": "cleared"}
    assert ask("DELETE", f"{HAROLD}/rejected/{entry['id']}").json() == {"outcome": "superseded"}


def test_a_process_says_that_it_lives_and_that_it_is_ready(app):
    assert [app.get(path).json() for path in ("/healthz", "/readyz")] == [{"status": "alive"}, {"status": "ready"}]


def test_every_reply_and_every_refusal_is_of_the_form_that_openapi_says(full, ask, app):
    document = app.get("/v1/openapi.json").json()
    full.client.rpush(f"{full.prefix}:{{harold}}:rejected", b"?")
    filled = {"resource": "harold", "thread": "t-1", "n": 1, "observation": full.om.observations("harold")[0].id}
    reads = [path for path, methods in document["paths"].items() if "get" in methods and not path.endswith("/export")]
    for path in reads:
        answer = ask("GET", path.format(**filled))
        _check(document, path, answer)
        assert answer.json() not in ({"items": [], "next": None}, []), path
        _check(document, path, app.get(path.format(**filled)))
        _check(document, path, ask("GET", path.format(**filled), params={"cursor": "%"}))


def _check(document, path, answer):
    kinds = document["paths"][path]["get"]["responses"][str(answer.status_code)]["content"]
    told = kinds[answer.headers["content-type"]]
    jsonschema.validate(answer.json(), {**told["schema"], "components": document["components"]})
