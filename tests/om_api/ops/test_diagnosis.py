"""What readings mean, by tables: each trouble is named with its remedy, and nothing that is well is called trouble."""

import pytest

from om_api.archive.entries import Figures
from om_api.ops import diagnosis
from om_api.ops.archive_state import ArchiveState
from om_api.ops.diagnosis import ERROR, NOTE, OK, WARNING
from om_api.store.archiving.archivable import ArchiveBacklog, ArchiveFault
from om_api.store.driver.steps import ALONE, Node
from om_api.store.fleet.backlog import FleetBacklog
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import QUEUES, Condition, ServerInfo, Standings, Waiting
from om_api.store.fleet.presence import Ticked, Worker
from om_api.store.fleet.webhook_records import WebhookState
from om_api.store.reviews.drafts import WaitingReview
from om_workers import app

WELL = {
    "redis_version": "7.0.15",
    "role": "master",
    "used_memory": "1000",
    "maxmemory": "10000",
    "maxmemory_policy": "noeviction",
    "aof_enabled": "1",
    "aof_last_write_status": "ok",
}
NOW = 1_800_000_000_000


def worker(skew_ms=0, version="1", queues=()):
    return Worker(name="h-1-ab", host="h", pid=1, version=version, skew_ms=skew_ms, queues=queues)


def test_a_server_that_is_well_gives_no_trouble():
    assert {finding.level for finding in diagnosis.of_server(WELL, "always")} == {OK}


def of_cluster(*changed, unserved=0):
    """Findings of a cluster whose primaries tell something else, each with a replica."""
    told = [
        ServerInfo(Node(f"n:{n}"), {**WELL, "connected_slaves": "1", **each}, "always")
        for n, each in enumerate(changed)
    ]
    return [*diagnosis.of_servers([*told, ServerInfo(Node("r:1", primary=False), WELL, "no")], unserved)]


def test_a_cluster_that_is_well_is_one_line():
    assert [(each.level, each.says) for each in of_cluster({}, {})] == [(OK, "2 nodes and 1 replica serve every slot")]


def test_what_is_wrong_with_a_node_of_a_cluster_is_said_with_its_address():
    found = of_cluster({"maxmemory_policy": "allkeys-lru"}, {"connected_slaves": "0"}, unserved=12)

    assert [each.level for each in found] == [ERROR, WARNING, ERROR]
    assert found[0].says.startswith("n:0: allkeys-lru")
    assert found[1].says == "n:1 has no replica: while it is away, so are its memories"
    assert found[2].says.startswith("12 slots served by no node")
    assert all(each.do for each in found)


def test_one_server_that_is_alone_is_judged_by_itself():
    assert [*diagnosis.of_servers([ServerInfo(ALONE, WELL, "always")], 0)] == [*diagnosis.of_server(WELL, "always")]


@pytest.mark.parametrize(
    ("told", "fsync", "level", "about", "says"),
    [
        ({"redis_version": "6.2.9"}, "always", ERROR, "server", "Redis 6.2.9 is too old"),
        ({"role": "slave"}, "always", ERROR, "server", "replica"),
        ({"used_memory": "9500"}, "always", WARNING, "memory", "nearly out of memory"),
        ({"used_memory": "10001"}, "always", ERROR, "memory", "out of memory"),
        ({"maxmemory_policy": "allkeys-lru"}, "always", ERROR, "eviction", "allkeys-lru"),
        ({"aof_enabled": "0"}, None, WARNING, "disk", "no append-only file"),
        ({"aof_last_write_status": "err"}, "always", ERROR, "disk", "the last write failed"),
        ({}, "no", WARNING, "disk", "half minute"),
        ({}, "everysec", OK, "disk", "last second or two"),
        ({}, None, NOTE, "disk", "cannot tell"),
        ({"maxmemory": None}, "always", NOTE, "memory", "cannot tell"),
        ({"maxmemory_policy": None}, "always", NOTE, "eviction", "cannot tell"),
        ({"aof_enabled": None}, "always", NOTE, "disk", "cannot tell"),
        ({"redis_version": None}, "always", NOTE, "server", "cannot tell"),
    ],
)
def test_what_a_server_tells_is_judged(told, fsync, level, about, says):
    server = {name: value for name, value in {**WELL, **told}.items() if value is not None}
    found = [
        finding for finding in diagnosis.of_server(server, fsync) if finding.about == about and says in finding.says
    ]

    assert [finding.level for finding in found] == [level]
    assert all(finding.do for finding in found if finding.level != OK)


def test_a_server_that_may_not_be_asked_is_no_trouble():
    assert [finding.level for finding in diagnosis.of_server(None, None)] == [NOTE]


@pytest.mark.parametrize(
    ("has", "waited", "levels"), [("0", 0, []), ("0", 1, [ERROR]), ("1", 1, []), ("1", 2, [ERROR]), (None, 1, [])]
)
def test_pushes_that_wait_for_replicas_that_are_not_there_are_told(has, waited, levels):
    told = ServerInfo(ALONE, {"connected_slaves": has} if has else None, "always")

    assert [finding.level for finding in diagnosis.of_replicas([told], waited)] == levels


def test_clocks_that_differ_are_named_with_whose_they_are():
    found = list(diagnosis.of_clocks(-3_000, [worker(7_200_000), worker(100)]))

    assert [finding.says for finding in found] == [
        "this machine is 3.0 s behind the server",
        "worker h-1-ab is 2 h ahead of the server",
    ]
    assert all(finding.trouble for finding in found)
    assert not any(finding.trouble for finding in diagnosis.of_clocks(1_999, [worker(-1_999)]))


def test_nobody_at_work_is_an_error_and_a_worker_of_another_version_a_note():
    assert [finding.level for finding in diagnosis.of_workers([], "1", QUEUES)] == [ERROR]
    assert [finding.level for finding in diagnosis.of_workers([worker(version="2")], "1", QUEUES)] == [OK, NOTE]


@pytest.mark.parametrize(
    ("served", "lacking"),
    [
        ([QUEUES], []),
        ([("ticks", "observe"), ("reflect", "maintenance")], []),
        ([("ticks", "reflect", "maintenance")], ["observe"]),
        ([("observe",), ("observe",)], ["ticks", "reflect", "maintenance"]),
        ([("observe",), ()], []),  # one of an earlier version, which does not say
    ],
)
def test_a_queue_that_no_living_worker_serves_is_named_though_nothing_waits_in_it(served, lacking):
    """Without a worker nothing is handed out: the queue stays empty, and its work waits in the due index."""
    workers = [worker(queues=queues) for queues in served]
    found = [finding for finding in diagnosis.of_workers(workers, "1", QUEUES) if finding.trouble]

    assert [finding.says for finding in found] == [f"none of them serves the queue {name}" for name in lacking]
    assert all(f"-Q {name}" in finding.do for finding, name in zip(found, lacking, strict=True))


@pytest.mark.parametrize(
    ("age", "interval", "late"), [(30_000, 10, False), (36_000, 10, True), (5_200, 0.1, False), (6_000, 0.1, True)]
)
def test_a_tick_is_late_when_three_of_them_are_missing_and_a_grace_is_over(age, interval, late):
    ticks = {"observer": Ticked(at=NOW - age, interval=interval), "reflector": Ticked(at=NOW, interval=30)}
    found = list(diagnosis.of_ticks(ticks, NOW, alive=True))

    assert [finding.level for finding in found] == ([ERROR, OK] if late else [OK])


def test_ticks_that_never_ran_are_an_error_and_those_that_did_not_run_yet_a_note():
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


def test_a_backlog_that_gets_less_is_told_with_when_it_ends_and_a_short_one_not_at_all():
    behind = FleetBacklog(due=1_200, seconds=300, grows=-2.0, more=0, soon=0, tasks=32)
    (found,) = diagnosis.of_backlog("observe", behind, 10)

    assert (found.level, found.says[-34:]) == (NOTE, "as it goes, it is worked off in 10 min"[-34:])
    assert not [*diagnosis.of_backlog("observe", behind._replace(seconds=29), 10)]
    assert not [*diagnosis.of_backlog("observe", None, 10)]


def test_tasks_that_wait_are_told_and_judged_by_what_is_due_alone():
    """No more are handed out than the workers that live can begin: how many wait tells nothing of a backlog."""
    (found,) = diagnosis.of_queues({**dict.fromkeys(QUEUES, 0), "ticks": 10, "observe": 1_001})

    assert (found.level, found.says) == (OK, "1,011 tasks wait")


def test_the_queues_that_are_looked_at_are_those_of_the_workers():
    assert QUEUES == app._QUEUES


def test_resources_are_named_for_quarantine_scope_and_pause():
    standings = [Condition(f"r-{n}", "thread", rejected=1, paused=n == 0) for n in range(7)]
    standings.append(Condition("new", None, rejected=0, paused=False))
    configured = {each.resource: "resource" for each in standings}

    found = {finding.about: finding for finding in diagnosis.of_resources(Standings(8, standings), configured)}

    assert found["quarantine"].says == "7 entries of r-0, r-1, r-2, r-3, r-4 and 2 more"
    assert "om migrate-scope r-0 --to resource" in found["scope"].do
    assert (found["paused"].level, found["paused"].says) == (NOTE, "r-0")
    assert found["quarantine"].trouble
    assert found["scope"].trouble


SOME = "1,000,000 known, looked at were the 2 that workers looked at last"


@pytest.mark.parametrize(
    ("known", "rejected", "says"),
    [
        (2, 0, "2 known, nothing in quarantine"),
        (1_000_000, 0, f"{SOME}, nothing in quarantine"),
        (1_000_000, 1, SOME),
    ],
)
def test_who_was_looked_at_is_said_where_that_is_not_everybody(known, rejected, says):
    conditions = [Condition(name, None, rejected=rejected, paused=False) for name in ("ada", "harold", "unknown")]
    *_, found = diagnosis.of_resources(Standings(known, conditions), {})

    assert (found.level, found.about, found.says) == (OK, "resources", says)


def test_an_open_breaker_is_trouble_with_a_remedy_and_what_a_provider_asks_for_is_a_note():
    states = {
        "well": BreakerState("closed", failures=4),
        "down": BreakerState("open", 95.0, failures=5),
        "probed": BreakerState("open", 0.0, failures=5),
        "busy": BreakerState("busy", 40.0),
        "held": BreakerState("held", room=3),
    }
    found = list(diagnosis.of_breakers(states))

    assert [finding.level for finding in found] == [WARNING, WARNING, NOTE, NOTE]
    assert [finding.says.partition(" is ")[0] for finding in found] == ["down", "probed", "busy", "held"]
    assert "failed 5 times in a row" in found[0].says
    assert "at most 3 times at once" in found[3].says
    assert all(finding.do for finding in found)


@pytest.mark.parametrize(
    ("said", "named"),
    [(["one", "one"], []), (["", "one"], []), (["one", "two"], ["w-1"]), (["two", "two"], ["w-0", "w-1"])],
)
def test_workers_that_go_by_other_settings_are_named_with_what_to_do(said, named):
    """One of an earlier version does not say which it goes by."""
    workers = [Worker(name=f"w-{n}", host="h", pid=n, version="1", settings=each) for n, each in enumerate(said)]
    found = [*diagnosis.of_settings(workers, "one")]

    assert [finding.says.partition(":")[0] for finding in found] == ([", ".join(named)] if named else [])
    assert all(finding.level == WARNING and "restart those" in finding.do for finding in found)


def _webhook(**fields):
    given = {
        "id": "wh-1",
        "url": "https://example.org/om",
        "events": (),
        "resources": (),
        "created_at": 1,
        "disabled": "",
    }
    return WebhookState(**{**given, **fields})


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (_webhook(), [("ok", "1, 0 deliveries wait")]),
        (_webhook(waiting=2, oldest=NOW - 600_000), [("ok", "1, 2 deliveries wait")]),
        (_webhook(waiting=2, oldest=NOW - 660_000), [("warning", "wh-1: 2 deliveries wait, the oldest for 11 min")]),
        (_webhook(waiting=2, oldest=NOW - 660_000, disabled="410"), [("warning", "wh-1 is disabled: 410")]),
    ],
)
def test_a_webhook_that_fails_for_long_is_named_before_it_is_given_up(state, found):
    told = list(diagnosis.of_webhooks([state], NOW))

    assert [(each.level, each.says) for each in told] == found


@pytest.mark.parametrize(
    ("waits", "found"),
    [
        ([], []),
        ([(NOW - 7_200_000, NOW + 1)], [("note", "1 reflection waits for a review, the first for 2 h")]),
        ([(NOW - 7_200_000, NOW - 300_000)], [("note", "1 reflection waits for a review, the first for 2 h")]),
        (
            [(NOW - 7_200_000, NOW - 660_000)],
            [("warning", "harold: the review of a reflection ended, and it does not count yet")],
        ),
    ],
)
def test_reflections_that_wait_are_told_and_those_that_wait_too_long_are_trouble(waits, found):
    waiting = [
        WaitingReview(resource="harold", thread=None, id="r", asked_at=at, expires_at=until) for at, until in waits
    ]
    told = list(diagnosis.of_reviews(waiting, NOW))

    assert [(each.level, each.says) for each in told] == found
    assert all(each.do for each in told)


HOLDS = Figures(12, 340, 3, 1_200_000)
BEHIND, FAILING = (
    ArchiveBacklog(3, 1_200_000, None),
    ArchiveBacklog(3, 1_200_000, ArchiveFault(NOW - 7_200_000, "the disk is full")),
)


@pytest.mark.parametrize(
    ("backlog", "answers", "levels", "says"),
    [
        (
            ArchiveBacklog(0, 0, None),
            True,
            [OK],
            "12 entries, 340 messages of 3 resources, 1.2 MB; 0 resources are due",
        ),
        (ArchiveBacklog(1, 599_000, None), True, [OK], "1 resource is due"),
        (BEHIND, True, [WARNING], "3 resources are due to be looked at, the first for 20 min"),
        (
            FAILING,
            True,
            [ERROR],
            "nothing was archived for 2 h (3 resources are due to be looked at): the disk is full",
        ),
        (ArchiveBacklog(0, 0, None), False, [ERROR], "sqlite:///past.db cannot be read from here: away"),
        (BEHIND, False, [WARNING, ERROR], "20 min"),
    ],
)
def test_an_archive_that_is_behind_or_fails_is_told_with_since_when_and_why(backlog, answers, levels, says):
    state = ArchiveState("sqlite:///past.db", backlog, *([HOLDS] if answers else [None, "away"]))
    found = list(diagnosis.of_archive(state, "", NOW))

    assert [each.level for each in found] == levels
    assert says in found[0].says
    assert all(bool(each.do) == each.trouble for each in found)


def test_of_no_archive_nothing_is_told_and_of_a_backend_what_it_means():
    (told,) = diagnosis.of_archive(None, "Redis stays", NOW)
    (untold,) = diagnosis.of_archive(None, "", NOW, is_begun=True)

    assert (untold.level, "archive.url" in untold.do) == (ERROR, True)
    assert list(diagnosis.of_archive(None, "", NOW)) == []
    assert (told.level, told.about, told.says) == (NOTE, "storage", "Redis stays")
    assert told.do
