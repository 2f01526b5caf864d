"""The stream of events, the counters, and the failures of hooks."""

import pytest

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import GAP, Event, Wanted, check_event_id
from om_api.domain.webhooks.hook import Hook, HookFailure
from om_api.store.fleet import event_stream, hook_failures
from om_api.store.fleet.event_stream import BEGINNING, Caps

CAPS = Caps(10_000, 200)
ALL = Wanted()


def publish(store, *told, caps=CAPS, now=1_000):
    return store.run(event_stream.publish(store.keys, told, caps, now))


def sealed(n, resource="harold"):
    return Event(kind="sealed", resource=resource, thread="t-1", chunk=f"c-{n}", messages=n, message_tokens=0)


def since(store, after=BEGINNING, wanted=ALL, count=1_000):
    return store.run(event_stream.since(store.keys, after, wanted, count))


def chunks(told):
    return [event.chunk for event in told.events]


def test_an_event_is_read_as_it_was_published_with_its_id_and_the_servers_time(store):
    told = Event(kind="buffered", resource="harold", thread="t-1", seconds=0.25, cost=1e-06, tokens=0, model="a b")
    at = publish(store, told)
    (read,) = since(store).events
    assert (read.at, read.id.partition("-")[0]) == (at, str(at))
    assert (read.seconds, read.cost, read.tokens, read.model, read.chunk) == (0.25, 1e-06, 0, "a b", None)


def test_reading_goes_on_behind_an_id(store, monkeypatch):
    assert store.run(event_stream.newest(store.keys, ALL, 10)) == ([], BEGINNING)
    store.client.xadd(store.keys.events, {"kind": "sealed", "tokens": "many"})  # not ours: passed over
    store.client.xadd(store.keys.events, {b"\xff": b"\xff"})
    publish(store, *map(sealed, range(7)))
    for size in (event_stream._SLICE, 2):
        monkeypatch.setattr(event_stream, "_SLICE", size)
        first = since(store, count=2)
        rest = since(store, first.after)
        assert chunks(first) + chunks(rest) == [f"c-{n}" for n in range(7)]
        assert since(store, rest.after).events == []
        told = store.run(event_stream.newest(store.keys, Wanted(("sealed",)), 5))
        assert chunks(told) == [f"c-{n}" for n in range(2, 7)]
        assert since(store, told.after).events == []
    for _ in range(10):  # about as many are kept as the setting says
        publish(store, *map(sealed, range(50)), caps=Caps(100, 200))
    assert 100 <= store.client.xlen(store.keys.events) <= 200


def test_only_what_is_wanted_is_told_and_what_is_not_is_passed_over_for_good(store):
    publish(store, sealed(1), sealed(2, "albert"), Event(kind="cleared", resource="albert"), sealed(3))

    assert chunks(since(store, wanted=Wanted((), ("albert",)))) == ["c-2", None]
    told = since(store, wanted=Wanted(("sealed",), ("albert",)))
    assert (chunks(told), since(store, told.after).events) == (["c-2"], [])


def cut(store, keep):
    store.client.xtrim(store.keys.events, maxlen=keep, approximate=False)


def test_what_was_cut_off_unread_is_said_once_and_reading_goes_on(store):
    publish(store, sealed(0))
    seen = since(store).after
    publish(store, *map(sealed, range(1, 5)))
    read = since(store, count=4).after
    cut(store, 2)

    gap, *rest = since(store, seen).events
    assert (gap.kind, [event.chunk for event in rest]) == (GAP, ["c-3", "c-4"])
    assert [event.kind for event in since(store, gap.id).events] == ["sealed", "sealed"]
    assert chunks(since(store, read)) == ["c-4"]  # what was cut off had been read
    assert chunks(since(store, check_event_id("0"))) == ["c-3", "c-4"]  # the oldest kept, without a gap


def test_a_stream_that_was_lost_is_a_gap(store):
    for begun_anew in (False, True):
        store.client.delete(store.keys.events)
        if begun_anew:
            publish(store, sealed(1))
        told = since(store, "99999999999999-0")
        assert [event.kind for event in told.events] == [GAP, *["sealed"] * begun_anew]
        assert since(store, told.after).events == []


def test_counters_are_kept_for_a_resource_and_for_all(store):
    publish(store, Event(kind="failed", resource="harold", why="store"), Event(kind="failed", why="other"))
    store.run(event_stream.add(store.keys, {"harold": {"micros|observer": 7}, "albert": {"micros|observer": 5}}))

    assert store.run(event_stream.counted(store.keys, ["harold", "albert", None, "nobody"])) == [
        {"failed|store": 1, "micros|observer": 7},
        {"micros|observer": 5},
        {"failed|store": 1, "failed|other": 1, "micros|observer": 12},
        {},
    ]


def test_the_resources_met_first_are_measured_for_good_and_no_more_than_so_many(store):
    publish(store, sealed(1), caps=None)  # a client measures nobody
    assert store.run(event_stream.measured(store.keys, 9)) == []
    for now, name in enumerate(["zoe", "harold", "albert", "ada", "zoe"]):
        publish(store, sealed(1, name), caps=Caps(100, 2), now=now)
    assert store.run(event_stream.measured(store.keys, 9)) == ["zoe", "harold"]
    told = [store.run(event_stream.first_to_tell(store.keys, "2026-11-21:x")) for _ in range(3)]
    assert told == [True, False, False]


def test_a_lost_reply_counts_nothing_twice(store):
    """Catches a second try: nobody can know whether the first one counted, so best effort is one."""
    steps = event_stream.publish(store.keys, [Event(kind="quarantined", resource="harold", messages=1)], CAPS, 0)
    assert next(steps).once is True
    with pytest.raises(StoreError, match="lost"):
        steps.throw(StoreError("the reply is lost", stored=None))


def test_an_id_or_a_kind_that_does_not_exist_is_refused():
    for text in ("", "x", "1-", "1-2-3", "1 ", "99999999999999999999", "١", "-".join([str(2**64 - 1)] * 2)):
        with pytest.raises(InvalidInputError, match="no event's id"):
            check_event_id(text)
            pytest.fail(f"{text!r} is taken for an id")
    with pytest.raises(InvalidInputError, match=r"'seald'.*sealed, observing"):
        Wanted.of("seald", ())


CALM = Hook(entry_point="calm", on_failure="stop")


def failed(store, point="before_observe", hook=CALM, resource="harold"):
    return store.run(hook_failures.note(store.keys, resource, HookFailure(point, hook, "timeout", "a secret")))


def test_each_is_counted_and_the_first_of_an_hour_told(store, monkeypatch):
    monkeypatch.setattr("om_api.store.fleet.hook_failures.time.time", lambda: 36_000.0)
    first, again = failed(store), failed(store)
    other, elsewhere = failed(store, "after_observe"), failed(store, resource="bo")
    monkeypatch.setattr("om_api.store.fleet.hook_failures.time.time", lambda: 39_600.0)
    later = failed(store)

    assert [bool(each) for each in (first, again, other, elsewhere, later)] == [True, False, True, True, True]
    assert (first.kind, first.resource, first.setting) == ("hook_failed", "harold", "hooks.before_observe")
    assert (first.hook, first.why, first.then) == ("calm", "timeout", "stop")
    assert "secret" not in repr(first)
    harold, every = store.run(event_stream.counted(store.keys, ["harold", None]))
    assert hook_failures.failures(harold) == {("before_observe", "calm"): 3, ("after_observe", "calm"): 1}
    assert hook_failures.failures(every)["before_observe", "calm"] == 4
