"""Events, tokens for them, webhooks and the audit trail over HTTP: who sees whose, page by page, and what is refused."""

import msgspec
import pytest
from refusals import problem
from served import serving
from structlog.testing import capture_logs

from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.webhooks.webhook import MOST_OF_A_KEY
from om_api.store.fleet import webhook_queue, webhook_records
from om_api.store.fleet.stream_tokens import LASTS_S
from om_api.store.memory import due

EVENTS, TOKEN, HOOKS, AUDIT = "/v1/events", "/v1/events/token", "/v1/webhooks", "/v1/audit"
URL = "https://example.org/om"
BOUND = [
    (["harold"], {}, ["harold"]), (["harold", "ada"], {}, ["harold", "ada"]),
    (["*"], {}, ["harold", "albert", "ada", ""]), (["*"], {"resource": ["albert", "ada"]}, ["albert", "ada"]),
    (["harold", "ada"], {"resource": "ada"}, ["ada"]),
]  # fmt: skip


def test_a_page_of_events_holds_the_newest_and_says_where_to_go_on(ask, publish):
    publish("sealed", "buffered", "activated")
    newest = ask("GET", EVENTS, params={"limit": 2}).json()
    oldest = ask("GET", EVENTS, params={"after": "0", "limit": 2}).json()
    rest = ask("GET", EVENTS, params={"after": oldest["after"]}).json()

    kinds = [[each["kind"] for each in page["items"]] for page in (newest, oldest, rest)]
    assert kinds == [["buffered", "activated"], ["sealed", "buffered"], ["activated"]]
    assert set(rest["items"][0]) == {"kind", "id", "at", "resource"}
    assert [ask("GET", EVENTS, params={"resource": ["harold"] * n}).status_code for n in (100, 101)] == [200, 422]


def test_a_key_sees_the_events_of_its_resources_and_of_nobody_else(using, publish, ring, client, prefix):
    """No command makes a key that is bound to nothing; were it taken as one that names none, it would see everybody's."""
    for resource in ("harold", "albert", "ada", ""):
        publish("failed", resource=resource)
    for bound, query, seen in BOUND:
        found = using("reader", *bound)("GET", EVENTS, params={"after": "0", **query}).json()
        assert [each.get("resource", "") for each in found["items"]] == seen, (bound, query)

    harold = using("operator", "harold")
    for accept in ("application/json", "text/event-stream"):  # before a stream begins
        for query, status in [
            *(({"resource": "albert"}, 403), ({"resource": ["harold", "albert"]}, 403), ({"resource": "*"}, 403)),
            *(({"kinds": "seald"}, 422), ({"after": "x"}, 422), ({"after": "1" * 42}, 422)),
            *(({"limit": 0}, 422), ({"limit": 501}, 422)),
        ]:
            problem(harold("GET", EVENTS, params=query, headers={"Accept": accept}), status)

    key, token = ring.create(["harold"], "reader")
    client.hset(f"{prefix}:keys", key.id, msgspec.json.encode(msgspec.structs.replace(key, resources=())))
    answer = using("reader", "x")("GET", EVENTS, params={"after": "0"}, headers={"Authorization": f"Bearer {token}"})
    assert "bound to no resource" in problem(answer, 403)["detail"]


@pytest.fixture
def token_of(app):
    """A token for the events that a key sees."""

    def made(key):
        answer = app.post(TOKEN, headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), answer.text
        assert (answer.json().keys(), answer.json()["expires_in"]) == ({"token", "expires_in"}, LASTS_S)
        assert str(key).split("_")[1] not in answer.json()["token"]
        return answer.json()["token"]

    return made


def test_a_token_shows_the_events_of_its_key_and_opens_nothing_else(app, ring, token_of, publish, using):
    publish("sealed")
    publish("failed", resource="albert")
    token = token_of(ring.create(["harold"], "reader")[1])
    found = app.get(EVENTS, params={"token": token, "after": "0"}).json()
    assert [each["kind"] for each in found["items"]] == ["sealed"]
    assert app.get(EVENTS, params={"token": token, "resource": "albert"}).status_code == 403

    powerful = token_of(ring.create(["*"], "operator")[1])
    for method, path in [
        ("POST", f"{TOKEN}?"), ("GET", "/v1/resources/harold/stats?"),
        ("DELETE", "/v1/resources/harold?confirm=harold&"), ("GET", "/metrics?"),
    ]:  # fmt: skip
        assert app.request(method, f"{path}token={powerful}").status_code == 401, path
        assert app.request(method, path, headers={"Authorization": f"Bearer {powerful}"}).status_code == 401, path
    for text in ("oms_x", "om_0123456789ab_" + "x" * 43, "ä\0", "x" * 5_000):
        assert app.get(EVENTS, params={"token": text}).status_code == 401, text[:20]
    assert using("reader", "harold")("GET", EVENTS, params={"token": "oms_x"}).status_code == 200  # the key goes before


def test_a_token_ends_after_a_minute_and_with_its_key_and_counts_against_its_rate(
    app, ring, token_of, client, prefix, settings
):
    def status(token):
        return app.get(EVENTS, params={"token": token}).status_code

    (gone, secret), (turned, old), (kept, still), (past, late) = (ring.create(["harold"], "reader") for _ in range(4))
    tokens = [token_of(each) for each in (secret, old, still, late)]
    ring.revoke(gone.id)
    ring.rotate(turned.id)
    ring.rotate(kept.id, grace=600)
    client.hset(f"{prefix}:keys", past.id, msgspec.json.encode(msgspec.structs.replace(past, expires_at=1)))
    assert [status(each) for each in tokens] == [401, 401, 200, 401]

    paced = token_of(ring.create(["harold"], "reader", rate="2/h")[1])
    assert [status(paced) for _ in range(2)] == [200, 429]

    client.delete(*client.keys(f"{prefix}:lock:stream-token:*"))
    told = app.get(EVENTS, params={"token": tokens[2]}, headers={"Accept": "text/event-stream", "Last-Event-ID": "1-0"})
    assert "POST /v1/events/token" in problem(told, 401)["detail"]
    with serving(settings, locked=False) as http:
        assert "none is needed" in problem(http.post(TOKEN), 422)["detail"]
        assert http.get(EVENTS, params={"token": "oms_x"}).status_code == 200


def test_a_token_is_said_by_no_log_and_by_no_refusal(app, ring, token_of):
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


# -- webhooks ----------------------------------------------------------------------------------------------------------


def make(ask, **fields):
    made = ask("POST", HOOKS, json={"url": URL, **fields})
    assert made.status_code == 200, made.text
    return made.json()


def test_a_webhook_is_made_listed_tried_and_removed(ask, world):
    made = make(ask, events=["reflected"])
    path, run, keys = f"{HOOKS}/{made['id']}", world.services.run, world.services.keys
    (listed,) = ask("GET", HOOKS).json()["items"]
    assert made["secret"].startswith("whsec_")
    assert (listed["id"], listed["events"], listed["resources"]) == (made["id"], ["reflected"], ["harold"])

    assert ask("POST", f"{path}/test").json()["outcome"] == "busy"
    (tried,) = run(webhook_queue.due_now(keys, made["id"], run(due.server_ms()), 10))
    run(webhook_queue.attempted(keys, made["id"], tried, "dead", "answered 500"))
    (dead,) = ask("GET", f"{path}/dead").json()["items"]
    assert (dead["id"], dead["error"]) == (tried.delivery.id, "answered 500")
    assert ask("POST", f"{path}/retry").json() == {"queued": 1}
    run(webhook_records.disable(keys, run(webhook_records.get(keys, made["id"])), "it is over"))
    assert ask("POST", f"{path}/test").status_code == 422
    assert ask("POST", f"{path}/enable").json() == {"outcome": "rest"}

    assert ask("DELETE", path).json() == {"outcome": "cleared"}
    assert "GET /v1/webhooks lists them" in problem(ask("DELETE", path), 404)["detail"]
    trail = world.om.audit().entries
    verbs = {"webhook_added", "webhook_tried", "webhook_retried", "webhook_enabled", "webhook_removed"}
    assert {each.did for each in trail} == verbs
    assert {each.of for each in trail if each.outcome == "done"} == {made["id"]}
    assert (made["secret"] in f"{trail} {listed}", URL in repr(trail)) == (False, False)


def test_a_key_makes_and_sees_webhooks_of_what_it_is_bound_to(using):
    """Catches an id that is enough: a key could end the webhook of another one, or read what was sent to it."""
    for keys, asked, status in [
        (["harold"], ["harold"], 200), (["harold"], [], 200), (["harold"], ["albert"], 403), (["harold"], ["*"], 403),
        (["harold"], ["har*"], 403), (["harold", "ada"], ["ada", "harold"], 200), (["*"], ["worker-*"], 200),
    ]:  # fmt: skip
        made = using("operator", *keys)("POST", HOOKS, json={"url": URL, "resources": asked})
        assert made.status_code == status, (keys, asked)
        assert status != 200 or sorted(made.json()["resources"]) == sorted(asked or keys)

    ask = using("operator", "ada")
    statuses = [ask("POST", HOOKS, json={"url": URL}).status_code for _ in range(MOST_OF_A_KEY + 1)]
    assert (set(statuses[:-1]), statuses[-1]) == ({200}, 409)

    everybody, albert = using("operator", "*"), using("operator", "albert")
    path = f"{HOOKS}/{make(everybody)['id']}"
    assert albert("GET", HOOKS).json()["items"] == []
    for method, tail in (("DELETE", ""), ("POST", "/test"), ("GET", "/dead"), ("POST", "/retry"), ("POST", "/enable")):
        assert albert(method, path + tail).status_code == 404, tail
    assert path.rpartition("/")[2] in everybody("GET", HOOKS).text
    refused = everybody("POST", HOOKS, json={"url": "https://127.0.0.1"})
    assert "no public address" in problem(refused, 422)["detail"]


def test_a_key_sees_the_audit_trail_of_its_resources_page_by_page(using, ask, world):
    done = [("harold", "paused"), ("harold", "resumed"), ("albert", "cleared"), ("ada", "cleared"), ("", "cleared")]
    for resource, did in done:
        world.om.add_audit(AuditEntry(did=did, via="cli", who="anna@ops", resource=resource))

    first = ask("GET", AUDIT, params={"limit": 1}).json()
    rest = ask("GET", AUDIT, params={"limit": 2, "cursor": first["next"]}).json()
    assert [each["did"] for each in (*first["items"], *rest["items"])] == ["resumed", "paused"]
    assert (rest["next"], set(rest["items"][0])) == (None, {"id", "at", "did", "via", "who", "resource"})
    for bound, query, seen in BOUND:
        found = using("operator", *bound)("GET", AUDIT, params=query).json()
        assert {each.get("resource", "") for each in found["items"]} == set(seen), (bound, query)
    for query, number in [({"who": "anna@ops"}, 2), ({"did": ["resumed"]}, 1), ({"since": 2**50}, 0)]:
        assert len(ask("GET", AUDIT, params=query).json()["items"]) == number, query
    problem(ask("GET", AUDIT, params={"resource": "albert"}), 403)
    for query in ({"did": "stole"}, {"since": -1}, {"since": 2**80}, {"cursor": "eA"}, {"limit": 0}):
        problem(ask("GET", AUDIT, params=query), 422)
