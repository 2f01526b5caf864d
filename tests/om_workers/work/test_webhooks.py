"""A round of webhooks: what happened arrives, once or again with the same id, and nobody waits for a receiver that fails."""

import json

import msgspec
import pytest
from receiver import receiving
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import StoreError
from om_api.domain.events import Event
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.delivery import ATTEMPTS
from om_api.store.fleet import event_stream, webhook_queue, webhook_records
from om_workers.work.webhook_sender import Answer, send
from om_workers.work.webhooks import WebhookRound


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, webhooks__allow_private="true", webhooks__timeout="5s")


@pytest.fixture
def hooks(world):
    return Hooks(world)


class Hooks:
    def __init__(self, world):
        self.world, self.run, self.keys = world, world.services.run, world.services.keys

    def add(self, url, *events, resources=("*",)):
        return self.run(webhook_records.add(self.keys, url, events, resources, allow_private=True))

    def tell(self, *kinds, resource="harold"):
        told = [Event(kind=kind, resource=resource) for kind in kinds]
        self.run(event_stream.publish(self.keys, told, None, 0))

    def deliver(self, *sender):
        return WebhookRound(self.world.services, *sender).deliver()

    def again(self, webhook):
        waiting = self.keys.waiting(webhook.id)
        for name in self.world.client.zrange(waiting, 0, -1):
            self.world.client.zadd(waiting, {name: 1})
        self.world.client.zadd(self.keys.due_webhooks, {webhook.id: 1})

    def state(self, webhook):
        found = self.run(webhook_records.get(self.keys, webhook.id))
        (state,) = self.run(webhook_records.states(self.keys, [found]))
        return state


def kinds(receiver):
    return [json.loads(each.body)["kind"] for each in receiver.came]


def test_what_was_asked_for_arrives_signed_as_http_gives_it_and_nothing_else(hooks, receiver):
    webhook = hooks.add(receiver.url, "reflected", "failed", resources=("worker-*",))
    hooks.tell("sealed", "reflected", resource="worker-1")
    hooks.tell("reflected", "failed", resource="harold")
    hooks.tell("failed", resource="worker-2")
    did = hooks.deliver()
    assert (did.queued, did.delivered) == (2, 2)
    assert sorted(json.loads(each.body)["resource"] for each in receiver.came) == ["worker-1", "worker-2"]
    first = min(receiver.came, key=lambda each: each.headers["webhook-id"])
    (event,) = hooks.world.om.events("0", kinds="reflected", resource_id="worker-1").events
    at = int(first.headers["webhook-timestamp"])
    assert first.body == msgspec.json.encode(event)
    assert first.headers["webhook-id"] == f"msg_{webhook.id}_{event.id}_reflected"
    assert first.headers["webhook-signature"] == "v1," + signing.signature(
        webhook.secret, first.headers["webhook-id"], at, first.body
    )
    assert (first.path, first.headers["host"]) == ("/hook?secret=in-the-query", f"127.0.0.1:{receiver.port}")
    assert abs(at - event.at / 1000) < 300


def test_a_worker_that_dies_between_sending_and_noting_it_leaves_a_repeat_with_the_same_id(
    hooks, receiver, monkeypatch
):
    """Time 0: it is sent and arrives. Time 1: the worker dies. Time 2: another one finds it due, and sends it again."""
    webhook = hooks.add(receiver.url)
    hooks.tell("reflected")

    def dies(*_):
        raise StoreError("the worker died here")

    with monkeypatch.context() as dying:
        dying.setattr(webhook_queue, "attempted", dies)
        with pytest.raises(StoreError, match="died here"):
            hooks.deliver()
    hooks.again(webhook)
    hooks.deliver()
    hooks.again(webhook)
    hooks.deliver()
    assert len(receiver.came) == 2
    assert len({each.headers["webhook-id"] for each in receiver.came}) == 1
    assert hooks.state(webhook).delivered == 1


def test_what_fails_is_tried_again_later_and_given_up_in_the_end(hooks, receiver):
    webhook = hooks.add(receiver.url)
    hooks.tell("reflected")
    receiver.says.extend([500] * ATTEMPTS)
    for attempt in range(ATTEMPTS):
        did = hooks.deliver()
        assert (did.failed, did.dead) == ((1, 0) if attempt < ATTEMPTS - 1 else (0, 1))
        assert hooks.deliver().failed == 0  # not before its wait is over
        hooks.again(webhook)
    hooks.deliver()
    (given_up,) = hooks.run(webhook_queue.dead(hooks.keys, webhook.id))
    assert len(receiver.came) == ATTEMPTS
    assert (given_up.attempts, given_up.error, given_up.kind) == (ATTEMPTS, "answered 500", "reflected")
    assert (hooks.state(webhook).waiting, hooks.state(webhook).dead) == (0, 1)
    assert {each.headers["webhook-id"] for each in receiver.came} == {given_up.id}


def test_410_disables_a_webhook_and_what_waits_for_it_waits_on(hooks, receiver):
    webhook = hooks.add(receiver.url)
    hooks.tell("reflected")
    receiver.says.append(410)
    hooks.deliver()
    hooks.tell("failed")
    hooks.deliver()
    assert len(receiver.came) == 1
    assert hooks.state(webhook).disabled == "its receiver answered 410 Gone"
    assert hooks.state(webhook).dead == 1
    found = hooks.run(webhook_records.get(hooks.keys, webhook.id))
    assert hooks.run(webhook_records.disable(hooks.keys, found, ""))
    hooks.tell("paused")
    hooks.deliver()
    assert kinds(receiver) == ["reflected", "paused"]


def test_a_receiver_that_does_not_answer_keeps_no_other_one_waiting(hooks, receiver):
    """The slow one's answer is awaited while the quick one gets everything: the round ends after both."""
    with receiving() as slow:
        slow.held.clear()
        hooks.add(slow.url)
        hooks.add(receiver.url)
        for n in range(9):
            hooks.tell("reflected", resource=f"agent-{n}")
        quick = []

        async def sender(webhook, delivery, at, **how):
            if webhook.url == receiver.url:
                quick.append(delivery.id)
                if len(quick) == 9:
                    slow.held.set()
            return await send(webhook, delivery, at, **how)

        did = hooks.deliver(sender)
    assert len(receiver.came) == 9
    assert did.failed == 0


def test_a_receiver_without_an_answer_in_time_failed(client, prefix, receiver):
    world = World(client, prefix, webhooks__allow_private="true", webhooks__timeout="1s")
    hooks = Hooks(world)
    hooks.tell("sealed")  # before there is a webhook
    webhook = hooks.add(receiver.url)
    hooks.tell("reflected")
    receiver.held.clear()
    with capture_logs() as lines:
        did = hooks.deliver()
    (waits,) = [json.loads(each) for each in client.hvals(hooks.keys.deliveries(webhook.id))]
    (line,) = [line for line in lines if line["event"] == "delivery_failed"]
    assert (did.failed, waits["error"], waits["attempts"]) == (1, "no answer in time", 1)
    assert (line["webhook"], line["host"], line["given_up"]) == (webhook.id, "127.0.0.1", False)
    assert not [word for word in ("in-the-query", "/hook", webhook.secret) if word in str(lines)]
    (counted,) = hooks.run(event_stream.counted(hooks.keys, [None]))
    assert counted["webhook|failed"] == 1


def test_of_more_than_may_wait_the_oldest_are_dropped_and_counted(client, prefix, receiver):
    world = World(client, prefix, webhooks__allow_private="true", webhooks__queue="10")
    hooks = Hooks(world)
    webhook = hooks.add(receiver.url)
    hooks.tell(*["sealed"] * 5)
    hooks.tell(*["reflected"] * 10)
    did = hooks.deliver()
    assert (did.queued, did.dropped, did.delivered) == (15, 5, 10)
    assert set(kinds(receiver)) == {"reflected"}
    assert hooks.state(webhook).dropped == 5


def test_a_sender_that_breaks_breaks_nothing_else(hooks, receiver):
    broken = hooks.add("http://127.0.0.1:9/broken")
    hooks.add(receiver.url)
    hooks.tell("reflected")

    async def sender(webhook, delivery, *_, **__):
        if webhook.id == broken.id:
            raise RuntimeError("with http://127.0.0.1:9/broken in it")
        return Answer()

    with capture_logs() as lines:
        did = hooks.deliver(sender)
    assert (did.delivered, did.failed) == (1, 1)
    assert "http://127.0.0.1:9/broken" not in str(lines)
