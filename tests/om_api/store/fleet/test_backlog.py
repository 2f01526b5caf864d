"""Whether the fleet falls behind, by how much, and how many workers would do, by hand-made figures."""

import pytest

from om_api.store.fleet.backlog import FleetBacklog, backlog
from om_api.store.fleet.presence import Ticked, Worker

FLEET = [Worker(name=n, host="h", pid=1, version="", queues=("observe",), concurrency=32) for n in "ab"]
AT = 1_000_000_000


def ticked(due, was, seconds):
    return Ticked(at=AT, interval=10, due=due, since=AT - seconds * 1_000, was=was)


def test_what_has_room_is_no_backlog():
    assert backlog("observe", Ticked(at=AT, interval=10, due=9), FLEET, {}) is None
    assert backlog("observe", None, FLEET, {}) is None


def test_more_workers_do_what_comes_beside_what_is_done():
    """64 tasks of 4 s do 16 a second; 20 a second come, so 80 tasks keep up, 3 workers; 2,400 that wait want 16 tasks more."""
    found = backlog("observe", ticked(2_400, 1_200, 300), FLEET, {"observe|m": 4.0, "reflect|m": 90.0})

    assert found == FleetBacklog(due=2_400, seconds=300, grows=4.0, more=1, soon=1, tasks=32)
    assert backlog("observe", ticked(24_000, 22_800, 300), FLEET, {"observe|m": 4.0}).soon == 6


def test_a_backlog_that_gets_less_wants_nobody_to_keep_up():
    found = backlog("observe", ticked(600, 1_200, 300), FLEET, {"observe|m": 4.0})

    assert (found.grows, found.more, found.soon) == (-2.0, 0, 0)


@pytest.mark.parametrize("workers", [[], [Worker(name="x", host="h", pid=1, version="", queues=("reflect",))]])
def test_where_nobody_serves_a_queue_workers_of_the_usual_size_would_do(workers):
    found = backlog("observe", ticked(6_400, 6_400, 60), workers, {})

    assert (found.more, found.soon, found.tasks) == (0, 1, 32)


def test_a_tick_keeps_the_time_since_which_the_fleet_is_behind():
    first = Ticked(at=AT, interval=10, due=100).behind(None)
    second = Ticked(at=AT + 10_000, interval=10, due=150).behind(first)

    assert (first.since, first.was) == (AT, 100)
    assert (second.since, second.was, second.due) == (AT, 100, 150)
