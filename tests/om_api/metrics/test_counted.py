"""From counters to samples: durations cumulate, money is in dollars, and what is left for the others never falls."""

from typing import get_args

import pytest

from om_api import load_settings
from om_api.billing.costs import CACHED, savings
from om_api.billing.prices import TokenPrices
from om_api.domain.errors import Why
from om_api.domain.events import BOUNDS, Event, counts_of
from om_api.metrics.counted import Others, of_counters
from om_api.metrics.series import OTHER

SETTINGS = load_settings(
    environ={"OM_ACTOR_MODEL": "actor", "OM_MODELS__ACTOR__PRICES": "{input: 3, cached: 0.3, output: 9}"}
)
SERVED = {"contexts": 3, "tokens": 1_000, "cached": 600, "raw": 9_000, "raw_cached": 6_000}


def values(own=None, others=None, settings=SETTINGS):
    """Samples by series and labels."""
    return {(each.series, *each.labels): each.value for each in of_counters(own or {}, others or {}, settings)}


def counted(*events):
    sums = {}
    for event in events:
        for name, amount in counts_of(event).items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def test_what_events_count_is_what_is_shown():
    own = counted(
        Event(kind="buffered", seconds=0.7), Event(kind="buffered", seconds=0.2), Event(kind="reflected", seconds=4),
        Event(kind="quarantined", messages=2), Event(kind="failed", why="timeout"),
    )  # fmt: skip
    found = values({"harold": own})

    assert found["cortex_om_observations_created_total", "harold"] == 2
    assert found["cortex_om_reflections_created_total", "harold"] == 1
    assert found["cortex_om_quarantined_total", "harold"] == 2
    assert {kind: found["cortex_om_failures_total", "harold", kind] for kind in get_args(Why)} == {
        **dict.fromkeys(get_args(Why), 0),
        "timeout": 1,
    }


def test_durations_cumulate_up_to_what_took_longer_than_every_bound():
    took = (0.2, 0.5, 0.7, 2.0, 4_000)
    own = counted(*(Event(kind="buffered", seconds=seconds) for seconds in took))
    buckets, seconds = values({"harold": own})["cortex_om_observer_duration_seconds", "harold"]

    assert buckets[:3] == (("0.5", 2), ("1.0", 3), ("2.0", 4))
    assert buckets[-2:] == (("600.0", 4), ("+Inf", 5))
    assert len(buckets) == len(BOUNDS) + 1
    assert seconds == pytest.approx(sum(took))


def test_savings_and_the_stable_share_are_reckoned_as_om_costs_does():
    own = {f"served|{what}": amount for what, amount in SERVED.items()} | {"micros|observer": 1_000}
    found = values({"harold": own})
    saved = {each.baseline: each.saved_dollars for each in savings(SERVED, TokenPrices(3, 0.3), 0.001)}

    assert found["cortex_om_cost_savings_total", "harold"] == pytest.approx(saved[CACHED])
    assert found["cortex_om_prefix_stable_share", "harold"] == 0.6
    assert (found["cortex_om_contexts_total", "harold"], found["cortex_om_context_tokens_total", "harold"]) == (
        3,
        1_000,
    )


def test_the_others_do_not_fall_when_a_count_came_between_two_reads():
    others = Others()
    looks = [(2, 9), (2, 10), (3, 10), (3, 11)]
    found = [others.of({"harold": {"observations": own}}, {"observations": every}) for own, every in looks]
    assert [each["observations"] for each in found] == [7, 8, 8, 8]
    assert values(others=found[-1])["cortex_om_observations_created_total", OTHER] == 8
    assert others.of({}, {"observations": 2}) == {"observations": 2}  # the store was emptied
