"""`om webhooks`: a secret is shown once, what waits and what was given up is listed, and a webhook can be tried out."""

import json
import threading

import pytest
from world import World

from om_api.domain.events import KINDS, Event
from om_api.store.fleet import event_stream, webhook_queue, webhook_records
from om_api.store.memory import due
from om_workers.work.webhooks import WebhookRound

URL = "https://example.org/om"


@pytest.fixture
def workers(client, prefix, monkeypatch):
    monkeypatch.setenv("OM_WEBHOOKS__ALLOW_PRIVATE", "true")
    return World(client, prefix, webhooks__allow_private="true")


def given_up(world, webhook):
    run, keys = world.services.run, world.services.keys
    run(event_stream.publish(keys, [Event(kind="reflected", resource="harold")], None, 0))
    run(webhook_queue.fan_out(keys, run(webhook_records.every(keys)), 10))
    (tried,) = run(webhook_queue.due_now(keys, webhook, run(due.server_ms()), 10))
    run(webhook_queue.attempted(keys, webhook, tried, "dead", "answered 500"))
    return tried.delivery.id


def test_a_secret_is_all_that_is_printed_and_no_list_shows_it(om, om_json):
    made = om("webhooks", "add", URL, "--events", "reflected, failed", "--events", "paused", "--resource", "worker-*")
    secret = made.stdout.strip()
    (listed,) = om_json("webhooks", "list")
    assert secret.startswith("whsec_")
    assert "only time" in made.stderr
    assert (listed["url"], listed["events"], listed["resources"]) == (
        URL, ["reflected", "failed", "paused"], ["worker-*"]
    )  # fmt: skip
    assert secret not in om("webhooks", "list").output + json.dumps(listed)
    assert "active" in om("webhooks", "list").stdout


def test_what_cannot_be_done_is_said(om):
    for words, code, says in (
        ("add http://example.org", 2, "webhooks.allow_private"),
        ("add https://127.0.0.1", 2, "no public address"),
        (f"add {URL} --events refected", 2, ", ".join(KINDS)),
        ("remove harold", 2, "is no webhook's id: om webhooks list"),
        *((f"{verb} 3f1c20a9be77", 1, "there is no webhook") for verb in ("remove", "test", "dead", "retry", "enable")),
    ):
        refused = om("webhooks", *words.split())
        assert (refused.exit_code, says in refused.stderr) == (code, True), words


@pytest.mark.parametrize(("status", "code", "says"), [(204, 0, "delivered\n"), (500, 1, "failed\n")])
def test_a_try_says_what_the_receiver_made_of_it(om, om_json, workers, receiver, status, code, says):
    receiver.says.append(status)
    made = om_json("webhooks", "add", receiver.url)
    ended = threading.Event()

    def work():
        while not ended.wait(0.05):
            WebhookRound(workers.services).deliver()

    working = threading.Thread(target=work)
    working.start()
    try:
        tried = om("webhooks", "test", made["id"])
    finally:
        ended.set()
        working.join()
    assert (tried.exit_code, tried.stdout.endswith(says)) == (code, True)  # the workers' log comes there too
    assert ("answered 500" in tried.stderr) == (status == 500)
    assert json.loads(receiver.came[0].body)["kind"] == "test"


def test_what_was_given_up_is_listed_and_sent_again(om, om_json, world):
    made = om_json("webhooks", "add", URL)
    name = given_up(world, made["id"])
    (dead,) = om_json("webhooks", "dead", made["id"])
    assert (dead["id"], dead["error"], dead["attempts"]) == (name, "answered 500", 1)
    assert "answered 500" in om("webhooks", "dead", made["id"]).stdout
    assert om("webhooks", "retry", made["id"], "msg_of_nobody").exit_code == 1
    assert om_json("webhooks", "retry", made["id"], name) == {"queued": 1}
    assert om("webhooks", "retry", made["id"]).stdout == "0 deliveries wait to be sent\n"
    assert om_json("webhooks", "dead", made["id"]) == []
