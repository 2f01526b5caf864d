"""What is told of requests: by whom, of what, before the answer; and what is told of none."""

import pytest
from fastapi.routing import iter_route_contexts
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import DID
from om_api.domain.errors import StoreError
from om_api.http import make_app
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


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.name)
def test_every_route_that_changes_something_names_a_verb_of_the_trail(route):
    changes = not route.methods <= {"GET", "HEAD"}

    assert route.audited.did in {"", *DID}
    assert bool(route.audited.did) == (changes and route.name not in AN_AGENTS_OWN) or route.name == "export_memory"


def test_what_an_agent_sends_is_all_that_is_left_out():
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

    assert told(trail())[1:] == [
        ("paused", "harold", "", "", "done", "rest"),
        ("resumed", "harold", "", "", "done", "rest"),
        ("forced", "harold", "t-1", "observe", "done", "busy"),
        ("restored", "harold", "", "0", "done", "restored"),
        ("erased", "harold", "t-1", "message a-18", "done", "cleared"),
        ("forgot", "harold", "", observation["id"], "done", "cleared"),
        ("migrated", "harold", "", "resource", "done", "rest"),
        ("exported", "harold", "", "", "done", ""),
        ("cleared", "harold", "t-1", "", "done", "cleared"),
        ("cleared", "harold", "", "", "done", "cleared"),
    ]
    assert {(each.via, each.status, len(each.who)) for each in trail()} == {("http", 200, 12)}


def test_webhooks_are_told_of_by_their_ids_and_never_with_secret_or_address(ask, using, trail):
    made = ask("POST", "/v1/webhooks", json={"url": "https://example.org/s3cret", "resources": ["harold"]}).json()
    for verb in ("test", "retry", "enable"):
        ask("POST", f"/v1/webhooks/{made['id']}/{verb}")
    ask("DELETE", f"/v1/webhooks/{made['id']}")
    using("operator", "*")("POST", "/v1/webhooks", json={"url": "https://example.org"})
    *own, of_all = trail()

    verbs = ["webhook_added", "webhook_tried", "webhook_retried", "webhook_enabled", "webhook_removed"]
    assert [(each.did, each.resource, each.of) for each in own] == [(verb, "harold", made["id"]) for verb in verbs]
    assert (of_all.did, of_all.resource) == ("webhook_added", "")
    assert "s3cret" not in repr(own)
    assert made["secret"] not in repr(own)


def test_a_line_is_told_of_by_where_it_stands_and_by_its_pin_and_never_by_its_words(ask, trail):
    at = "/v1/resources/harold"
    added = ask("POST", f"{at}/lines", json={"thread_id": "t-1", "text": "User never flies"}).json()
    corrected = ask("POST", f"{at}/lines/correct", json={"was": "User never flies", "now": "User flies"}).json()
    pin = ask("POST", f"{at}/pins", json={"line": "User flies"}).json()["pin"]
    ask("DELETE", f"{at}/pins/{pin['id']}")
    ask("POST", f"{at}/observations/{added['observation_id']}/undo")

    stands = added["observation_id"]
    assert corrected["observation_id"] == stands
    assert [(entry.did, entry.thread, entry.of) for entry in trail()] == [
        ("line_added", "t-1", stands),
        ("line_corrected", "t-1", stands),
        ("pinned", "t-1", pin["id"]),
        ("unpinned", "t-1", pin["id"]),
        ("line_undone", "t-1", stands),
    ]
    assert "flies" not in repr(trail())


def test_of_a_fact_that_was_erased_no_word_is_told_and_of_a_look_at_it_nothing(ask, say, trail):
    say("hunter2")
    ask("POST", f"{HAROLD}/erase", json={"matching": "about hunter2", "dry_run": True})
    ask("POST", f"{HAROLD}/erase", json={"matching": "about hunter2"})

    (entry,) = trail()
    assert (entry.did, entry.of, entry.ended) == ("erased", "a text", "cleared")
    assert "hunter2" not in repr(entry)


def test_an_agents_own_traffic_is_not_told(say, ask, trail):
    say("m-1")
    ask("POST", f"{HAROLD}/threads/t-1/sync", json={"messages": [{"role": "user", "content": "x"}]})
    ask("GET", f"{HAROLD}/threads/t-1/context")
    ask("GET", f"{HAROLD}/recall", params={"query": "about"})
    ask("POST", f"{HAROLD}/recall-tool", json={"query": "about"})
    ask("POST", "/v1/events/token")
    ask("GET", f"{HAROLD}/rejected")

    assert trail() == []


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
        ("paused", "harold", "", "", "refused", ""),
        ("refused", "harold", "t-1", "add_messages", "refused", ""),
        ("exported", "harold", "", "", "refused", ""),
        ("refused", "harold", "", "get_stats", "refused", ""),
        ("refused", "harold", "", "get_events", "refused", ""),
        ("refused", "", "", "get_costs_of_all", "refused", ""),
        ("webhook_added", "harold", "", "", "refused", ""),
    ]
    assert {each.status for each in trail()} == {403}
    assert len({each.who for each in trail()}) == 2


def test_strangers_fill_no_trail(app, trail):
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer om_{'0' * 12}_{'x' * 43}"}):
        assert app.post(f"{HAROLD}/pause", headers=header).status_code == 401

    assert trail() == []


def test_a_key_that_is_refused_for_ever_hides_nobodys_deeds(using, ask, trail):
    ask("POST", f"{HAROLD}/pause", params={"create": "true"})
    ada = using("operator", "ada")
    statuses = {ada("POST", f"{HAROLD}/pause").status_code for _ in range(REFUSALS + 10)}

    assert statuses == {403}
    assert len(trail()) == REFUSALS + 1


def test_what_was_named_by_a_stranger_breaks_no_line(using, trail):
    using("operator", "ada")("POST", "/v1/resources/a%0Ab%1B%5B2J%E2%80%AE/pause")

    (entry,) = trail()
    assert entry.resource == r"a\nb\u001b[2J\u202e"


@pytest.mark.parametrize(
    ("ask_for", "status", "entry"),
    [
        (("POST", f"{HAROLD}/pause"), 404, ("paused", "harold", "", "", "failed", "")),
        (("DELETE", HAROLD), 422, None),  # malformed: nothing was asked for yet
        (("POST", f"{HAROLD}/migrate-scope"), 422, None),
    ],
)
def test_what_was_tried_and_came_to_nothing_is_told_and_what_is_malformed_is_not(ask, trail, ask_for, status, entry):
    assert ask(*ask_for).status_code == status

    assert told(trail()) == ([entry] if entry else [])


@pytest.mark.parametrize(("stored", "outcomes"), [(False, []), (None, ["failed"]), (True, ["failed"])])
def test_an_action_of_which_nobody_knows_whether_it_was_done_is_told_and_one_that_was_not_is_not(
    ask, say, trail, monkeypatch, stored, outcomes
):
    async def lost(*_):
        raise StoreError("the store is away", stored=stored)

    say("m-1")
    monkeypatch.setattr(AsyncObservationalMemory, "pause", lost)

    assert ask("POST", f"{HAROLD}/pause").status_code == 503
    assert [(each.outcome, each.status) for each in trail()] == [(word, 503) for word in outcomes]


def test_an_action_that_ends_in_our_own_mistake_is_told(ask, say, trail, monkeypatch):
    async def broken(*_):
        raise RuntimeError("a word of a message")

    say("m-1")
    monkeypatch.setattr(AsyncObservationalMemory, "pause", broken)

    assert ask("POST", f"{HAROLD}/pause").status_code == 500
    assert [(each.outcome, each.status) for each in trail()] == [("failed", 500)]
    assert "a word" not in repr(trail())


def test_an_action_whose_entry_the_store_does_not_take_is_answered_says_so_and_is_logged(ask, say, client, prefix):
    say("m-1")
    client.set(f"{prefix}:audit", "no stream", ex=60)
    with capture_logs() as logs:
        answer = ask("POST", f"{HAROLD}/pause")

    assert (answer.status_code, answer.json(), answer.headers["Om-Audit"]) == (200, {"outcome": "rest"}, "not-written")
    (lost,) = [line for line in logs if line["event"] == "audit_entry_lost"]
    assert (lost["did"], lost["resource"], lost["outcome"], len(lost["key"])) == ("paused", "harold", "done", 12)


def test_a_refusal_whose_entry_the_store_does_not_take_is_a_refusal(using, client, prefix):
    client.set(f"{prefix}:audit", "no stream", ex=60)

    assert using("reader", "harold")("POST", f"{HAROLD}/pause").status_code == 403


def test_an_answer_that_was_told_says_nothing_of_it(ask, say):
    say("m-1")

    assert "Om-Audit" not in ask("POST", f"{HAROLD}/pause").headers


def test_the_entry_is_there_when_the_answer_is(ask, say, trail):
    say("m-1")
    for n in range(20):
        ask("POST", f"{HAROLD}/{'resume' if n % 2 else 'pause'}")

        assert len(trail()) == n + 1


def test_where_nobody_needs_a_key_it_is_loopback(settings, trail):
    from starlette.testclient import TestClient

    with TestClient(make_app(settings, locked=False), base_url="http://127.0.0.1") as http:
        http.post(f"{HAROLD}/pause", params={"create": "true"})

    (entry,) = trail()
    assert (entry.who, entry.label, entry.did) == ("loopback", "", "paused")


def test_a_key_is_told_with_its_label(app, ring, trail):
    key, token = ring.create(["harold"], "operator", label="shop assistant")
    app.post(f"{HAROLD}/pause", params={"create": "true"}, headers={"Authorization": f"Bearer {token}"})

    (entry,) = trail()
    assert (entry.who, entry.label) == (key.id, "shop assistant")
    assert str(token) not in repr(entry)
