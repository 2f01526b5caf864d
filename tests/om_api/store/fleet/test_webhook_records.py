"""Webhooks at rest: made for what comes, listed without a secret, ended with all that waits."""

import msgspec
import pytest

from om_api import InvalidInputError
from om_api.domain.events import Event
from om_api.domain.webhooks.webhook import MOST
from om_api.store.fleet import event_stream, webhook_queue, webhook_records


def add(store, url="https://example.org/om", events=(), resources=()):
    return store.run(webhook_records.add(store.keys, url, events, resources, allow_private=False))


def tell(store, *kinds):
    store.run(event_stream.publish(store.keys, [Event(kind=kind, resource="harold") for kind in kinds], None, 0))


def states(store):
    return store.run(webhook_records.states(store.keys, store.run(webhook_records.every(store.keys))))


def test_a_webhook_begins_behind_what_has_happened(store):
    first = add(store)
    tell(store, "sealed")
    second = add(store, events=["failed"], resources=["worker-*"])

    assert first.after == "0-0"
    assert second.after == store.run(event_stream.end(store.keys)) != "0-0"
    by_age = sorted([first, second], key=lambda each: (each.created_at, each.id))
    assert store.run(webhook_records.every(store.keys)) == by_age
    assert store.run(webhook_records.get(store.keys, second.id)) == second
    assert store.run(webhook_records.get(store.keys, "none")) is None


def test_what_is_listed_has_no_secret(store):
    for wrong in ({"url": "http://example.org"}, {"events": ["refected"]}, {"resources": ["a b"]}):
        with pytest.raises(InvalidInputError):
            add(store, **wrong)
    assert states(store) == []
    made = add(store)
    (listed,) = states(store)
    assert made.secret.startswith("whsec_")
    assert made.secret.encode() not in msgspec.json.encode(listed)
    assert (listed.id, listed.url, listed.waiting) == (made.id, made.url, 0)
    for n in range(MOST):
        store.client.hset(store.keys.webhooks, f"h-{n}", "{}")
    with pytest.raises(InvalidInputError, match="there are 100 webhooks already; remove one first"):
        add(store)


def test_a_webhook_is_removed_with_all_that_waits_for_it(store):
    gone, stays = add(store), add(store)
    tell(store, "reflected")
    store.run(webhook_queue.fan_out(store.keys, [gone, stays], 10))

    assert store.run(webhook_records.remove(store.keys, gone.id))
    assert not store.run(webhook_records.remove(store.keys, gone.id))
    assert [each.waiting for each in states(store)] == [1]
    assert store.client.zrange(store.keys.due_webhooks, 0, -1) == [stays.id.encode()]
    assert not [key for key in store.client.scan_iter(f"{store.keys.prefix}*") if gone.id.encode() in key]


def test_a_webhook_is_disabled_unless_it_was_changed_and_is_due_when_it_is_enabled(store):
    made = add(store)
    assert store.run(webhook_records.disable(store.keys, made, "because"))
    assert not store.run(webhook_records.disable(store.keys, made, "once more"))
    (found,) = store.run(webhook_records.every(store.keys))
    assert (found.disabled, found.secret) == ("because", made.secret)

    assert store.run(webhook_records.disable(store.keys, found, ""))
    assert store.run(webhook_records.get(store.keys, made.id)) == made
    assert store.client.zscore(store.keys.due_webhooks, made.id) is not None
    store.run(webhook_records.remove(store.keys, made.id))
    assert not store.run(webhook_records.disable(store.keys, made, "because"))
    assert states(store) == []  # one that is removed meanwhile is not brought back
