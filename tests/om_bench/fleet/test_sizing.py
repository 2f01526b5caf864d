"""What so many agents take is what their messages, calls and bytes come to."""

import pytest

from om_api.settings import MemorySettings
from om_bench.cost.bills import rates_of
from om_bench.fleet import sizing, unit_costs
from om_bench.fleet.load import ASSUMED, Ground, Load
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


def test_ten_times_the_agents_take_ten_times_as_much():
    one, ten = MADE.sizes(1e7), MADE.sizes(1e8)

    for name in ("pushes", "calls", "tokens_a_minute", "now_bytes", "past_bytes", "archive_bytes", "worker_cores"):
        assert getattr(ten, name) == pytest.approx(10 * getattr(one, name))
    assert ten.workers == pytest.approx(10 * one.workers, abs=10)


@pytest.mark.parametrize("agents", [1e6, 1e7, 1e8])
def test_there_are_servers_and_workers_enough(agents):
    """Half of the memory of the primaries, and three fifths of their cores, of the workers' and of the threads."""
    size, ground = MADE.sizes(agents), Ground()

    assert 2 * (size.now_bytes + size.past_bytes) <= size.primaries * ground.server_gib * 2**30
    assert 2 * size.now_bytes <= size.primaries_archive * ground.server_gib * 2**30
    assert size.store_cores <= sizing.BUSY * size.primaries_archive
    assert size.worker_cores <= sizing.BUSY * size.workers
    assert size.in_flight <= sizing.BUSY * size.workers * ground.threads


def test_what_is_full_first_stands_first_and_is_full_where_it_is_said():
    limits = list(MADE.limits(1e7))

    assert [each.full_at for each in limits] == sorted(each.full_at for each in limits)
    for limit in limits:
        again = next(each for each in MADE.limits(limit.full_at) if each.what == limit.what)
        assert again.share == pytest.approx(1, rel=0.1)  # processes are whole ones


def test_a_slower_model_takes_more_threads_and_no_more_calls():
    slow = Sizing(COSTS, Load(), Ground(model_s=60)).sizes(1e8)

    assert slow.calls == MADE.sizes(1e8).calls
    assert slow.workers == pytest.approx(10 * MADE.sizes(1e8).workers, rel=0.01)


def test_every_assumption_is_told():
    assert set(ASSUMED) == {*Load.__struct_fields__, *Ground.__struct_fields__}


def test_the_numbers_of_the_code_are_those_of_the_code():
    load, settings = Load(), MemorySettings()

    assert sizing._SWEPT == sweep._RESOURCES / 60
    assert dispatcher._SHARES["observe"] == 1.0  # as many wait as run at a time: what `simulate` goes by
    assert (load.threshold, load.notes) == (settings.message_threshold, settings.observation_threshold)
    assert load.days == settings.ttl_days


def test_the_busiest_hour_is_simulated_with_the_calls_that_come_then():
    played = MADE.played(1e7)

    assert len(played.waits) / played.seconds == pytest.approx(MADE.sizes(1e7).calls, rel=0.05)
    assert played.busy["broker"] == pytest.approx(MADE.sizes(1e7).calls * COSTS.seconds("broker_ms"), rel=0.1)
