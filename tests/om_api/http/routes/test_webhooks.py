"""Webhooks over HTTP: operators', for what their key is bound to, without the secret after the first answer."""

import pytest

from om_api.domain.events import Event
from om_api.store.fleet import event_stream, webhook_queue, webhook_records
from om_api.store.memory import due

HOOKS = "/v1/webhooks"
URL = "https://example.org/om"


def make(ask, **fields):
    made = ask("POST", HOOKS, json={"url": URL, **fields})
    assert made.status_code == 200, made.text
    return made.json()


def test_a_webhook_is_made_listed_and_removed(ask):
    made = make(ask, events=["reflected"])
    (listed,) = ask("GET", HOOKS).json()["items"]

    assert made["secret"].startswith("whsec_")
    assert (listed["id"], listed["events"], listed["resources"], listed["waiting"]) == (
        made["id"], ["reflected"], ["harold"], 0
    )  # fmt: skip
    assert made["secret"] not in ask("GET", HOOKS).text
    assert ask("DELETE", f"{HOOKS}/{made['id']}").json() == {"outcome": "cleared"}
    gone = ask("DELETE", f"{HOOKS}/{made['id']}")
    assert (gone.status_code, "GET /v1/webhooks lists them" in gone.json()["detail"]) == (404, True)
    assert ask("GET", HOOKS).json()["items"] == []


@pytest.mark.parametrize(
    ("keys", "asked", "status"),
    [
        (["harold"], ["harold"], 200),
        (["harold"], [], 200),
        (["harold"], ["albert"], 403),
        (["harold"], ["*"], 403),
        (["harold"], ["har*"], 403),
        (["harold", "ada"], ["ada", "harold"], 200),
        (["*"], ["worker-*"], 200),
        (["*"], [], 200),
    ],
)
def test_a_key_makes_webhooks_for_what_it_is_bound_to(using, keys, asked, status):
    made = using("operator", *keys)("POST", HOOKS, json={"url": URL, "resources": asked})

    assert made.status_code == status
    assert status != 200 or sorted(made.json()["resources"]) == sorted(asked or keys)


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_who_is_no_operator_makes_and_sees_none(using, role):
    for method, path in (("GET", HOOKS), ("POST", HOOKS), ("DELETE", f"{HOOKS}/3f1c20a9be77")):
        assert using(role, "*")(method, path).status_code == 403


def test_a_webhook_of_others_is_not_there(using):
    """Catches an id that is enough: a key could end the webhook of another one, or read what was sent to it."""
    everybody, harold = using("operator", "*"), using("operator", "harold")
    made = make(everybody)
    path = f"{HOOKS}/{made['id']}"

    assert harold("GET", HOOKS).json()["items"] == []
    for method, tail in (("DELETE", ""), ("POST", "/test"), ("GET", "/dead"), ("POST", "/retry"), ("POST", "/enable")):
        assert harold(method, path + tail).status_code == 404, tail
    assert [each["id"] for each in everybody("GET", HOOKS).json()["items"]] == [made["id"]]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"url": "http://example.org"}, "webhooks.allow_private"),
        ({"url": "https://127.0.0.1"}, "no public address"),
        ({"url": URL, "events": ["refected"]}, "budget_reached"),
        ({"url": URL, "more": 1}, "more"),
        ({}, "url"),
    ],
)
def test_what_cannot_be_a_webhook_is_refused_with_what_can(using, body, says):
    refused = using("operator", "*")("POST", HOOKS, json=body)

    assert (refused.status_code, says in refused.text) == (422, True), refused.text


def test_what_was_given_up_is_listed_and_sent_again(ask, world):
    made, run, keys = make(ask), world.services.run, world.services.keys
    run(event_stream.publish(keys, [Event(kind="reflected", resource="harold")], None, 0))
    run(webhook_queue.fan_out(keys, run(webhook_records.every(keys)), 10))
    (tried,) = run(webhook_queue.due_now(keys, made["id"], run(due.server_ms()), 10))
    run(webhook_queue.attempted(keys, made["id"], tried, "dead", "answered 500"))
    path = f"{HOOKS}/{made['id']}"
    (dead,) = ask("GET", f"{path}/dead").json()["items"]

    assert (dead["id"], dead["error"]) == (tried.delivery.id, "answered 500")
    assert ask("POST", f"{path}/retry", params={"delivery": "msg_of_nobody"}).json() == {"queued": 0}
    assert ask("POST", f"{path}/retry").json() == {"queued": 1}
    assert ask("GET", f"{path}/dead").json()["items"] == []


def test_a_try_waits_for_a_worker_and_a_disabled_one_is_not_tried(ask, world):
    made = make(ask)
    path = f"{HOOKS}/{made['id']}"
    tried = ask("POST", f"{path}/test").json()
    assert (tried["outcome"], tried["error"]) == ("busy", "")

    found = world.services.run(webhook_records.get(world.services.keys, made["id"]))
    world.services.run(webhook_records.disable(world.services.keys, found, "it is over"))
    assert ask("POST", f"{path}/test").status_code == 422
    assert ask("POST", f"{path}/enable").json() == {"outcome": "rest"}
    assert ask("POST", f"{path}/test").status_code == 200
