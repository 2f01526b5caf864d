"""What a client reads: tables of agents, usage over time."""

import random

import pytest
from world import World

from om_api import load_settings
from om_api.client.fleet import agent_table
from om_api.client.fleet.agent_rows import STATES, Row, row_of
from om_api.client.fleet.agent_table import AgentTable, Filter
from om_api.domain.values import Record, Scope
from om_api.store.fleet import samples
from om_api.store.fleet.resource_summaries import ResourceSummary
from om_api.store.fleet.resource_tiers import Level, Tiers
from om_api.store.fleet.samples import TEN_MINUTES, TierSample
from om_api.store.fleet.spending import Most

ALL = Filter()


def names(table, column="pressure", wanted=ALL, descending=True, limit=1_000):
    return table.page(wanted, column, None, limit, descending=descending).names


def test_an_order_stays_right_while_agents_come_go_and_change(monkeypatch):
    """Each change is put in its place in the kept order; breaks where one that moved is looked for by its new value."""
    monkeypatch.setattr(agent_table, "_ANEW", 2)
    dice, table, rows = random.Random(3), AgentTable(), {}
    for _ in range(200):
        changed = {f"a-{dice.randrange(60)}": Row(pressure=dice.randrange(5), at=dice.randrange(9)) for _ in range(9)}
        rows |= changed
        table.put(changed)
        gone = [name for name in rows if dice.random() < 0.05]
        table.remove(gone)
        rows = {name: row for name, row in rows.items() if name not in gone}
        for column, field in (("pressure", "pressure"), ("activity", "at"), ("resource", None)):
            place = {name: ((getattr(row, field) if field else 0), name) for name, row in rows.items()}
            assert names(table, column, descending=False) == sorted(rows, key=place.__getitem__)


NOW, FREE = 1_790_000_000_000, Most(0, 0, 0)


def row(used=FREE, paused=False, rejected=0, due_since=0, **named):
    level = Level(10, Record(epoch="e"), 1, Scope("harold"))
    tiers = Tiers(10, rejected, (level,))
    summary = ResourceSummary("harold", True, NOW - 5, "t1", due_since, used, paused, tiers)
    return row_of(load_settings(None, {f"OM_{name.upper()}": value for name, value in named.items()}), summary, 7)


def test_the_first_state_that_is_so_is_told():
    spent = {"used": Most(10, 0, 0), "budget__calls_per_day": "10"}
    for state, given in (
        ("ok", {}), ("waiting", {"due_since": NOW - 1}), ("quarantine", {"due_since": NOW - 1, "rejected": 2}),
        ("stopped", {**spent, "rejected": 2}), ("paused", {**spent, "paused": True}),
    ):  # fmt: skip
        assert STATES[row(**given).state] == state, state


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, models__priced__prices="{input: 1, cached: 0.1, output: 4}", actor_model="priced")


def sampled(world, *taken, resource=None, step=TEN_MINUTES, ago=0):
    now = world.om.ping() - ago
    for n, sample in enumerate(taken):
        at = now - (len(taken) - 1 - n) * step * 1_000
        world.services.run(samples.add(world.services.keys, [step], at, {resource: sample}))


def test_points_tell_levels_and_what_came_since_the_point_before(world):
    sampled(
        world,
        TierSample(
            5, 2, messages=10, observations=100, reflections=100, observed=1000, micros=5_000_000, contexts=7,
            tokens=70, raw=700,
        ),
        TierSample(6, 2, messages=20, micros=6_000_000, contexts=9, tokens=90, raw=1_000_900, cached=10),
    )  # fmt: skip
    first, second = world.om.series().points

    assert (first.agents, first.measured, first.message_tokens, first.compression) == (5, 2, 10, 5.0)
    assert (first.cost, first.contexts) == (0, 0)
    assert (second.cost, second.contexts, second.served_tokens, second.history_tokens) == (1.0, 2, 20, 1_000_200)
    assert second.compression is None
    assert second.saved_dollars == pytest.approx(1.0002 - (10 + 1) / 1e6 - 1.0)
