"""A process is seen while it lives, and forgotten with all it said when it is dead."""

from world import wait_until

from om_api.store.driver.connection import Connection
from om_api.store.fleet import health, presence
from om_api.store.fleet.presence import Worker
from om_workers.process.presence import Presence


def test_a_dead_process_is_forgotten_with_everything_it_said(store):
    store.run(presence.here(store.keys, Presence(Connection(store.client), store.keys).worker, 100))

    wait_until(lambda: not store.client.keys(f"{store.keys.prefix}*"), "nothing to be left")


def test_the_dead_do_not_pile_up_while_others_live(store):
    for name, lives_ms in (("dead-1", 50), ("dead-2", 50), ("alive", 5_000)):
        store.run(presence.here(store.keys, Worker(name=name, host="h", pid=1, version="1"), lives_ms))
    wait_until(lambda: len(store.run(health.workers(store.keys))) == 1, "them to be dead")
    store.run(presence.here(store.keys, Worker(name="alive", host="h", pid=1, version="1"), 5_000))

    assert store.client.zrange(store.keys.workers, 0, -1) == [b"alive"]


def test_two_processes_of_one_host_and_number_are_two(store):
    connection = Connection(store.client)

    assert Presence(connection, store.keys).worker.name != Presence(connection, store.keys).worker.name


def test_a_process_says_by_which_settings_it_goes_each_time_it_says_that_it_lives(store):
    """Catches a fingerprint that stays what it was at the start, though the worker took a file up."""
    said = iter(["one", "two"])
    presence_ = Presence(Connection(store.client), store.keys, lambda: next(said))
    seen = []
    for _ in range(2):
        presence_.renew(30)
        seen += [worker.settings for worker in store.run(health.workers(store.keys))]

    assert seen == ["one", "two"]
