"""A row says of an agent what was read of it, in little room, and the first state that is so."""

import pytest

from om_api import load_settings
from om_api.client.fleet.agent_rows import BROKEN, STATES, Row, agent_of, row_of, unpacked, waits_since
from om_api.domain.values import Record, Scope
from om_api.settings import recorded_settings
from om_api.store.fleet.resource_summaries import ResourceSummary
from om_api.store.fleet.resource_tiers import Level, Tiers
from om_api.store.fleet.spending import Most

NOW, FREE = 1_790_000_000_000, Most(0, 0, 0)


def settings(**named):
    return load_settings(None, {f"OM_{name.upper()}": value for name, value in named.items()})


def level(unsealed, chunk=0, observed=0, reflected=0, behind=0, thread=None, **limits):
    own = recorded_settings.write(recorded_settings.of(settings(**limits).for_agent("harold"))) if limits else ""
    tokens = {"observation_tokens": observed, "reflection_tokens": reflected, "observed_tokens": behind}
    return Level(unsealed, Record(epoch="e", chunk_tokens=chunk, **tokens, limits=own), 1, Scope("harold", thread))


def summary(*levels, used=FREE, paused=False, rejected=0, due_since=0):
    tiers = Tiers(sum(each.unsealed for each in levels), rejected, levels)
    return ResourceSummary("harold", True, NOW - 5, "t1", due_since, used, paused, tiers)


def row(*levels, named=None, **more):
    return row_of(
        settings(message_threshold="1000", observation_threshold="4000", **(named or {})), summary(*levels, **more), 7
    )


def test_an_agent_is_told_as_it_was_read():
    told = agent_of("harold", unpacked(row(level(400, 200, 1000, 500, 6000), due_since=NOW - 9_500).packed()), NOW, 1)

    assert (told.resource, told.state, told.lag, told.at, told.chunks, told.ready_chunks) == (
        *("harold", "waiting", 9.5, NOW - 5),
        *(1, 1),
    )
    assert (told.message_tokens, told.chunk_tokens, told.message_threshold, told.pressure) == (400, 200, 1000, 0.6)
    assert (told.observation_tokens, told.fill, told.reflection_tokens, told.compression) == (1000, 0.25, 500, 4.0)


def test_of_a_memory_for_each_thread_the_fullest_one_counts_and_tokens_are_added_up():
    made = row(level(900, thread="t-1"), level(100, 0, 3000, thread="t-2"))

    assert (made.message_tokens, made.pressure, made.fill, made.chunks) == (1000, 0.9, 0.75, 2)


def test_thresholds_are_those_that_the_workers_wrote_down():
    assert row(level(400, message_threshold="500")).pressure == 0.8


@pytest.mark.parametrize(
    ("state", "given"),
    [
        ("ok", {}),
        ("waiting", {"due_since": NOW - 1}),
        ("quarantine", {"due_since": NOW - 1, "rejected": 2}),
        ("stopped", {"rejected": 2, "used": Most(10, 0, 0), "named": {"budget__calls_per_day": "10"}}),
        ("paused", {"used": Most(10, 0, 0), "paused": True, "named": {"budget__calls_per_day": "10"}}),
    ],
)
def test_the_first_state_that_is_so_is_told(state, given):
    assert STATES[row(level(10), **given).state] == state


def test_a_budget_that_goes_on_with_the_extractive_model_stops_nothing():
    named = {"budget__calls_per_day": "10", "budget__tokens_per_day": "100", "budget__then": "extractive"}
    made = row(level(10), used=Most(12, 50, 9), named=named)

    assert (STATES[made.state], agent_of("harold", made, NOW, 0).budget_used) == ("ok", 1.2)
    assert agent_of("harold", row(level(10)), NOW, 0).budget_used is None


def test_on_a_new_day_nothing_is_spent_and_nobody_is_stopped():
    made = row(level(10), used=Most(10, 0, 70), named={"budget__calls_per_day": "10"}).on_a_new_day()
    told = agent_of("harold", made, NOW, 0)

    assert (told.state, told.cost_today, told.budget_used) == ("ok", 0, 0)
    assert STATES[BROKEN.on_a_new_day().state] == "broken"


def test_who_waits_for_longest_has_most_of_it():
    assert waits_since(NOW - 9) > waits_since(NOW - 5) > waits_since(0) == 0
    assert waits_since(waits_since(NOW)) == NOW


def test_absurd_figures_of_others_fit_a_row():
    assert unpacked(row(level(10), used=Most(0, 0, 10**400)).packed()).micros == 2**53
    assert len(Row().packed()) < 150
