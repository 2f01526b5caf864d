"""Every endpoint x role x own or foreign resource, read off the app: an endpoint without a rule fails here, or cannot be made."""

import asyncio
from types import SimpleNamespace

import msgspec
import pytest
from fastapi import Request
from fastapi.routing import iter_route_contexts
from refusals import problem
from served import LOCAL, serving
from world import contents, wait_until

from om_api import load_settings
from om_api.domain.api_keys import Role
from om_api.domain.errors import StoreError
from om_api.http import app as apps
from om_api.http import make_app
from om_api.http.requests import guard
from om_api.http.requests.guard import Guarded
from om_api.http.serving.server import Shutdown
from om_api.http.serving.shares import Shares
from om_api.settings.sections.api_settings import ApiSettings

PUBLIC = {"/", "/.well-known/oauth-protected-resource/mcp", "/docs", "/healthz", "/readyz", "/v1/openapi.json"}
ROUTES = list(iter_route_contexts(make_app(load_settings(environ={})).routes))
#: the role that each endpoint is documented to need, R for a resource: a change here is a change of who may do what
_ROLES = {
    "reader": """
        GET R/threads/{thread}/messages, GET R/threads/{thread}/chunks, GET R/threads/{thread}/context, GET R/recall,
        GET R/extracted, GET R/working-memory, GET R/working-memory/versions, GET R/working-memory-tool,
        GET R/share-tool, GET R/messages/{message}/around, POST R/recall-tool, GET R/threads, GET R/aliases,
        GET R/observations, GET R/observations/{observation}/messages, GET R/pins, GET R/reflections, GET R/groups,
        GET R/groups/{group}, GET R/reflections/{n}/observations, GET R/stats, GET R/record, GET R/costs, GET R/series,
        GET /v1/recall-tool, GET /v1/resources, GET /v1/costs/agents, GET /v1/agents, GET /v1/series, GET /v1/events,
        POST /v1/events/token, GET /metrics, POST /mcp""",
    "writer": """
        POST R/threads/{thread}/messages, POST R/threads/{thread}/sync, PATCH R/working-memory, PUT R/working-memory,
        POST R/working-memory-tool, POST R/share-tool, PATCH R/threads/{thread}, POST R/threads/{thread}/copies,
        POST R/lines, POST R/observe, POST R/reflect, PATCH R/settings""",
    "operator": """
        POST R/working-memory/undo, DELETE R/threads/{thread}, PUT R/aliases/{alias}, DELETE R/aliases/{alias},
        DELETE R/observations/{observation}, POST R/lines/correct, POST R/observations/{observation}/undo,
        POST R/pins, DELETE R/pins/{pin}, GET R/settings, DELETE R, POST R/erase, POST R/redact,
        GET R/hooks, GET R/export, POST R/import, POST R/reflections/{n}/restore, POST R/pause, POST R/resume,
        POST R/migrate-scope, GET R/review, POST R/review/approve, POST R/review/send-back, GET R/rejected,
        POST R/rejected/{entry}/retry, DELETE R/rejected/{entry},
        GET /v1/models, POST /v1/models/try, GET /v1/prompts, GET /v1/costs, GET /v1/reviews, GET /v1/rejected,
        POST /v1/webhooks, GET /v1/webhooks, DELETE /v1/webhooks/{webhook}, POST /v1/webhooks/{webhook}/test,
        GET /v1/webhooks/{webhook}/dead, POST /v1/webhooks/{webhook}/retry, POST /v1/webhooks/{webhook}/enable,
        GET /v1/audit""",
}
NEEDED = {
    tuple(each.strip().replace(" R", " /v1/resources/{resource}").split(" ")): role
    for role, endpoints in _ROLES.items()
    for each in endpoints.split(",")
}
#: what is said of all resources together, or paid for by all, to keys that are bound to every one
OF_ALL = {"/metrics", "/v1/costs", "/v1/models/try", "/v1/series"}
SAID = {"messages": [{"role": "user", "content": "x"}]}
BODIES = {
    "messages": SAID, "sync": SAID, "observe": {}, "reflect": {}, "redact": {}, "erase": {"matching": "mine"},
    "recall-tool": {"query": "mine"}, "webhooks": {"url": "https://example.org"}, "pins": {"line": "mine"},
    "lines": {"thread_id": "t-1", "text": "mine"}, "correct": {"was": "mine", "now": "ours"}, "copies": {"to": "t-2"},
    "{alias}": {"thread_id": "t-1"}, "{thread}": {"title": "mine"},
}  # fmt: skip


@pytest.mark.parametrize("cancelled", [True, False], ids=["when the grace is over", "while it waits for another read"])
def test_a_request_that_a_stop_ends_is_answered_that_it_be_repeated(monkeypatch, cancelled):
    (handle,) = [each.original_route.get_route_handler() for each in ROUTES if each.path == "/v1/events"]
    share, stopping = Shares(ApiSettings()).enter("k"), Shutdown()
    share.lane.reads_much = True
    waits = asyncio.sleep if cancelled else lambda *_: guard._may_read(None, share)
    monkeypatch.setattr(Guarded, "_let_in", lambda *_: waits(60))
    monkeypatch.setattr(guard, "app_state", lambda _: SimpleNamespace(stopping=stopping))

    async def stopped():
        await share.lane.heavy.acquire()
        task = asyncio.create_task(handle(Request({"type": "http", "path_params": {}, "query_string": b""})))
        asyncio.get_running_loop().call_later(0.01, task.cancel if cancelled else stopping.tell)
        await task

    with pytest.raises(StoreError, match="repeat the request") as caught:
        asyncio.run(stopped())
    assert caught.value.stored is None


def _asked(path, resource):
    body = BODIES.get(path.rpartition("/")[2])
    names = {"thread": "t-1", "observation": "o-1", "message": "m-1", "n": 1, "entry": "0" * 12, "webhook": "0" * 12}
    names |= {"pin": "p-1", "group": "k3fq7a2m", "alias": "t-3"}
    filled = path.format(resource=resource, **names) + f"?confirm={resource}&q=mine"
    return filled, {} if body is None else {"json": body}


def _status(app, token):
    return app.get("/v1/resources/harold/threads", headers={"Authorization": f"Bearer {token}"}).status_code


def test_every_endpoint_is_guarded_or_public_and_needs_what_the_table_says():
    found = {(method, each.path): each.original_route for each in ROUTES for method in each.methods - {"HEAD"}}
    guarded = {where: str(route.role) for where, route in found.items() if isinstance(route, Guarded)}

    assert guarded == NEEDED
    assert {path for (_, path), route in found.items() if getattr(route, "of_all", False)} == OF_ALL
    assert {path for _, path in found.keys() - guarded.keys()} == PUBLIC
    with pytest.raises(KeyError, match="x-role"):
        Guarded("/v1/forgotten", lambda: None)


def test_a_key_opens_what_its_role_permits_and_nothing_else(world, using):
    for role in Role:
        world.say("mine", resource="harold")
        ask = using(role, "harold")
        for (method, path), needed in NEEDED.items():
            where, body = _asked(path, "harold")
            status = ask(method, where, **body).status_code
            may = role.includes(Role(needed)) and path not in OF_ALL
            assert (status != 403) == may, f"{method} {where} as {role}: {status}"
            assert status < 500, where
            assert status != 401, where


def test_a_key_opens_nothing_of_a_resource_that_it_is_not_bound_to(world, using, client):
    world.say("not yours", resource="albert")
    before = contents(client, f"{world.prefix}:{{albert}}*")
    for role in (Role.READER, Role.OPERATOR):
        ask = using(role, "harold")
        for (method, path), needed in NEEDED.items():
            if "{resource}" in path and (role is Role.OPERATOR or needed == "reader"):
                where, body = _asked(path, "albert")
                assert ask(method, where, **body).status_code == 403, f"{method} {where} as {role}"
    assert contents(client, f"{world.prefix}:{{albert}}*") == before


def test_without_a_key_that_is_known_every_endpoint_stays_closed(app, ring):
    (_, token), (gone, revoked) = ring.create(["*"], "operator"), ring.create(["*"], "operator")
    ring.revoke(gone.id)
    unknown = [None, "", "Bearer", "Bearer om_0123456789ab_" + "x" * 43, f"Basic {token}", f"Bearer {token}x"]
    first, *_ = NEEDED
    for header in [*unknown, f"{token}", f"Bearer {revoked}"]:
        headers = {} if header is None else {"Authorization": header}
        for method, path in NEEDED if header is None or header.endswith(str(revoked)) else [first]:
            where, body = _asked(path, "harold")
            answer = app.request(method, where, headers=headers, **body)
            told = answer.status_code, answer.headers["www-authenticate"].split()[0]
            assert told == (401, "Bearer"), (header, where)


def test_no_endpoint_across_resources_says_anything_of_one_that_a_key_is_not_bound_to(world, using):
    """Every one that names no resource in its path, read off the app as above: an endpoint made later is asked too."""
    for resource in ("harold", "albert"):
        world.say("words", resource=resource)
        world.settle()
        world.client.rpush(f"{world.prefix}:{{{resource}}}:rejected", b"?")
    ask, every = using("operator", "harold"), using("reader", "*")
    for method, path in [where for where in NEEDED if "{resource}" not in where[1]]:
        where, body = _asked(path, "harold")
        assert "albert" not in ask(method, where, **body).text, f"{method} {where}"

    assert ask("GET", "/v1/resources").json()["items"] == ["harold"]
    assert [each["resource"] for each in ask("GET", "/v1/rejected").json()["items"]] == ["harold"]
    assert [every("GET", f"/{path}").status_code for path in ("v1/resources/any/threads", "metrics")] == [200, 200]


def test_a_refusal_comes_before_the_body_is_read_and_says_what_is_needed(app, using):
    ask = using("reader", "harold")
    for http, expected in ((app.request, 401), (ask, 403)):
        answer = http("POST", "/v1/resources/harold/threads/t-1/messages", content=b"{broken")
        assert answer.status_code == expected

    assert "writer is needed" in ask("POST", "/v1/resources/harold/observe", json={}).json()["detail"]


def test_without_keys_programs_on_this_machine_are_answered_and_pages_in_a_browser_are_not(settings, client):
    for base, headers, status in [
        (LOCAL, {}, 200), ("http://localhost", {}, 200), ("http://[::1]:8000", {}, 200),
        ("http://attacker.example", {}, 403), (LOCAL, {"Origin": "http://attacker.example"}, 403),
    ]:  # fmt: skip
        with serving(settings, locked=False, base_url=base) as http:
            found = [http.get("/v1/resources/harold/threads", headers=headers).status_code]
            found.append(http.post("/v1/resources/harold/pause?create=true", headers=headers).status_code)
        assert found == [status, status], (base, headers)


def test_a_key_that_has_expired_opens_nothing_and_says_so_to_whoever_has_it_alone(app, ring, client, prefix):
    key, token = ring.create(["harold"], "reader", expires_s=60)
    before = _status(app, token)
    client.hset(f"{prefix}:keys", key.id, msgspec.json.encode(msgspec.structs.replace(key, expires_at=1)))
    answers = [
        app.get("/v1/resources/harold/stats", headers={"Authorization": f"Bearer {each}"})
        for each in (token, token._replace(secret="x" * 43))
    ]

    assert before == 200
    assert f"key {key.id} has expired" in problem(answers[0], 401)["detail"]
    assert "expired" not in problem(answers[1], 401)["detail"]


def test_a_key_with_a_rate_is_held_to_it_by_all_processes_together(settings, ring):
    (_, token), (_, free) = ring.create(["harold"], "reader", rate="3/h"), ring.create(["harold"], "reader")
    with serving(settings) as one, serving(settings) as other:
        wrong = [_status(one, token._replace(secret="x" * 43)) for _ in range(4)]  # which uses up nobody's rate
        statuses = [_status(http, token) for http in (one, other, one)]
        refused = other.get("/v1/resources/harold/stats", headers={"Authorization": f"Bearer {token}"})
        others = _status(one, free)

    assert (wrong, statuses, others) == ([401] * 4, [200] * 3, 200)
    assert "3 requests an hour: repeat in" in problem(refused, 429)["detail"]
    assert 0 < int(refused.headers["retry-after"]) <= 3_600


def test_which_keys_were_used_is_noted_now_and_then_and_at_the_end_of_a_process(settings, ring, monkeypatch):
    (key, token), (_, wrong), (last, at_the_end) = (ring.create(["harold"], "reader") for _ in range(3))
    monkeypatch.setattr(apps, "USED_S", 0.02)
    with serving(settings) as http:
        _status(http, wrong._replace(secret="x" * 43))
        _status(http, token)
        wait_until(lambda: ring.uses(), "the use")
    assert ring.uses().keys() == {key.id}
    assert ring.uses()[key.id] >= key.created_at

    monkeypatch.setattr(apps, "USED_S", 60)
    with serving(settings) as http:
        _status(http, at_the_end)
        assert last.id not in ring.uses()
    assert last.id in ring.uses()
