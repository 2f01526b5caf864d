"""What so many agents take is what their messages, calls and bytes come to."""

import pytest

from om_api.settings import MemorySettings
from om_bench.cost.bills import rates_of
from om_bench.fleet import sizing, unit_costs
from om_bench.fleet.load import Ground, Load
from om_bench.fleet.sizing import Sizing
from om_workers.work import dispatcher, sweep

COSTS = unit_costs.read()
MADE = Sizing(COSTS, Load(), Ground())


def test_flows_are_those_of_the_busiest_hour():
    size = MADE.sizes(864_000)

    assert size.pushes == pytest.approx(864_000 * 0.1 * 200 / 86_400 * 3)
    assert size.calls == pytest.approx(size.pushes * 75 * COSTS["calls_per_token"])
    assert size.in_flight == pytest.approx(6 * size.calls)


def test_models_cost_what_the_table_of_prices_says_of_a_month():
    said = 1_000_000 * 0.1 * 200 * 75 * 30
    price = rates_of("gemini-2.5-flash-lite")
    dollars = said * (COSTS["input_per_token"] * price.fresh + COSTS["output_per_token"] * price.output) / 1e6

    assert MADE.sizes(1e6).dollars["models"] == pytest.approx(dollars)


def test_there_are_servers_and_workers_enough():
    """Half of the memory of the primaries, and three fifths of their cores, of the workers' and of the threads."""
    for agents in [1e6, 1e7, 1e8]:
        size, ground = MADE.sizes(agents), Ground()

        assert 2 * (size.now_bytes + size.past_bytes) <= size.primaries * ground.server_gib * 2**30, agents
        assert 2 * size.now_bytes <= size.primaries_archive * ground.server_gib * 2**30, agents
        assert size.store_cores <= sizing.BUSY * size.primaries_archive, agents
        assert size.worker_cores <= sizing.BUSY * size.workers, agents
        assert size.in_flight <= sizing.BUSY * size.workers * ground.threads, agents


def test_the_numbers_of_the_code_are_those_of_the_code():
    load, settings = Load(), MemorySettings()

    assert sizing._SWEPT == sweep._RESOURCES / 60
    assert dispatcher._SHARES["observe"] == 1.0  # as many wait as run at a time: what `simulate` goes by
    assert (load.threshold, load.notes) == (settings.message_threshold, settings.observation_threshold)
    assert load.days == settings.ttl_days
