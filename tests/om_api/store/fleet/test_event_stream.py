"""The stream of events and the counters: what is appended, what is read on from where, and what was cut off."""

import pytest
from redis.exceptions import ConnectionError as NotConnected

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import BOUNDS, GAP, Event, Wanted, bucket, check_event_id, counts_of
from om_api.store.driver.connection import Connection
from om_api.store.fleet import event_stream
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
    given = Event(kind="buffered", resource="harold", thread="t-1", seconds=0.25, cost=1e-06, tokens=0, model="a b")
    at = publish(store, given)

    (read,) = since(store).events
    assert (read.at, read.id.partition("-")[0]) == (at, str(at))
    assert {name: getattr(read, name) for name in ("seconds", "cost", "tokens", "model", "chunk")} == {
        "seconds": 0.25,
        "cost": 1e-06,
        "tokens": 0,
        "model": "a b",
        "chunk": None,
    }


def test_reading_goes_on_behind_an_id(store):
    publish(store, *map(sealed, range(5)))
    first = since(store, count=2)
    rest = since(store, first.after)

    assert (chunks(first), chunks(rest)) == (["c-0", "c-1"], ["c-2", "c-3", "c-4"])
    assert since(store, rest.after).events == []


def test_the_newest_come_oldest_first_and_reading_goes_on_behind_all(store):
    publish(store, *map(sealed, range(5)))
    told = store.run(event_stream.newest(store.keys, ALL, 2))

    assert chunks(told) == ["c-3", "c-4"]
    assert since(store, told.after).events == []


def test_an_empty_stream_is_read_on_from_its_beginning(store):
    told = store.run(event_stream.newest(store.keys, ALL, 10))
    publish(store, sealed(1))

    assert told == ([], BEGINNING)
    assert chunks(since(store, told.after)) == ["c-1"]


def test_only_what_is_wanted_is_told_and_what_is_not_is_passed_over_for_good(store):
    publish(store, sealed(1), sealed(2, "albert"), Event(kind="cleared", resource="albert"), sealed(3))

    assert chunks(since(store, wanted=Wanted((), ("albert",)))) == ["c-2", None]
    told = since(store, wanted=Wanted(("sealed",), ("albert",)))
    assert (chunks(told), since(store, told.after).events) == (["c-2"], [])


def test_slices_make_no_difference(store, monkeypatch):
    monkeypatch.setattr(event_stream, "_SLICE", 2)
    publish(store, *map(sealed, range(7)))

    assert chunks(since(store)) == [f"c-{n}" for n in range(7)]
    assert chunks(store.run(event_stream.newest(store.keys, Wanted(("sealed",)), 5))) == [f"c-{n}" for n in range(2, 7)]


def test_what_is_none_of_ours_is_passed_over(store):
    store.client.xadd(store.keys.events, {"kind": "sealed", "tokens": "many"})
    store.client.xadd(store.keys.events, {b"\xff": b"\xff"})
    publish(store, sealed(1))

    assert chunks(since(store)) == ["c-1"]


def cut(store, keep):
    store.client.xtrim(store.keys.events, maxlen=keep, approximate=False)


def test_what_was_cut_off_unread_is_said_once_and_reading_goes_on(store):
    publish(store, sealed(0))
    seen = since(store).after
    publish(store, *map(sealed, range(1, 5)))
    cut(store, 2)

    gap, *rest = since(store, seen).events
    assert (gap.kind, [event.chunk for event in rest]) == (GAP, ["c-3", "c-4"])
    assert [event.kind for event in since(store, gap.id).events] == ["sealed", "sealed"]


def test_nothing_is_said_of_what_was_cut_off_after_it_was_read(store):
    publish(store, *map(sealed, range(4)))
    seen = since(store, count=3).after
    cut(store, 2)

    assert [event.kind for event in since(store, seen).events] == ["sealed"]


@pytest.mark.parametrize("how", ["gone", "begun anew"])
def test_a_stream_that_was_lost_is_a_gap(store, how):
    publish(store, sealed(0))
    ahead = "99999999999999-0"
    store.client.delete(store.keys.events)
    if how == "begun anew":
        publish(store, sealed(1))

    told = since(store, ahead)
    assert [event.kind for event in told.events] == [GAP, *["sealed"] * (how == "begun anew")]
    assert since(store, told.after).events == []


def test_the_oldest_kept_is_asked_for_without_a_gap(store):
    publish(store, *map(sealed, range(4)))
    cut(store, 2)

    assert chunks(since(store, check_event_id("0"))) == ["c-2", "c-3"]


def test_about_as_many_are_kept_as_the_setting_says(store):
    for _ in range(10):
        publish(store, *map(sealed, range(50)), caps=Caps(100, 200))

    assert 100 <= store.client.xlen(store.keys.events) <= 200


def test_durations_are_counted_under_the_first_bound_they_do_not_pass():
    assert [bucket(seconds) for seconds in (0, 0.5, 0.51, 600, 601)] == ["0.5", "0.5", "1", "600", "inf"]
    assert list(BOUNDS) == sorted(BOUNDS)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Event(kind="sealed", messages=5), {}),
        (
            Event(kind="buffered", seconds=1.5),
            {"observations": 1, "observer|seconds_sum": 1_500_000, "observer|le|2": 1},
        ),
        (Event(kind="drafted", seconds=700.0), {"reflector|seconds_sum": 700_000_000, "reflector|le|inf": 1}),
        (
            Event(kind="reflected", seconds=0.1),
            {"reflections": 1, "reflector|seconds_sum": 100_000, "reflector|le|0.5": 1},
        ),
        (Event(kind="reflected"), {"reflections": 1}),
        (Event(kind="quarantined", messages=3), {"quarantined": 3}),
        (Event(kind="failed", why="timeout"), {"failed|timeout": 1}),
    ],
)
def test_what_each_kind_adds_to_the_counters(event, expected):
    assert counts_of(event) == expected


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
    for now, name in enumerate(["zoe", "harold", "albert", "ada", "zoe"]):
        publish(store, sealed(1, name), caps=Caps(100, 2), now=now)

    assert store.run(event_stream.measured(store.keys, 9)) == ["zoe", "harold"]


def test_a_client_measures_nobody(store):
    publish(store, sealed(1), caps=None)

    assert store.run(event_stream.measured(store.keys, 9)) == []
    assert len(since(store).events) == 1


def test_a_lost_reply_counts_nothing_twice(store, monkeypatch):
    """Catches a second try: nobody can know whether the first one counted, so best effort is one."""
    connection, tries = Connection(store.client), []
    ask = connection._endpoint.ask

    def lost(step):
        tries.append((yield from ask(step)))
        raise NotConnected("the reply is lost")

    monkeypatch.setattr(connection._endpoint, "ask", lost)
    with pytest.raises(StoreError):
        connection.run(
            event_stream.publish(store.keys, [Event(kind="quarantined", resource="harold", messages=1)], CAPS, 0)
        )
    assert len(tries) == 1
    assert store.run(event_stream.counted(store.keys, ["harold"])) == [{"quarantined": 1}]


def test_what_was_told_once_is_told_by_nobody_else(store):
    assert [store.run(event_stream.first_to_tell(store.keys, "2026-11-21:x")) for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1-",
        "-1",
        "1-2-3",
        "1 ",
        "99999999999999999999",
        "1-99999999999999999999",
        "١",
        "-".join([str(2**64 - 1)] * 2),
    ],
)
def test_an_id_that_is_none_is_refused(text):
    with pytest.raises(InvalidInputError, match="no event's id"):
        check_event_id(text)


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(InvalidInputError, match=r"'seald'.*sealed, observing"):
        Wanted.of("seald", ())
