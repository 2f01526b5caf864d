"""A round is made once in its slot, is told, and is logged if it did something."""

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import StoreError
from om_api.store.driver.partitions import part_of
from om_api.store.fleet import health, presence, webhook_queue, webhook_records
from om_api.store.fleet.presence import Ticked
from om_api.store.memory import due
from om_workers.work import rounds as module
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.rounds import Rounds

FILL = Dispatcher.fill
MESSAGE = '{"role": "user", "content": "hi"}'


@pytest.fixture
def rounds(world):
    world.services.presence.serve(health.QUEUES, 32)
    return Rounds(world.services, Dispatcher(world.services), lambda _: 0)


def _mark(world, name):
    world.client.hset(world.services.keys.of(name).tokens, "*", 0)
    world.client.zadd(f"{world.prefix}:due:observe", {name: 1})


def _passed_on(world):
    return sorted(ids[0] for _, ids in world.dispatch.queue)


def _next_slot(world):
    world.client.delete(world.services.keys.tick("observer"))


def test_of_two_beats_in_one_slot_the_second_does_nothing(world, rounds):
    """Catches a guard that everyone gets: three beats would claim and ask three times as often."""
    interval = world.settings.memory.observer_interval
    with capture_logs() as lines:
        assert rounds.observe().outcome == "rest"
        assert interval * 500 < world.client.pttl(world.services.keys.tick("observer")) < interval * 1000
        _mark(world, "harold")
        assert rounds.observe().outcome == "busy"
    assert (_passed_on(world), lines) == ([], [])
    _next_slot(world)
    with capture_logs() as lines:
        assert rounds.observe().outcome == "rest"
    assert _passed_on(world) == ["harold"]
    assert [(line["event"], line["due"]) for line in lines] == [("observer_ticked", 1)]


def test_a_round_of_webhooks_is_made_once_in_its_slot_and_told(world, rounds):
    run, keys = world.services.run, world.services.keys
    made = run(webhook_records.add(keys, "https://127.0.0.1:9/om", (), (), allow_private=True))
    run(webhook_queue.try_out(keys, made))
    with capture_logs() as lines:
        assert [rounds.webhooks().outcome, rounds.webhooks().outcome] == ["rest", "busy"]
    assert [line["failed"] for line in lines if line["event"] == "webhooks_ticked"] == [1]
    assert run(health.ticks(keys))["webhooks"].interval == world.settings.memory.webhooks.interval


def test_whoever_watches_is_told_when_each_tick_ran_and_only_by_the_one_that_did(world, rounds):
    """Catches a tick that leaves no word of itself: doctor and alarms would say that no beat runs."""
    rounds.observe()
    told = world.services.run(health.ticks(world.services.keys))
    world.services.run(presence.ticked(world.services.keys, "observer", Ticked(at=1, interval=10)))
    assert rounds.observe().outcome == "busy"
    assert told["observer"].interval == world.settings.memory.observer_interval
    assert told["reflector"] is None
    assert world.services.run(health.ticks(world.services.keys))["observer"].at == 1


@pytest.fixture
def world(client, prefix):
    world = World(client, prefix)
    world.services.presence.serve(["maintenance"], 8)
    return world


def _key(world, resource, thread):
    return f"{world.prefix}:{{{resource}}}:messages:{thread}"


def _hint(world, *keys):
    world.client.zadd(world.services.keys.adopt, dict.fromkeys(keys, 0))


def _write(world, resource, *threads):
    keys = [_key(world, resource, thread) for thread in threads]
    for key in keys:
        world.client.zadd(key, {MESSAGE: 1})
    _hint(world, *keys)
    return keys


def _pass_on(world):
    return module.pass_on(world.services, Dispatcher(world.services), 9)


def test_thousands_of_hints_that_name_nothing_are_dropped_in_one_tick_and_delay_nobody(world):
    """Catches a task for each hint: 20,000 of them delayed others by a minute and a half."""
    (real,) = _write(world, "zoe", "t-1")
    world.say("counted already", resource="albert")
    world.client.set(_key(world, "evil", "text"), "no messages")
    world.client.zadd(_key(world, "evil-2", "t"), {MESSAGE: 1})
    world.client.set(f"{world.prefix}:{{evil-2}}:tokens", "no counters")
    odd = ["nonsense", b"\xff", _key(world, "albert", "t-1"), _key(world, "evil", "text"), _key(world, "evil-2", "t")]
    _hint(world, *odd, *(_key(world, f"a-{n}", "t") for n in range(1_200)))
    assert _pass_on(world) == 1
    assert list(world.dispatch.queue) == [("adopt", (real,))]
    assert world.client.zcard(world.services.keys.adopt) == 0
    world.client.delete(_key(world, "evil", "text"))


def test_a_resource_with_thousands_of_keys_lets_others_take_their_turns(world, monkeypatch):
    monkeypatch.setattr(module, "_KEYS", 3)
    _write(world, "albert", *(f"t-{n}" for n in range(20)))
    (zoes,) = _write(world, "zoe", "t-1")
    assert _pass_on(world) == 6
    (_, first), (_, second) = world.dispatch.queue
    assert zoes in first
    assert len(first) == len(second) == 3
    assert world.client.zcard(world.services.keys.adopt) == 15


def test_while_as_many_tasks_wait_as_workers_run_hints_are_left_where_they_are(world):
    keys = _write(world, "harold", "t-1", "t-2")
    for elsewhere in (3, 2):
        world.dispatch.elsewhere = elsewhere
        assert _pass_on(world) == 0
        assert world.client.zcard(world.services.keys.adopt) == 2
    world.dispatch.elsewhere = 0
    assert _pass_on(world) == 2
    assert sorted(world.dispatch.queue) == [("adopt", (key,)) for key in keys]
    assert world.client.zcard(world.services.keys.adopt) == 0


def test_hints_that_the_broker_does_not_take_are_there_when_it_is_back(world, monkeypatch):
    """Catches hints that are gone with the first of them that could not be sent: who only hints would wait for the sweep."""
    keys = _write(world, "harold", *(f"t-{n}" for n in range(300)))
    took = []

    def adopt(*names):
        if took:
            raise StoreError("the broker is away")
        took.extend(names)

    monkeypatch.setattr(world.dispatch, "adopt", adopt)
    with pytest.raises(StoreError, match="the broker is away"):
        _pass_on(world)
    left = {name.decode() for name in world.client.zrange(world.services.keys.adopt, 0, -1)}
    assert took
    assert left == {*keys} - {*took}


def test_a_count_that_is_no_number_hurts_only_whose_it_is(client, prefix_for):
    """Catches a tick that ends at one memory's counters: hints and sweeps of all others ended with it."""
    for n, counted in enumerate([b"abc", b"9" * 5_000, b"-1", b"\xb2"]):
        world = World(client, prefix_for(n))
        world.services.presence.serve(["maintenance"], 8)
        (real,) = _write(world, "zoe", "t-1")
        (evil,) = _write(world, "evil", "t-1")
        world.client.hset(f"{world.prefix}:{{evil}}:tokens", "#t-1", counted)
        assert _pass_on(world) == 2, counted
        assert {ids[0] for _, ids in world.dispatch.queue} == {real, evil}
        swept = world.sweep()
        assert swept.adopted + swept.failed == 2, counted
        assert world.client.hget(f"{world.prefix}:{{zoe}}:tokens", "#t-1") == b"1"


def test_hints_that_were_taken_while_the_store_went_away_are_put_back(world, monkeypatch):
    keys = _write(world, "harold", "t-1", "t-2")

    def away(*_):
        raise StoreError("the store is away")
        yield

    monkeypatch.setattr(module.keyspace_scan, "adoptable", away)
    with pytest.raises(StoreError):
        _pass_on(world)
    assert sorted(name.decode() for name in world.client.zrange(world.services.keys.adopt, 0, -1)) == keys


def test_a_tick_notes_since_when_more_is_due_than_there_is_room_for(world):
    """Catches a doctor that cannot say whether a backlog grows: each look sees one moment."""
    world.services.presence.serve(health.QUEUES, 2)
    rounds = Rounds(world.services, Dispatcher(world.services), lambda _: 0)
    seen = []
    for count in (1, 5, 9):
        for n in range(count):
            _mark(world, f"agent-{n}")
        rounds.observe()
        seen.append(world.services.run(health.ticks(world.services.keys))["observer"])
        _next_slot(world)
    quiet, first, second = seen
    assert (quiet.since, quiet.was) == (0, 0)
    assert (first.since, first.was) == (first.at, first.due)
    assert (second.since, second.was) == (first.at, first.due)
    assert second.due > first.due


def test_of_many_parts_a_tick_goes_through_those_in_which_something_is_due(world, monkeypatch):
    """Catches a tick that asks each part three times over to learn that nothing is due."""
    filled = []
    monkeypatch.setattr(
        Dispatcher, "fill", lambda self, queue, left, part: filled.append(part) or FILL(self, queue, left, part)
    )
    world.client.set(world.services.keys.partitions, '{"count": 64}')
    world.services.presence.serve(health.QUEUES, 64)
    rounds = Rounds(world.services, Dispatcher(world.services), lambda _: 0)
    assert rounds.observe().outcome == "rest"
    assert filled == []
    names = ["ada", "harold", "zoe"]
    _next_slot(world)
    for name in names:
        world.client.hset(world.services.keys.of(name).tokens, "*", 0)
    world.services.run(due.mark(world.services.keys.due_observe, names))
    rounds.observe()
    assert sorted(filled) == sorted({part_of(name, 64) for name in names})
    assert _passed_on(world) == names
