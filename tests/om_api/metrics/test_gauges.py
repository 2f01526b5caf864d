"""From one look to samples, by hand: each figure is what the look found, and what nobody knows is left out.

One look sees what workers did, and an empty store is no error.
"""

import pytest

from om_api import load_settings
from om_api.domain.values import Record
from om_api.metrics.gauges import Broker, Measurements, of_gauges
from om_api.store.archiving.archivable import ArchiveBacklog, ArchiveFault
from om_api.store.fleet.backlog import FleetBacklog
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import Waiting
from om_api.store.fleet.presence import Ticked
from om_api.store.fleet.resource_tiers import Elsewhere, Level, Tiers

NOTHING = Measurements(
    now=100_000, own={}, every={}, tiers={}, elsewhere=Elsewhere(0, 0, 0), budgets=[], waiting=[], ticks={},
    breakers={}, workers=0, behind={},
)  # fmt: skip
RECORD = Record(chunk_tokens=200, observation_tokens=400, reflection_tokens=100, observed_tokens=5_000)


def samples(**found):
    """The gauges of a look that found this and nothing else, by name without `cortex_om_` and labels."""
    settings = load_settings(environ={"OM_MESSAGE_THRESHOLD": "1000", "OM_OBSERVATION_THRESHOLD": "4000"})
    told = of_gauges(NOTHING._replace(**found), settings)
    return {(each.series.removeprefix("cortex_om_"), *each.labels): each.value for each in told}


def test_a_memory_is_as_full_as_its_record_or_its_fullest_thread_says():
    found = samples(own={"harold": {}}, tiers={"harold": Tiers(300, 2, (Level(300, RECORD),))})
    assert found["messages_tokens", "harold"] == found["messages_tokens_total", "harold"] == 300
    assert found["chunks_tokens", "harold"] == 200
    assert found["compression_ratio", "harold"] == 10
    assert found["message_pressure_ratio", "harold"] == pytest.approx(0.5)
    assert found["observation_pressure_ratio", "harold"] == pytest.approx(0.1)
    assert found["quarantine_messages", "harold"] == 2

    levels = (Level(100, Record()), Level(900, RECORD), Level(50, Record()))
    found = samples(own={"harold": {}}, tiers={"harold": Tiers(1_050, 0, levels, left_out=7)})
    assert found["message_pressure_ratio", "harold"] == pytest.approx(1.1)
    assert found["threads_left_out",] == 7
    wanted = samples(behind={"observe": FleetBacklog(9, 60, 1.0, 2, 3, 32), "reflect": None})
    assert (wanted["workers_wanted", "observe"], wanted["workers_wanted", "reflect"]) == (3, 0)


def test_waits_ticks_and_breakers_are_in_seconds_and_words():
    found = samples(
        waiting=[Waiting("observe", 3, 90_000)],
        ticks={
            "observer": Ticked(at=60_000, interval=10.0), "sweep": None, "reflector": Ticked(at=200_000, interval=30.0),
        },
        breakers={"m": BreakerState("open", 30.0, 5)},
    )  # fmt: skip

    assert (found["lag_seconds", "observe"], found["due_scopes", "observe"]) == (90, 3)
    assert (found["tick_age_seconds", "observer"], found["tick_interval_seconds", "observer"]) == (40, 10)
    assert found["tick_age_seconds", "reflector"] == 0  # a clock that was ahead
    assert ("tick_age_seconds", "sweep") not in found
    assert (found["breaker_state", "m", "open"], found["breaker_state", "m", "closed"]) == (1, 0)


def test_a_broker_is_there_or_away_or_cannot_be_asked():
    for broker, up, tasks in [(None, None, None), (Broker(None), 0, None), (Broker({"observe": 4}), 1, 4)]:
        found = samples(broker=broker)
        assert (found.get(("broker_up",)), found.get(("queue_tasks", "observe"))) == (up, tasks), broker


ARCHIVE = ("archive_due", "archive_behind_seconds", "archive_failing_seconds", "archived_total")


def test_an_archive_tells_what_is_due_how_far_it_is_behind_and_since_when_it_fails():
    """Catches a fault of this moment that reads as 0, which says that there is none."""
    fault = ArchiveFault(40_000, "full")
    for backlog, told in [
        (ArchiveBacklog(0, 0, None), (0, 0, 0, 40)),
        (ArchiveBacklog(3, 90_000, None), (3, 90, 0, 40)),
        (ArchiveBacklog(3, 90_000, fault), (3, 90, 60, 40)),
    ]:
        found = samples(archive=backlog, every={"archived": 40})
        assert tuple(found[name,] for name in ARCHIVE) == told
    now = samples(archive=ArchiveBacklog(0, 0, ArchiveFault(100_000, "full")))
    assert now["archive_failing_seconds",] > 0
    assert not any((name,) in samples(every={"archived": 40}) for name in ARCHIVE)
