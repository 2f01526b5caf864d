"""What tells whether a system is well: read as it is, and no refusal of a server is more than an answer that is missing."""

import time

import pytest

from om_api.domain.errors import StoreError
from om_api.store.driver.connection import Connection
from om_api.store.driver.partitions import learn
from om_api.store.driver.steps import ALONE
from om_api.store.fleet import health
from om_api.store.fleet.health import Condition, Standings, Waiting

HOUR_MS = 3_600_000
NAMES = ("ada", "berta", "cleo", "dora", "elsa", "finn")  # as workers looked at them


def refused(steps):
    """What steps return when the store refuses the first thing they ask."""
    next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.throw(StoreError("not for you"))
    return ended.value.value


def answered(steps, reply):
    """What steps return when the store gives one reply."""
    next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.send([reply])
    return ended.value.value


def test_a_server_that_takes_writes_gives_no_refusal(store):
    assert store.run(health.probe(store.keys)) is None


def test_a_server_that_refuses_gives_its_refusal_and_no_error(store):
    assert str(refused(health.probe(store.keys))) == "not for you"
    assert refused(health.info()) is None
    assert refused(health.configured("maxmemory")) is None


@pytest.mark.parametrize("reply", [{"redis_version": "8.0", "port": 1}, b"# Server\r\nredis_version:8.0\r\nport:1\r\n"])
def test_info_is_read_in_both_forms(reply):
    assert answered(health.info(), reply) == {"redis_version": "8.0", "port": "1"}


@pytest.mark.parametrize(
    ("reply", "found"),
    [({"maxmemory": "0"}, "0"), ([b"maxmemory", b"0"], "0"), ({b"maxmemory": b"0"}, "0"), ({}, None), ([], None)],
)
def test_a_directive_is_read_in_every_form(reply, found):
    assert answered(health.configured("maxmemory"), reply) == found


def test_a_due_index_tells_how_many_are_due_and_how_long_the_first_of_them_waits(store):
    """An urgent scope is written an hour ahead of the time it came due."""
    now = time.time() * 1000
    marks = {"plain": now - 5_000, "later": now + 60_000, "urgent": now - HOUR_MS - 9_000}
    store.client.zadd(store.keys.due_observe, marks)
    store.client.zadd(store.keys.due_reflect, {"plain": now - 5_000})
    found = store.run(health.waiting(store.keys))

    assert [(waiting.what, waiting.due, waiting.scopes) for waiting in found] == [("observe", 2, 3), ("reflect", 1, 1)]
    assert [waiting.longest for waiting in found] == pytest.approx([9_000, 5_000], abs=1_000)


def test_an_index_in_which_nothing_is_due_does_not_wait(store):
    store.client.zadd(store.keys.due_observe, {"later": time.time() * 1000 + 60_000})

    assert store.run(health.waiting(store.keys)) == [Waiting("observe", 0, 0, 1), Waiting("reflect", 0, 0)]


def test_what_nobody_of_ours_said_of_a_worker_is_no_worker(store):
    soon = time.time() * 1000 + 20_000
    store.client.zadd(store.keys.workers, dict.fromkeys(["broken", "other", "silent"], soon))
    store.client.set(store.keys.worker("broken"), b"\xff", px=20_000)
    store.client.set(store.keys.worker("other"), b"[]", px=20_000)
    store.client.expire(store.keys.workers, 20)

    assert store.run(health.workers(store.keys)) == []


def test_every_resource_is_told_of_and_one_that_cannot_be_read_as_broken(store):
    of = store.keys.of
    store.client.zadd(store.keys.resources, {"harold": 1, "ada": 2})
    store.client.set(of("harold").scope, "thread")
    store.client.rpush(of("harold").rejected, b"{}", b"{}")
    store.client.hset(of("harold").tokens, "*paused", 1)
    store.client.set(of("ada").rejected, "no list", ex=60)

    told = [
        Condition("ada", None, 0, paused=False, broken=True),
        Condition("harold", "thread", 2, paused=True),
        Condition("unknown", None, 0, paused=False),
    ]

    assert store.run(health.standings(store.keys)) == Standings(2, told)


@pytest.mark.parametrize(("most", "looked"), [(4, ["cleo", "dora", "elsa", "finn"]), (6, [*NAMES])])
def test_of_many_resources_those_are_looked_at_that_workers_looked_at_last(store, most, looked):
    """Catches a doctor that reads a million memories, and one that passes somebody by where all could be read."""
    store.client.zadd(store.keys.resources, {name: at for at, name in enumerate(NAMES)})
    found = store.run(health.standings(store.keys, most))

    assert found.known == len(NAMES)
    assert [each.resource for each in found.conditions] == [*looked, "unknown"]


def test_where_one_part_has_more_than_its_share_nobody_is_passed_by(store):
    store.client.set(store.keys.partitions, '{"count": 8}')
    store.run(learn(store.keys.layout))
    part = store.keys.resources.of("ada")
    names = [name for n in range(200) if store.keys.resources.of(name := f"agent-{n}") == part][:9]
    store.client.zadd(part, dict.fromkeys(names, 1))

    assert [each.resource for each in store.run(health.standings(store.keys, 16)).conditions] == [
        *sorted(names),
        "unknown",
    ]


def test_every_node_of_a_cluster_tells_of_itself_primaries_first(cluster_client, cluster):
    run = Connection(cluster_client).run
    told = run(health.servers())

    assert [each.node.primary for each in told] == [True] * 3 + [False] * 3
    assert {each.info["tcp_port"] for each in told} == {str(node.port) for node in cluster.nodes}
    assert {each.fsync for each in told} == {"everysec"}
    assert run(health.unserved()) == 0


def test_one_server_is_the_only_one_and_has_no_slots(server_client):
    run = Connection(server_client).run

    assert [each.node for each in run(health.servers())] == [ALONE]
    assert run(health.unserved()) == 0
