"""From one look to samples, by hand: each figure is what the look found, and what nobody knows is left out.

One look sees what workers did, and an empty store is no error.
"""

import pytest
from world import World

from om_api import load_settings
from om_api.billing import budgets
from om_api.billing.costs import Left
from om_api.domain.values import Record
from om_api.metrics import gauges
from om_api.metrics.gauges import Broker, Measurements, of_gauges
from om_api.metrics.series import EVERYBODY, OTHER
from om_api.store.archiving.archivable import ArchiveBacklog, ArchiveFault
from om_api.store.fleet.backlog import FleetBacklog
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import Waiting
from om_api.store.fleet.presence import Ticked
from om_api.store.fleet.resource_tiers import Elsewhere, Level, Tiers
from om_api.store.memory.quarantine import UNKNOWN

NOTHING = Measurements(
    now=100_000,
    own={},
    every={},
    tiers={},
    elsewhere=Elsewhere(0, 0, 0),
    budgets=[],
    waiting=[],
    ticks={},
    breakers={},
    workers=0,
    behind={},
)
RECORD = Record(chunk_tokens=200, observation_tokens=400, reflection_tokens=100, observed_tokens=5_000)


def samples(**found):
    """The gauges of a look that found this and nothing else, by name without `cortex_om_` and labels."""
    settings = load_settings(environ={"OM_MESSAGE_THRESHOLD": "1000", "OM_OBSERVATION_THRESHOLD": "4000"})
    told = of_gauges(NOTHING._replace(**found), settings)
    return {(each.series.removeprefix("cortex_om_"), *each.labels): each.value for each in told}


def test_workers_are_wanted_while_the_fleet_is_behind():
    found = samples(behind={"observe": FleetBacklog(9, 60, 1.0, 2, 3, 32), "reflect": None})

    assert (found["workers_wanted", "observe"], found["workers_wanted", "reflect"]) == (3, 0)


def test_a_memory_is_as_full_as_its_record_says():
    found = samples(own={"harold": {}}, tiers={"harold": Tiers(300, 2, (Level(300, RECORD),))})

    assert found["messages_tokens", "harold"] == 300
    assert found["chunks_tokens", "harold"] == 200
    assert found["compression_ratio", "harold"] == 10
    assert found["message_pressure_ratio", "harold"] == pytest.approx(0.5)
    assert found["observation_pressure_ratio", "harold"] == pytest.approx(0.1)
    assert found["quarantine_messages", "harold"] == 2


@pytest.mark.parametrize("tier", ["messages", "observations", "reflections"])
def test_a_tier_is_told_under_both_of_its_names(tier):
    found = samples(own={"harold": {}}, tiers={"harold": Tiers(300, 2, (Level(300, RECORD),))})

    assert found[f"{tier}_tokens_total", "harold"] == found[f"{tier}_tokens", "harold"] > 0


def test_where_nothing_is_kept_there_is_no_ratio_to_it():
    found = samples(own={"ada": {}}, tiers={"ada": Tiers(100, 0, (Level(100, Record()),))})

    assert ("compression_ratio", "ada") not in found
    assert found["observations_tokens", "ada"] == 0


def test_of_threads_that_keep_their_own_memory_the_fullest_counts():
    levels = (Level(100, Record()), Level(900, RECORD), Level(50, Record()))
    found = samples(own={"harold": {}}, tiers={"harold": Tiers(1_050, 0, levels, left_out=7)})

    assert found["message_pressure_ratio", "harold"] == pytest.approx(1.1)
    assert found["threads_left_out",] == 7


def test_who_cannot_be_read_is_counted_and_quarantines_of_others_and_of_nobody_are_shown():
    found = samples(own={"harold": {}, "ada": {}}, elsewhere=Elsewhere(9, 3, 4), workers=2)

    assert (found["measured_resources",], found["unreadable_resources",], found["resources",]) == (2, 2, 9)
    assert (found["quarantine_messages", OTHER], found["quarantine_messages", UNKNOWN]) == (3, 4)
    assert found["workers",] == 2


def test_a_budget_that_permits_nothing_is_used_up():
    of_all = Left(setting="total_budget.calls_per_day", limit=0, used=0, left=0, reached=True, then="pause")
    own = Left(setting="budget.calls_per_day", limit=10, used=9, left=1, reached=False, then="pause")
    found = samples(budgets=[(budgets.ALL, of_all), ("harold", own)])

    assert found["budget_used_ratio", EVERYBODY, "total_budget.calls_per_day"] == 1
    assert found["budget_used_ratio", "harold", "budget.calls_per_day"] == 0.9


def test_waits_ticks_and_breakers_are_in_seconds_and_words():
    found = samples(
        waiting=[Waiting("observe", 3, 90_000)],
        ticks={
            "observer": Ticked(at=60_000, interval=10.0),
            "sweep": None,
            "reflector": Ticked(at=200_000, interval=30.0),
        },
        breakers={"m": BreakerState("open", 30.0, 5)},
    )

    assert (found["lag_seconds", "observe"], found["due_scopes", "observe"]) == (90, 3)
    assert (found["tick_age_seconds", "observer"], found["tick_interval_seconds", "observer"]) == (40, 10)
    assert found["tick_age_seconds", "reflector"] == 0  # a clock that was ahead
    assert ("tick_age_seconds", "sweep") not in found
    assert (found["breaker_state", "m", "open"], found["breaker_state", "m", "closed"]) == (1, 0)


@pytest.mark.parametrize(
    ("broker", "up", "tasks"), [(None, None, None), (Broker(None), 0, None), (Broker({"observe": 4}), 1, 4)]
)
def test_a_broker_is_there_or_away_or_cannot_be_asked(broker, up, tasks):
    found = samples(broker=broker)

    assert (found.get(("broker_up",)), found.get(("queue_tasks", "observe"))) == (up, tasks)


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def look(world):
    return world.services.run(gauges.read(world.settings, world.services.keys))


def test_an_empty_store_has_nothing_to_tell(world):
    found = look(world)

    assert (found.own, found.tiers, found.workers, found.broker) == ({}, {}, 0, None)
    assert set(found.ticks.values()) == {None}
    assert {state.word for state in found.breakers.values()} == {"closed"}
    assert found.now > 1_700_000_000_000


def test_a_memory_that_was_observed_is_counted_and_measured(world):
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    found, stats = look(world), world.om.stats("harold")

    assert found.own.keys() == found.tiers.keys() == {"harold"}
    assert found.own["harold"]["observations"] == found.every["observations"] > 0
    assert found.tiers["harold"].unsealed == stats.message_tokens
    assert found.elsewhere.resources == 1


def test_no_more_breakers_are_read_than_one_look_may(world, monkeypatch):
    monkeypatch.setattr(gauges, "MODELS", 1)

    assert len(look(world).breakers) == 1


ARCHIVE = ("archive_due", "archive_behind_seconds", "archive_failing_seconds", "archived_total")


@pytest.mark.parametrize(
    ("backlog", "told"),
    [
        (ArchiveBacklog(0, 0, None), (0, 0, 0, 0)),
        (ArchiveBacklog(3, 90_000, None), (3, 90, 0, 0)),
        (ArchiveBacklog(3, 90_000, ArchiveFault(40_000, "full")), (3, 90, 60, 0)),
    ],
)
def test_an_archive_tells_what_is_due_how_far_it_is_behind_and_since_when_it_fails(backlog, told):
    found = samples(archive=backlog)

    assert tuple(found[name,] for name in ARCHIVE) == told


def test_a_fault_of_this_moment_is_one():
    """Catches a fault that reads as 0, which says that there is none."""
    assert samples(archive=ArchiveBacklog(0, 0, ArchiveFault(100_000, "full")))["archive_failing_seconds",] > 0


def test_what_was_archived_is_counted():
    assert samples(archive=ArchiveBacklog(0, 0, None), every={"archived": 40})["archived_total",] == 40


def test_where_there_is_no_archive_there_is_no_figure_of_it():
    assert not any((name,) in samples(every={"archived": 40}) for name in ARCHIVE)
