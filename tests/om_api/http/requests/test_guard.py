"""Every endpoint x role x own or foreign resource, read off the app: an endpoint without a rule fails here, or cannot be made."""

import msgspec
import pytest
from fastapi.routing import iter_route_contexts
from refusals import problem
from starlette.testclient import TestClient
from world import contents, wait_until

from om_api import load_settings
from om_api.domain.api_keys import Role
from om_api.http import app as apps
from om_api.http import make_app
from om_api.http.requests.guard import Guarded

PUBLIC = {"/", "/.well-known/oauth-protected-resource/mcp", "/docs", "/healthz", "/readyz", "/v1/openapi.json"}
ROUTES = list(iter_route_contexts(make_app(load_settings(environ={})).routes))
#: what each endpoint is documented to need: a change here is a change of who may do what
NEEDED = {
    ("POST", "/v1/resources/{resource}/threads/{thread}/messages"): "writer",
    ("GET", "/v1/resources/{resource}/threads/{thread}/messages"): "reader",
    ("GET", "/v1/resources/{resource}/threads/{thread}/chunks"): "reader",
    ("POST", "/v1/resources/{resource}/threads/{thread}/sync"): "writer",
    ("GET", "/v1/resources/{resource}/threads/{thread}/context"): "reader",
    ("GET", "/v1/resources/{resource}/recall"): "reader",
    ("GET", "/v1/resources/{resource}/extracted"): "reader",
    ("GET", "/v1/resources/{resource}/working-memory"): "reader",
    ("PATCH", "/v1/resources/{resource}/working-memory"): "writer",
    ("PUT", "/v1/resources/{resource}/working-memory"): "writer",
    ("POST", "/v1/resources/{resource}/working-memory/undo"): "operator",
    ("GET", "/v1/resources/{resource}/working-memory/versions"): "reader",
    ("GET", "/v1/resources/{resource}/working-memory-tool"): "reader",
    ("POST", "/v1/resources/{resource}/working-memory-tool"): "writer",
    ("GET", "/v1/resources/{resource}/share-tool"): "reader",
    ("POST", "/v1/resources/{resource}/share-tool"): "writer",
    ("GET", "/v1/resources/{resource}/messages/{message}/around"): "reader",
    ("GET", "/v1/recall-tool"): "reader",
    ("POST", "/v1/resources/{resource}/recall-tool"): "reader",
    ("GET", "/v1/resources/{resource}/threads"): "reader",
    ("DELETE", "/v1/resources/{resource}/threads/{thread}"): "operator",
    ("PATCH", "/v1/resources/{resource}/threads/{thread}"): "writer",
    ("POST", "/v1/resources/{resource}/threads/{thread}/copies"): "writer",
    ("GET", "/v1/resources/{resource}/aliases"): "reader",
    ("PUT", "/v1/resources/{resource}/aliases/{alias}"): "operator",
    ("DELETE", "/v1/resources/{resource}/aliases/{alias}"): "operator",
    ("GET", "/v1/resources/{resource}/observations"): "reader",
    ("GET", "/v1/resources/{resource}/observations/{observation}/messages"): "reader",
    ("DELETE", "/v1/resources/{resource}/observations/{observation}"): "operator",
    ("POST", "/v1/resources/{resource}/lines"): "writer",
    ("POST", "/v1/resources/{resource}/lines/correct"): "operator",
    ("POST", "/v1/resources/{resource}/observations/{observation}/undo"): "operator",
    ("GET", "/v1/resources/{resource}/pins"): "reader",
    ("POST", "/v1/resources/{resource}/pins"): "operator",
    ("DELETE", "/v1/resources/{resource}/pins/{pin}"): "operator",
    ("GET", "/v1/resources/{resource}/reflections"): "reader",
    ("GET", "/v1/resources/{resource}/groups"): "reader",
    ("GET", "/v1/resources/{resource}/groups/{group}"): "reader",
    ("GET", "/v1/resources/{resource}/reflections/{n}/observations"): "reader",
    ("GET", "/v1/resources"): "reader",
    ("GET", "/v1/resources/{resource}/stats"): "reader",
    ("GET", "/v1/resources/{resource}/record"): "reader",
    ("GET", "/v1/resources/{resource}/settings"): "operator",
    ("PATCH", "/v1/resources/{resource}/settings"): "operator",
    ("GET", "/v1/models"): "operator",
    ("POST", "/v1/models/try"): "operator",
    ("GET", "/v1/prompts"): "operator",
    ("DELETE", "/v1/resources/{resource}"): "operator",
    ("POST", "/v1/resources/{resource}/erase"): "operator",
    ("POST", "/v1/resources/{resource}/redact"): "operator",
    ("GET", "/v1/resources/{resource}/hooks"): "operator",
    ("GET", "/v1/resources/{resource}/costs"): "reader",
    ("GET", "/v1/costs"): "operator",
    ("GET", "/v1/costs/agents"): "reader",
    ("GET", "/v1/agents"): "reader",
    ("GET", "/v1/series"): "reader",
    ("GET", "/v1/resources/{resource}/series"): "reader",
    ("GET", "/v1/resources/{resource}/export"): "operator",
    ("POST", "/v1/resources/{resource}/import"): "operator",
    ("POST", "/v1/resources/{resource}/reflections/{n}/restore"): "operator",
    ("POST", "/v1/resources/{resource}/observe"): "writer",
    ("POST", "/v1/resources/{resource}/reflect"): "writer",
    ("POST", "/v1/resources/{resource}/pause"): "operator",
    ("POST", "/v1/resources/{resource}/resume"): "operator",
    ("POST", "/v1/resources/{resource}/migrate-scope"): "operator",
    ("GET", "/v1/events"): "reader",
    ("POST", "/v1/events/token"): "reader",
    ("GET", "/v1/reviews"): "operator",
    ("GET", "/v1/resources/{resource}/review"): "operator",
    ("POST", "/v1/resources/{resource}/review/approve"): "operator",
    ("POST", "/v1/resources/{resource}/review/send-back"): "operator",
    ("GET", "/v1/rejected"): "operator",
    ("GET", "/v1/resources/{resource}/rejected"): "operator",
    ("POST", "/v1/resources/{resource}/rejected/{entry}/retry"): "operator",
    ("DELETE", "/v1/resources/{resource}/rejected/{entry}"): "operator",
    ("POST", "/v1/webhooks"): "operator",
    ("GET", "/v1/webhooks"): "operator",
    ("DELETE", "/v1/webhooks/{webhook}"): "operator",
    ("POST", "/v1/webhooks/{webhook}/test"): "operator",
    ("GET", "/v1/webhooks/{webhook}/dead"): "operator",
    ("POST", "/v1/webhooks/{webhook}/retry"): "operator",
    ("POST", "/v1/webhooks/{webhook}/enable"): "operator",
    ("GET", "/v1/audit"): "operator",
    ("GET", "/metrics"): "reader",
    ("POST", "/mcp"): "reader",
}
OF_ALL = {
    "/metrics",
    "/v1/costs",
    "/v1/models/try",
    "/v1/series",
}  # what is said of all resources together, or paid for by all, to keys that are bound to every one
SAID = {"messages": [{"role": "user", "content": "x"}]}
BODIES = {
    "messages": SAID,
    "sync": SAID,
    "observe": {},
    "reflect": {},
    "erase": {"matching": "mine"},
    "redact": {},
    "recall-tool": {"query": "mine"},
    "webhooks": {"url": "https://example.org"},
    "lines": {"thread_id": "t-1", "text": "mine"},
    "correct": {"was": "mine", "now": "ours"},
    "pins": {"line": "mine"},
    "copies": {"to": "t-2"},
    "{alias}": {"thread_id": "t-1"},
    "{thread}": {"title": "mine"},
}


def _asked(path, resource):
    body = BODIES.get(path.rpartition("/")[2])
    names = {"thread": "t-1", "observation": "o-1", "message": "m-1", "n": 1, "entry": "0" * 12, "webhook": "0" * 12}
    names |= {"pin": "p-1", "group": "k3fq7a2m", "alias": "t-3"}
    filled = path.format(resource=resource, **names) + f"?confirm={resource}&q=mine"
    return filled, {} if body is None else {"json": body}


def test_every_endpoint_is_guarded_or_public_and_needs_what_the_table_says():
    found = {(method, each.path): each.original_route for each in ROUTES for method in each.methods - {"HEAD"}}
    guarded = {where: str(route.role) for where, route in found.items() if isinstance(route, Guarded)}

    assert guarded == NEEDED
    assert {path for (_, path), route in found.items() if getattr(route, "of_all", False)} == OF_ALL
    assert {path for _, path in found.keys() - guarded.keys()} == PUBLIC


def test_whoever_needs_no_key_is_refused_only_while_the_store_is_away(app):
    paths = app.get("/v1/openapi.json").json()["paths"]

    assert [list(paths[path]["get"]["responses"]) for path in PUBLIC & paths.keys()] == [["200", "503"]] * 2


def test_an_endpoint_that_names_no_role_cannot_be_made():
    with pytest.raises(KeyError, match="x-role"):
        Guarded("/v1/forgotten", lambda: None)


@pytest.mark.parametrize("resource", ["harold", "albert"], ids=["own", "foreign"])
@pytest.mark.parametrize("role", list(Role))
def test_a_key_opens_what_its_role_and_its_resources_permit_and_nothing_else(world, using, client, role, resource):
    world.say("mine", resource="harold")
    world.say("not yours", resource="albert")
    before = contents(client, f"{world.prefix}:{{albert}}*")
    ask = using(role, "harold")

    for (method, path), needed in NEEDED.items():
        where, body = _asked(path, resource)
        status = ask(method, where, **body).status_code
        may = role.includes(Role(needed)) and (resource == "harold" or "{resource}" not in path) and path not in OF_ALL
        assert (status != 403) == may, f"{method} {where} as {role}: {status}"
        assert status < 500
        assert status != 401
    assert contents(client, f"{world.prefix}:{{albert}}*") == before


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer om_0123456789ab_" + "x" * 43, "Basic {}", "Bearer {}x", "{}", "Bearer {revoked}"],
)
def test_without_a_key_that_is_known_every_endpoint_stays_closed(app, ring, header):
    (_, token), (gone, revoked) = ring.create(["*"], "operator"), ring.create(["*"], "operator")
    ring.revoke(gone.id)
    headers = {} if header is None else {"Authorization": header.format(token, revoked=revoked)}

    for method, path in NEEDED:
        where, body = _asked(path, "harold")
        answer = app.request(method, where, headers=headers, **body)
        assert (answer.status_code, answer.headers["www-authenticate"].split()[0]) == (401, "Bearer")


@pytest.mark.parametrize("path", ["/v1/resources/anybody/threads", "/metrics"])
def test_a_key_for_every_resource_opens_every_resource_and_what_is_of_all(using, path):
    assert using("reader", "*")("GET", path).status_code == 200


def test_lists_across_resources_name_only_those_a_key_is_bound_to(world, using):
    for resource in ("harold", "albert"):
        world.client.rpush(f"{world.prefix}:{{{resource}}}:rejected", b"?")
        world.client.zadd(f"{world.prefix}:resources", {resource: 1})
    ask = using("operator", "harold")

    assert ask("GET", "/v1/resources").json()["items"] == ["harold"]
    assert [each["resource"] for each in ask("GET", "/v1/rejected").json()["items"]] == ["harold"]


def test_no_endpoint_across_resources_says_anything_of_one_that_a_key_is_not_bound_to(world, using):
    """Every one that names no resource in its path, read off the app as above: an endpoint made later is asked too."""
    world.say("not yours", resource="albert")
    world.settle()
    world.client.rpush(f"{world.prefix}:{{albert}}:rejected", b"?")
    ask = using("operator", "harold")
    across = [where for where in NEEDED if "{resource}" not in where[1]]

    for method, path in across:
        where, body = _asked(path, "harold")
        assert "albert" not in ask(method, where, **body).text, f"{method} {where}"
    assert across


def test_who_may_not_come_in_is_told_so_before_what_they_send_is_read(app, using):
    for http, expected in ((app.request, 401), (using("reader", "harold"), 403)):
        answer = http("POST", "/v1/resources/harold/threads/t-1/messages", content=b"{broken")
        assert answer.status_code == expected


def test_a_refusal_says_which_role_or_which_resource_is_needed(using):
    ask = using("reader", "harold")

    assert "writer is needed" in ask("POST", "/v1/resources/harold/observe", json={}).json()["detail"]
    assert "bound to harold" in ask("GET", "/v1/resources/albert/stats").json()["detail"]


def test_a_refusal_names_a_resource_of_the_longest_name_in_full_and_no_more(using):
    ask = using("reader", "h" * 200, "i" * 200)
    found = ask("GET", "/v1/events", params={"resource": "a" * 201}).json()["detail"]

    assert found == f"this key is bound to {'h' * 200}: use one that is bound to {'a' * 200}"


def test_a_rotated_key_opens_with_both_tokens_only_while_it_was_granted(app, ring):
    key, old = ring.create(["harold"], "reader")
    granted = ring.rotate(key.id, grace=60)
    statuses = [_status(app, token) for token in (old, granted)]
    last = ring.rotate(key.id)

    assert statuses == [200, 200]
    assert [_status(app, token) for token in (old, granted, last)] == [401, 401, 200]


def _status(app, token):
    return app.get("/v1/resources/harold/threads", headers={"Authorization": f"Bearer {token}"}).status_code


@pytest.mark.parametrize(
    ("base", "headers", "status"),
    [
        ("http://127.0.0.1:8000", {}, 200),
        ("http://localhost", {}, 200),
        ("http://[::1]:8000", {}, 200),
        ("http://attacker.example", {}, 403),
        ("http://127.0.0.1:8000", {"Origin": "http://attacker.example"}, 403),
    ],
)
def test_without_keys_programs_on_this_machine_are_answered_and_pages_in_a_browser_are_not(
    settings, client, base, headers, status
):
    with TestClient(make_app(settings, locked=False), base_url=base) as http:
        found = [http.get("/v1/resources/harold/threads", headers=headers).status_code]
        found.append(http.post("/v1/resources/harold/pause?create=true", headers=headers).status_code)

    assert found == [status, status]


def test_a_key_that_has_expired_opens_nothing_and_says_so_to_whoever_has_it_alone(app, ring, client, prefix):
    key, token = ring.create(["harold"], "reader", expires_s=60)
    before = _status(app, token)
    client.hset(f"{prefix}:keys", key.id, msgspec.json.encode(msgspec.structs.replace(key, expires_at=1)))
    answers = [
        app.get("/v1/resources/harold/stats", headers={"Authorization": f"Bearer {each}"})
        for each in (token, token._replace(secret="x" * 43))
    ]

    assert before == 200
    assert [each.headers["www-authenticate"] for each in answers] == ["Bearer", "Bearer"]
    assert f"key {key.id} has expired" in problem(answers[0], 401)["detail"]
    assert "expired" not in problem(answers[1], 401)["detail"]


def test_a_key_with_a_rate_is_held_to_it_by_all_processes_together(settings, ring):
    _, token = ring.create(["harold"], "reader", rate="3/h")
    _, free = ring.create(["harold"], "reader")
    with TestClient(make_app(settings)) as one, TestClient(make_app(settings)) as other:
        statuses = [_status(http, token) for http in (one, other, one)]
        refused = other.get("/v1/resources/harold/stats", headers={"Authorization": f"Bearer {token}"})
        others = _status(one, free)

    assert statuses == [200, 200, 200]
    assert "3 requests an hour: repeat in" in problem(refused, 429)["detail"]
    assert 0 < int(refused.headers["retry-after"]) <= 3_600
    assert others == 200


def test_a_wrong_secret_uses_up_nobodys_rate(app, ring):
    _, token = ring.create(["harold"], "reader", rate="1/h")
    wrong = [_status(app, token._replace(secret="x" * 43)) for _ in range(3)]

    assert wrong == [401] * 3
    assert [_status(app, token), _status(app, token)] == [200, 429]


def test_when_a_key_was_used_is_told_once_in_a_while_and_costs_a_request_nothing(settings, ring, monkeypatch):
    key, token = ring.create(["harold"], "reader")
    other, wrong = ring.create(["harold"], "reader")
    monkeypatch.setattr(apps, "USED_S", 0.02)
    with TestClient(make_app(settings)) as http:
        _status(http, wrong._replace(secret="x" * 43))
        _status(http, token)
        wait_until(lambda: ring.uses(), "the use")

        assert ring.uses().keys() == {key.id}
    assert other.id not in ring.uses()
    assert ring.uses()[key.id] >= key.created_at


def test_a_process_that_ends_tells_which_keys_were_used(settings, ring):
    key, token = ring.create(["harold"], "reader")
    with TestClient(make_app(settings)) as http:
        _status(http, token)
        before = ring.uses()

    assert before == {}
    assert ring.uses().keys() == {key.id}
