"""What readings mean, by tables: each trouble is named with its remedy, and nothing that is well is called trouble."""

from om_api.archive.entries import Figures
from om_api.domain.events import Event
from om_api.ops import diagnosis
from om_api.ops.archive_state import ArchiveState
from om_api.ops.diagnosis import ERROR, NOTE, OK, WARNING
from om_api.store.archiving.archivable import ArchiveBacklog, ArchiveFault
from om_api.store.driver.steps import ALONE, Node
from om_api.store.fleet.backlog import FleetBacklog
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import QUEUES, ServerInfo, Waiting
from om_api.store.fleet.presence import LAYOUT, Ticked, Worker
from om_api.store.fleet.webhook_records import WebhookState
from om_api.store.reviews.drafts import WaitingReview

WELL = {
    "redis_version": "7.0.15", "role": "master", "used_memory": "1000", "maxmemory": "10000",
    "maxmemory_policy": "noeviction", "aof_enabled": "1", "aof_last_write_status": "ok",
}  # fmt: skip
NOW = 1_800_000_000_000


def worker(skew_ms=0, version="1", queues=(), layout=LAYOUT):
    return Worker(name="h-1-ab", host="h", pid=1, version=version, skew_ms=skew_ms, queues=queues, layout=layout)


def test_what_a_server_tells_is_judged():
    assert {finding.level for finding in diagnosis.of_server(WELL, "always")} == {OK}
    assert [finding.level for finding in diagnosis.of_server(None, None)] == [NOTE]  # which may not be asked
    for told, fsync, level, about, says in [
        ({"redis_version": "6.2.9"}, "always", ERROR, "server", "Redis 6.2.9 is too old"),
        ({"role": "slave"}, "always", ERROR, "server", "replica"),
        ({"used_memory": "9500"}, "always", WARNING, "memory", "nearly out of memory"),
        ({"used_memory": "10001"}, "always", ERROR, "memory", "out of memory"),
        ({"maxmemory_policy": "allkeys-lru"}, "always", ERROR, "eviction", "allkeys-lru"),
        ({"aof_enabled": "0"}, None, WARNING, "disk", "no append-only file"),
        ({"aof_last_write_status": "err"}, "everysec", ERROR, "disk", "last acknowledged writes are in memory only"),
        ({"aof_last_bgrewrite_status": "err"}, "always", WARNING, "disk", "the last rewrite"),
        ({"rdb_last_bgsave_status": "err"}, "always", WARNING, "disk", "the last snapshot failed"),
        ({}, "no", WARNING, "disk", "half minute"),
        ({}, "everysec", OK, "disk", "last second or two"),
        ({}, None, NOTE, "disk", "cannot tell"),
        ({"maxmemory": None}, "always", NOTE, "memory", "cannot tell"),
        ({"maxmemory_policy": None}, "always", NOTE, "eviction", "cannot tell"),
        ({"aof_enabled": None}, "always", NOTE, "disk", "cannot tell"),
        ({"redis_version": None}, "always", NOTE, "server", "cannot tell"),
    ]:
        server = {name: value for name, value in {**WELL, **told}.items() if value is not None}
        found = [each for each in diagnosis.of_server(server, fsync) if each.about == about and says in each.says]
        assert [finding.level for finding in found] == [level], (told, fsync)
        assert all(finding.do for finding in found if finding.level != OK)


def test_a_store_that_refuses_writes_is_reported_once_and_no_worker_as_dead():
    for told, about in [({"used_memory": "10001"}, "memory"), ({"role": "slave"}, "server")]:
        for refuses in (False, True):
            found = [each for each in diagnosis.of_server({**WELL, **told}, "always", refuses=refuses) if each.trouble]
            assert [each.about for each in found] == ([] if refuses else [about]), (told, refuses)
    assert [each.level for each in diagnosis.of_workers([], "1", QUEUES, refuses=True)] == [NOTE]


def of_cluster(*changed, unserved=0):
    """Findings of a cluster whose primaries tell something else, each with a replica."""
    told = [
        ServerInfo(Node(f"n:{n}"), {**WELL, "connected_slaves": "1", **each}, "always")
        for n, each in enumerate(changed)
    ]
    return [*diagnosis.of_servers([*told, ServerInfo(Node("r:1", primary=False), WELL, "no")], unserved)]


def test_what_is_wrong_with_a_node_of_a_cluster_is_said_with_its_address():
    assert [(each.level, each.says) for each in of_cluster({}, {})] == [(OK, "2 nodes and 1 replica serve every slot")]
    found = of_cluster({"maxmemory_policy": "allkeys-lru"}, {"connected_slaves": "0"}, unserved=12)

    assert [each.level for each in found] == [ERROR, WARNING, ERROR]
    assert found[0].says.startswith("n:0: allkeys-lru")
    assert found[1].says == "n:1 has no replica: while it is away, so are its memories"
    assert found[2].says.startswith("12 slots served by no node")
    assert all(each.do for each in found)


def test_pushes_that_wait_for_replicas_that_are_not_there_are_told():
    for has, waited, levels in [("0", 0, []), ("0", 1, [ERROR]), ("1", 1, []), ("1", 2, [ERROR]), (None, 1, [])]:
        told = ServerInfo(ALONE, {"connected_slaves": has} if has else None, "always")
        assert [finding.level for finding in diagnosis.of_replicas([told], waited)] == levels, (has, waited)


def test_clocks_that_differ_are_named_with_whose_they_are():
    found = list(diagnosis.of_clocks(-3_000, [worker(7_200_000), worker(100)]))

    assert [finding.says for finding in found] == [
        "this machine is 3.0 s behind the server",
        "worker h-1-ab is 2 h ahead of the server",
    ]
    assert all(finding.trouble for finding in found)
    assert not any(finding.trouble for finding in diagnosis.of_clocks(1_999, [worker(-1_999)]))


def test_nobody_at_work_and_a_queue_that_nobody_serves_are_errors_and_another_version_a_note():
    """Without a worker nothing is handed out: the queue stays empty, and its work waits in the due index."""
    assert [finding.level for finding in diagnosis.of_workers([], "1", QUEUES)] == [ERROR]
    assert [finding.level for finding in diagnosis.of_workers([worker(version="2")], "1", QUEUES)] == [OK, NOTE]
    assert [finding.level for finding in diagnosis.of_workers([worker(layout=0)], "1", QUEUES)] == [OK, ERROR]
    for served, lacking in [
        ([("ticks", "observe"), ("reflect", "maintenance")], []),
        ([("ticks", "reflect", "maintenance")], ["observe"]),
        ([("observe",), ("observe",)], ["ticks", "reflect", "maintenance"]),
        ([("observe",), ()], []),  # one of an earlier version, which does not say
    ]:
        workers = [worker(queues=queues) for queues in served]
        found = [finding for finding in diagnosis.of_workers(workers, "1", QUEUES) if finding.trouble]
        assert [finding.says for finding in found] == [f"none of them serves the queue {name}" for name in lacking]
        assert all(f"-Q {name}" in finding.do for finding, name in zip(found, lacking, strict=True))


def test_a_tick_is_late_when_three_of_them_are_missing_and_a_grace_is_over():
    for age, interval, late in [(30_000, 10, False), (36_000, 10, True), (5_200, 0.1, False), (6_000, 0.1, True)]:
        ticks = {"observer": Ticked(at=NOW - age, interval=interval), "reflector": Ticked(at=NOW, interval=30)}
        found = list(diagnosis.of_ticks(ticks, NOW, alive=True))
        assert [finding.level for finding in found] == ([ERROR, OK] if late else [OK]), (age, interval)

    ran = Ticked(at=NOW, interval=10)
    assert [f.level for f in diagnosis.of_ticks({"observer": None, "sweep": None}, NOW, alive=True)] == [ERROR]
    assert [f.level for f in diagnosis.of_ticks({"observer": ran, "sweep": None}, NOW, alive=True)] == [NOTE, OK]
    assert list(diagnosis.of_ticks({"observer": None}, NOW, alive=False)) == []


def test_what_is_due_for_long_is_a_lag():
    found = [
        *diagnosis.of_lag(
            [Waiting("observe", 12, 36_000), Waiting("reflect", 1, 36_000)], {"observe": 10, "reflect": 30}
        )
    ]

    assert [(finding.level, finding.says) for finding in found] == [
        (WARNING, "12 scopes are due to observe, the first of them for 36.0 s"),
        (OK, "1 scope is due to reflect"),
    ]
    assert "serves the queue observe" in found[0].do


def test_a_fleet_that_falls_behind_is_told_by_how_much_and_how_many_workers_would_do():
    behind = FleetBacklog(due=2_400, seconds=300, grows=4.0, more=1, soon=6, tasks=32)
    (found,) = diagnosis.of_backlog("observe", behind, 10)
    assert found.level == WARNING
    assert found.says == "2,400 scopes wait to observe and no worker has room, for 5 min; it grows by 240 a minute"
    assert found.do == "add 1 worker of 32 tasks to keep up, 6 to be done in 10 min"

    less = FleetBacklog(due=1_200, seconds=300, grows=-2.0, more=0, soon=0, tasks=32)
    (found,) = diagnosis.of_backlog("observe", less, 10)
    assert (found.level, found.says.endswith("it is worked off in 10 min")) == (NOTE, True)
    assert not [*diagnosis.of_backlog("observe", less._replace(seconds=29), 10)]
    assert not [*diagnosis.of_backlog("observe", None, 10)]


def test_an_open_breaker_is_trouble_with_a_remedy_and_what_a_provider_asks_for_is_a_note():
    states = {
        "well": BreakerState("closed", failures=4), "down": BreakerState("open", 95.0, failures=5),
        "probed": BreakerState("open", 0.0, failures=5), "busy": BreakerState("busy", 40.0),
        "held": BreakerState("held", room=3), "partial": BreakerState("partial", 20.0, agent="ada"),
        "limited": BreakerState("held", agent="ada"),
    }  # fmt: skip
    found = list(diagnosis.of_breakers(states))

    assert [finding.level for finding in found] == [WARNING, WARNING, NOTE, NOTE, WARNING, NOTE]
    assert [finding.says.partition(" is ")[0] for finding in found] == [*states][1:]
    assert "failed 5 times in a row" in found[0].says
    assert "at most 3 times at once" in found[3].says
    assert "for ada alone" in found[4].says
    assert "fewer times at once for ada alone" in found[5].says
    assert all(finding.do for finding in found)


def test_what_workers_froze_at_is_named_with_its_crashes():
    of = {"kind": "crashed", "at": NOW - 60_000, "resource": "alice", "task": "om.observe_chunk"}
    for event, says in (
        (
            Event(**of, thread="t-1", chunk="c1", crashes=2),
            "chunk c1 of alice (thread t-1) 60.0 s ago: 2 attempts crashed",
        ),
        (Event(**of), "a worker froze at om.observe_chunk of alice 60.0 s ago"),
        (Event(kind="crashed", at=NOW - 60_000), "a worker froze outside of any task 60.0 s ago"),
    ):
        (finding,) = diagnosis.of_crashes([event], NOW)
        assert (finding.level, says in finding.says) == (WARNING, True), finding
        assert "worker_frozen" in finding.do


def test_a_webhook_that_fails_for_long_is_named_before_it_is_given_up():
    given = {"id": "wh-1", "url": "https://example.org/om", "events": (), "resources": (), "created_at": 1}
    for fields, found in [
        ({}, [(OK, "1, 0 deliveries wait")]),
        ({"waiting": 2, "oldest": NOW - 600_000}, [(OK, "1, 2 deliveries wait")]),
        ({"waiting": 2, "oldest": NOW - 660_000}, [(WARNING, "wh-1: 2 deliveries wait, the oldest for 11 min")]),
        ({"waiting": 2, "oldest": NOW - 660_000, "disabled": "410"}, [(WARNING, "wh-1 is disabled: 410")]),
        ({"dead": 1}, [(WARNING, "1 delivery of wh-1 could not be made")]),
    ]:
        state = WebhookState(**{**given, "disabled": "", **fields})
        assert [(each.level, each.says) for each in diagnosis.of_webhooks([state], NOW)] == found, fields


def test_reflections_that_wait_are_told_and_those_that_wait_too_long_are_trouble():
    for until, level, says in [
        (NOW + 1, NOTE, "1 reflection waits for a review, the first for 2 h"),
        (NOW - 300_000, NOTE, "1 reflection waits for a review, the first for 2 h"),
        (NOW - 660_000, WARNING, "harold: the review of a reflection ended, and it does not count yet"),
    ]:
        waiting = WaitingReview(resource="harold", thread=None, id="r", asked_at=NOW - 7_200_000, expires_at=until)
        (told,) = diagnosis.of_reviews([waiting], NOW)
        assert (told.level, told.says, bool(told.do)) == (level, says, True), until
    assert list(diagnosis.of_reviews([], NOW)) == []


def test_an_archive_that_is_behind_or_fails_is_told_with_since_when_and_why():
    holds, late = Figures(12, 340, 3, 1_200_000), "3 resources are due to be looked at"
    well, behind = ArchiveBacklog(0, 0, None), ArchiveBacklog(3, 1_200_000, None)
    failing = ArchiveBacklog(3, 1_200_000, ArchiveFault(NOW - 7_200_000, "the disk is full"))
    for backlog, answers, levels, says in [
        (well, True, [OK], "12 entries, 340 messages of 3 resources, 1.2 MB; 0 resources are due"),
        (ArchiveBacklog(1, 599_000, None), True, [OK], "1 resource is due"),
        (behind, True, [WARNING], f"{late}, the first for 20 min"),
        (failing, True, [ERROR], f"nothing was archived for 2 h ({late}): the disk is full"),
        (well, False, [ERROR], "sqlite:///past.db cannot be read from here: away"),
        (behind, False, [WARNING, ERROR], "20 min"),
    ]:
        state = ArchiveState("sqlite:///past.db", backlog, *([holds] if answers else [None, "away"]))
        found = list(diagnosis.of_archive(state, "", NOW))
        assert [each.level for each in found] == levels, says
        assert says in found[0].says
        assert all(bool(each.do) == each.trouble for each in found)
