"""Webhooks in the store: their records, and the queue of what is to be sent."""

import msgspec
import pytest
from scene import interrupted

from om_api import InvalidInputError
from om_api.domain.errors import QuotaReachedError
from om_api.domain.events import Event, Wanted
from om_api.domain.webhooks.delivery import delivery_of
from om_api.domain.webhooks.webhook import MOST, MOST_OF_A_KEY
from om_api.store.fleet import event_stream, webhook_queue, webhook_records
from om_api.store.fleet.webhook_queue import DEAD, judged
from om_api.store.memory import due


@pytest.fixture
def webhook(store):
    return store.run(webhook_records.add(store.keys, "https://example.org", (), (), allow_private=False))


def tell(store, *kinds):
    store.run(event_stream.publish(store.keys, [Event(kind=kind, resource="harold") for kind in kinds], None, 0))


def passed(store, *webhooks, most=100):
    return store.run(webhook_queue.fan_out(store.keys, webhooks, most))


def due_now(store, webhook, count=100):
    return store.run(webhook_queue.due_now(store.keys, webhook.id, store.run(due.server_ms()), count))


def note(store, webhook, tried, outcome, error="", wait_s=0):
    return store.run(webhook_queue.attempted(store.keys, webhook.id, tried, outcome, error, wait_s))


def figures(store, webhook):
    found = store.run(webhook_records.get(store.keys, webhook.id))
    (state,) = store.run(webhook_records.states(store.keys, [found]))
    return state


def test_events_are_passed_on_once_and_the_cursor_stands_behind_them(store, webhook):
    tell(store, "sealed", "reflected")

    assert passed(store, webhook) == (2, 0, 0, False)
    assert passed(store, webhook) == (0, 0, 0, False)
    assert store.client.get(store.keys.webhooks_cursor).decode() == store.run(event_stream.end(store.keys))
    store.client.delete(store.keys.webhooks_cursor)  # a lost second of the server: what waits already is not doubled
    passed(store, webhook)
    events = store.run(event_stream.newest(store.keys, Wanted(), 9)).events
    found = sorted((each.delivery for each in due_now(store, webhook)), key=lambda each: each.order)
    assert found == [delivery_of(webhook, event) for event in events]
    tell(store, *["sealed"] * (webhook_queue.AT_ONCE + 1))
    assert passed(store, webhook, most=1_000) == (webhook_queue.AT_ONCE, 0, 0, True)
    assert passed(store, webhook, most=1_000) == (1, 0, 0, False)


def test_who_read_the_same_events_at_the_same_time_passes_nothing_on(store, webhook):
    """Time 0: a worker reads events. Time 1: another one passes them on, and they are delivered. Time 2: the first one comes."""
    tell(store, "reflected")

    def another():
        assert passed(store, webhook).queued == 1
        (tried,) = due_now(store, webhook)
        note(store, webhook, tried, "delivered")

    first = webhook_queue.fan_out(store.keys, [webhook], 10)
    assert store.run(interrupted(first, "fan_out", another)) == (0, 0, 0, True)
    assert due_now(store, webhook) == []


def test_a_webhook_that_was_removed_meanwhile_gets_nothing(store, webhook):
    tell(store, "reflected")
    store.run(webhook_records.remove(store.keys, webhook.id))
    passed(store, webhook)
    store.run(webhook_queue.try_out(store.keys, webhook))

    assert due_now(store, webhook) == []
    assert store.client.exists(store.keys.arrived(webhook.id), store.keys.deliveries(webhook.id)) == 0


def test_events_that_were_trimmed_unread_are_a_gap(store, webhook):
    tell(store, "sealed")
    passed(store, webhook)
    tell(store, "sealed", "failed")
    store.client.xtrim(store.keys.events, maxlen=1, approximate=False)

    assert passed(store, webhook) == (2, 0, 1, False)
    assert {each.delivery.kind for each in due_now(store, webhook)} == {"sealed", "gap", "failed"}


def test_of_more_than_may_wait_the_oldest_go(store, webhook):
    tell(store, *["sealed"] * 12, "reflected")

    assert passed(store, webhook, most=3) == (13, 10, 0, False)
    kept = sorted((each.delivery for each in due_now(store, webhook)), key=lambda each: each.order)
    assert [each.kind for each in kept] == ["sealed", "sealed", "reflected"]
    assert (figures(store, webhook).dropped, figures(store, webhook).waiting) == (10, 3)
    tell(store, "sealed")
    assert passed(store, webhook, most=3) == (1, 1, 0, False)


@pytest.mark.parametrize("first", ["delivered", "failed", "dead"])
def test_of_several_who_made_the_same_attempt_the_first_one_is_noted(store, webhook, first):
    tell(store, "reflected")
    passed(store, webhook)
    (tried,) = due_now(store, webhook)
    assert note(store, webhook, tried, first, "answered 500", wait_s=60)
    before = store.client.hgetall(store.keys.figures(webhook.id))
    for late in ("delivered", "failed", "dead"):
        assert not note(store, webhook, tried, late, "no answer in time")
        assert store.client.hgetall(store.keys.figures(webhook.id)) == before, late
    seen = figures(store, webhook)
    assert (seen.failed, seen.dead) == (first == "failed", first == "dead")
    assert (seen.waiting, due_now(store, webhook)) == (first == "failed", [])
    if first == "failed":
        due_at = store.run(webhook_queue.next_due(store.keys, webhook.id))
        assert 30_000 < due_at - store.run(due.server_ms()) <= 60_000


def test_what_was_given_up_is_kept_with_its_error_for_a_week_and_may_be_sent_again(store, webhook):
    tell(store, "reflected", "failed")
    passed(store, webhook)
    for tried in due_now(store, webhook):
        note(store, webhook, tried, "dead", "answered 500")
    one, other = store.run(webhook_queue.dead(store.keys, webhook.id))

    assert (one.error, one.attempts) == ("answered 500", 1)
    assert 6 * 86_400 < store.client.ttl(store.keys.dead(webhook.id)) <= 7 * 86_400
    assert store.run(webhook_queue.retry(store.keys, webhook.id, one.id)) == 1
    assert [each.delivery.id for each in due_now(store, webhook)] == [one.id]
    assert (due_now(store, webhook)[0].delivery.attempts, figures(store, webhook).dead) == (0, 1)
    assert store.run(webhook_queue.retry(store.keys, webhook.id)) == 1
    assert {each.delivery.id for each in due_now(store, webhook)} == {one.id, other.id}
    assert store.run(webhook_queue.retry(store.keys, webhook.id)) == 0

    tell(store, *["sealed"] * (DEAD + 5))  # the newest are kept
    passed(store, webhook, most=1_000)
    for tried in due_now(store, webhook, count=1_000):
        note(store, webhook, tried, "dead", "answered 500")
    assert (figures(store, webhook).dead, figures(store, webhook).given_up) == (DEAD, 2 + DEAD + 7)
    name = store.keys.dead(webhook.id)
    eight_days_ago = store.run(due.server_ms()) - 8 * 86_400_000
    store.client.zadd(name, dict.fromkeys(store.client.zrange(name, 0, -1), eight_days_ago))
    assert store.run(webhook_queue.dead(store.keys, webhook.id)) == []
    assert store.run(webhook_queue.retry(store.keys, webhook.id)) == 0


def test_a_try_is_sent_at_once_and_told_how_it_went(store, webhook):
    def judgement():
        return judged(store.run(webhook_queue.await_attempt(store.keys, webhook.id, sent.id, 0)))

    sent = store.run(webhook_queue.try_out(store.keys, webhook))
    assert due_now(store, webhook)[0].delivery == sent
    assert judgement() == ("busy", "")
    for outcome, error in (("failed", "answered 500"), ("dead", "answered 410")):
        note(store, webhook, due_now(store, webhook)[0], outcome, error)
        assert judgement() == ("failed", error)
    sent = store.run(webhook_queue.try_out(store.keys, webhook))
    note(store, webhook, due_now(store, webhook)[0], "delivered")
    assert judgement() == ("delivered", "")


def test_a_key_that_is_not_ours_stops_the_step_before_it_writes(store, webhook):
    tell(store, "reflected")
    for name in ("waiting", "arrived", "deliveries", "figures"):
        key = getattr(store.keys, name)(webhook.id)
        store.client.set(key, "of somebody else")
        with pytest.raises(Exception, match=r"WRONGTYPE|wrong kind"):
            passed(store, webhook)
        store.client.delete(key)
    assert passed(store, webhook).queued == 1


def add(store, url="https://example.org/om", events=(), resources=(), by=""):
    return store.run(webhook_records.add(store.keys, url, events, resources, allow_private=False, by=by))


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


def test_one_key_cannot_take_every_place_of_webhooks(store):
    made = [add(store, by="k-1") for _ in range(MOST_OF_A_KEY)]
    with pytest.raises(QuotaReachedError, match="20 of this key; remove one first"):
        add(store, by="k-1")
    for by in ("k-2", ""):
        add(store, by=by)
    store.run(webhook_records.remove(store.keys, made[0].id))
    add(store, by="k-1")
    for n in range(MOST - MOST_OF_A_KEY - 2):
        store.client.hset(store.keys.webhooks, f"h-{n}", "{}")
    with pytest.raises(QuotaReachedError, match="100 in all; remove one first"):
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
