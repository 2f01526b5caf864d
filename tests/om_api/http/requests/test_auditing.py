"""What is told of requests: by whom, of what, before the answer; and what is told of none."""

import pytest
from fastapi.routing import iter_route_contexts
from served import serving
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import DID
from om_api.domain.errors import StoreError
from om_api.http import make_app
from om_api.http.requests import auditing
from om_api.http.requests.guard import Guarded, needs
from om_api.store.fleet.audit_stream import REFUSALS

HAROLD = "/v1/resources/harold"
ROUTES = [each.original_route for each in iter_route_contexts(make_app(load_settings(environ={})).routes)]
GUARDED = [route for route in ROUTES if isinstance(route, Guarded)]
#: what changes something and is told of by nothing but refusals: an agent's own traffic, which waits for no entry
AN_AGENTS_OWN = {"add_messages", "sync", "answer_recall", "make_stream_token", "answer"}


@pytest.fixture
def trail(world):
    """Every entry, the oldest first."""
    return lambda **asked: world.om.audit(count=1_000, **asked).entries[::-1]


def told(entries):
    return [(each.did, each.resource, each.thread, each.of, each.outcome, each.ended) for each in entries]


def test_every_route_that_changes_something_names_a_verb_of_the_trail():
    for route in GUARDED:
        changes = not route.methods <= {"GET", "HEAD"}
        told = bool(route.audited.did)
        assert route.audited.did in {"", *DID}, route.name
        assert told == (changes and route.name not in AN_AGENTS_OWN) or route.name == "export_memory", route.name
    assert {route.name for route in GUARDED} >= AN_AGENTS_OWN | {"export_memory"}


def test_an_operating_route_that_names_no_verb_cannot_be_made():
    async def shout() -> None: ...

    with pytest.raises(ValueError, match="is no verb of the audit trail; say needs"):
        Guarded("/v1/shout", shout, methods=["POST"], **needs(Role.OPERATOR))
    with pytest.raises(ValueError, match="'stole' is no verb"):
        Guarded("/v1/shout", shout, methods=["GET"], **needs(Role.READER, audited="stole"))


def test_everything_that_operates_a_memory_is_told_with_who_whose_what_and_how_it_ended(ask, full, trail):
    (observation, *_) = ask("GET", f"{HAROLD}/observations").json()["items"]
    ask("POST", f"{HAROLD}/pause")
    ask("POST", f"{HAROLD}/resume")
    ask("POST", f"{HAROLD}/observe", json={"thread_id": "t-1"})
    ask("POST", f"{HAROLD}/reflections/0/restore")
    ask("POST", f"{HAROLD}/erase", json={"message_id": "a-18", "thread_id": "t-1"})
    ask("DELETE", f"{HAROLD}/observations/{observation['id']}")
    ask("POST", f"{HAROLD}/migrate-scope", json={"to": "resource"})
    ask("GET", f"{HAROLD}/export")
    ask("DELETE", f"{HAROLD}/threads/t-1")
    ask("DELETE", HAROLD, params={"confirm": "harold"})

    assert told(trail()) == [
        ("paused", "harold", "", "", "done", "rest"), ("resumed", "harold", "", "", "done", "rest"),
        ("forced", "harold", "t-1", "observe", "done", "busy"), ("restored", "harold", "", "0", "done", "restored"),
        ("erased", "harold", "t-1", "message a-18", "done", "cleared"),
        ("forgot", "harold", "", observation["id"], "done", "cleared"),
        ("migrated", "harold", "", "resource", "done", "rest"), ("exported", "harold", "", "", "done", ""),
        ("cleared", "harold", "t-1", "", "done", "cleared"), ("cleared", "harold", "", "", "done", "cleared"),
    ]  # fmt: skip
    assert {(each.via, each.status, len(each.who)) for each in trail()} == {("http", 200, 12)}


def test_an_agents_own_traffic_is_not_told_nor_a_word_of_what_was_erased(say, ask, trail):
    say("hunter2")
    ask("POST", f"{HAROLD}/threads/t-1/sync", json={"messages": [{"role": "user", "content": "x"}]})
    ask("GET", f"{HAROLD}/threads/t-1/context")
    ask("GET", f"{HAROLD}/recall", params={"query": "about"})
    ask("POST", f"{HAROLD}/recall-tool", json={"query": "about"})
    ask("POST", "/v1/events/token")
    ask("GET", f"{HAROLD}/rejected")
    ask("POST", f"{HAROLD}/erase", json={"matching": "about hunter2", "dry_run": True})
    assert trail() == []

    ask("POST", f"{HAROLD}/erase", json={"matching": "about hunter2"})
    (entry,) = trail()
    assert (entry.did, entry.of, entry.ended) == ("erased", "a text", "cleared")
    assert "hunter2" not in repr(entry)


def test_refusals_of_a_known_key_are_told_by_role_and_by_resource(using, trail):
    reader, ada = using("reader", "harold"), using("operator", "ada")
    reader("POST", f"{HAROLD}/pause")
    reader("POST", f"{HAROLD}/threads/t-1/messages", json={"messages": []})
    ada("GET", f"{HAROLD}/export")
    ada("GET", f"{HAROLD}/stats")
    ada("GET", "/v1/events", params={"resource": "harold"})
    ada("GET", "/v1/costs")
    ada("POST", "/v1/webhooks", json={"url": "https://example.org", "resources": ["harold"]})

    assert told(trail()) == [
        ("paused", "harold", "", "", "refused", ""), ("refused", "harold", "t-1", "add_messages", "refused", ""),
        ("exported", "harold", "", "", "refused", ""), ("refused", "harold", "", "get_stats", "refused", ""),
        ("refused", "harold", "", "get_events", "refused", ""), ("refused", "", "", "get_costs_of_all", "refused", ""),
        ("webhook_added", "harold", "", "", "refused", ""),
    ]  # fmt: skip
    assert {each.status for each in trail()} == {403}
    assert len({each.who for each in trail()}) == 2


def test_strangers_and_a_key_that_is_refused_for_ever_hide_nobodys_deeds(app, using, ask, trail):
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer om_{'0' * 12}_{'x' * 43}"}):
        assert app.post(f"{HAROLD}/pause", headers=header).status_code == 401
    assert trail() == []

    ask("POST", f"{HAROLD}/pause", params={"create": "true"})
    ada = using("operator", "ada")
    statuses = {ada("POST", f"{HAROLD}/pause").status_code for _ in range(REFUSALS + 10)}
    assert statuses == {403}
    assert len(trail()) == REFUSALS + 1


def test_key_that_is_no_operators_floods_the_trail_with_no_verb(using, say, trail, monkeypatch):
    monkeypatch.setattr(auditing, "MOST_OF_AGENTS", 2)
    say("m-1")
    writer, operator = using("writer", "harold"), using("operator", "harold")
    for ask, verb, kept in ((writer, "PATCH", 2), (operator, "PATCH", 4)):
        before = len(trail())
        for n in range(4):
            assert ask(verb, f"{HAROLD}/threads/t-1", json={"title": f"title {n}"}).status_code == 200
        assert len(trail()) - before == kept, ask
    writer("PATCH", f"{HAROLD}/settings", json={"set": {"timezone": "Europe/Oslo"}, "where": "store"})
    assert (trail()[-1].did, len(trail())) == ("settings_changed", 7)  # one verb hides no other one
    for body in ({"dry_run": True, "set": {"timezone": "UTC"}}, {"set": {"timezone": "Europe/Oslo"}}):
        assert operator("PATCH", f"{HAROLD}/settings", json=body).status_code == 200
    assert len(trail()) == 7


def test_what_was_tried_and_came_to_nothing_is_told_and_what_is_malformed_is_not(ask, trail):
    assert [ask("DELETE", HAROLD).status_code, ask("POST", f"{HAROLD}/migrate-scope").status_code] == [422, 422]
    assert trail() == []

    assert ask("POST", f"{HAROLD}/pause").status_code == 404
    assert told(trail()) == [("paused", "harold", "", "", "failed", "")]


def test_an_action_that_fails_is_told_unless_nothing_was_done(ask, say, trail, monkeypatch):
    say("m-1")
    for error, status, outcomes in [
        (StoreError("the store is away", stored=False), 503, []),
        (StoreError("the store is away", stored=None), 503, ["failed"]),
        (StoreError("the store is away", stored=True), 503, ["failed"]),
        (RuntimeError("a word of a message"), 500, ["failed"]),
    ]:
        before = len(trail())

        async def fails(*_, error=error):
            raise error

        monkeypatch.setattr(AsyncObservationalMemory, "pause", fails)
        assert ask("POST", f"{HAROLD}/pause").status_code == status
        found = [(each.outcome, each.status) for each in trail()[before:]]
        assert found == [(word, status) for word in outcomes], error
    assert "a word" not in repr(trail())


def test_an_action_whose_entry_the_store_does_not_take_is_answered_says_so_and_is_logged(
    ask, say, using, client, prefix
):
    say("m-1")
    assert "Om-Audit" not in ask("POST", f"{HAROLD}/resume").headers
    client.delete(f"{prefix}:audit")
    client.set(f"{prefix}:audit", "no stream", ex=60)
    with capture_logs() as logs:
        answer = ask("POST", f"{HAROLD}/pause")

    assert (answer.status_code, answer.json(), answer.headers["Om-Audit"]) == (200, {"outcome": "rest"}, "not-written")
    (lost,) = [line for line in logs if line["event"] == "audit_entry_lost"]
    assert (lost["did"], lost["resource"], lost["outcome"], len(lost["key"])) == ("paused", "harold", "done", 12)
    assert using("reader", "harold")("POST", f"{HAROLD}/pause").status_code == 403


def test_who_did_it_is_the_key_with_its_label_or_loopback(app, settings, ring, trail):
    key, token = ring.create(["harold"], "operator", label="shop assistant")
    app.post(f"{HAROLD}/pause?create=true", headers={"Authorization": f"Bearer {token}"})
    with serving(settings, locked=False) as http:
        http.post(f"{HAROLD}/pause")

    assert [(entry.who, entry.label) for entry in trail()] == [(key.id, "shop assistant"), ("loopback", "")]
