"""What was asked for and is `busy` says what holds it, and until when; where nothing does, it says nothing."""

import pytest
from world import World

from om_api.client.held import Held
from om_api.store.fleet import breaker, spending
from om_api.store.fleet.breaker import Attempt
from om_api.store.fleet.spending import DAY_MS, Most, Need
from om_api.store.memory import model_cooldown

TWO = {"observer_model": '["a", "b"]'}


@pytest.fixture
def house(client, prefix):
    """A house with a message to observe, and settings that a test names."""

    def make(**changed):
        world = World(client, prefix, **{"observer_model": "a", **changed})
        world.say("hello")
        return world

    return make


def now(world):
    seconds, micros = world.client.time()
    return seconds * 1_000 + micros // 1_000


def spend(world, calls=1):
    for n in range(calls):
        keys, clock = world.services.keys, world.services.clock
        world.services.run(spending.reserve(keys, clock, "harold", f"e{n}", Need(), Most(), Most()))


def rests(world, model, outcome="busy", times=2):
    """Breaks off a model: two refusals leave room for less than one call, five failures open its breaker."""
    for n in range(times):
        call = Attempt(model, f"t{n}", 60)
        world.services.run(breaker.enter(world.services.keys, call))
        world.services.run(breaker.report(world.services.keys, call, outcome, 40 if outcome == "busy" else 0))


def test_where_nothing_holds_it_nothing_is_said(house):
    world = house(budget__calls_per_day="5", total_budget__calls_per_day="5")
    spend(world)

    assert world.om.held("harold") is world.om.held("harold", "reflect") is None
    assert world.om.held("nobody") is None


@pytest.mark.parametrize("group", ["budget", "total_budget"])
def test_a_budget_that_is_used_up_holds_it_until_the_next_day_of_the_servers(house, group):
    world = house(**{f"{group}__calls_per_day": "1"})
    spend(world)
    whose = "harold" if group == "budget" else "all agents"
    told = world.om.held("harold")

    assert told.reason == f"the budget of {whose} is used up ({group}.calls_per_day)"
    assert told.until % DAY_MS == 0
    assert 0 < told.until - now(world) <= DAY_MS
    assert world.om.held("harold", "reflect") == told


def test_a_budget_that_lets_the_extractive_model_stand_in_holds_nothing(house):
    world = house(budget__calls_per_day="1", budget__then="extractive")
    spend(world)

    assert world.om.held("harold") is None


def test_a_model_whose_provider_asked_for_a_pause_holds_it_as_long(house):
    world = house()
    rests(world, "a")
    told = world.om.held("harold")

    assert told.reason == "a is resting (its provider asked for a pause)"
    assert 30_000 < told.until - now(world) <= 40_000


def test_a_model_that_failed_again_and_again_holds_it_until_it_is_asked_again(house):
    world = house()
    rests(world, "a", "late", times=5)
    told = world.om.held("harold")

    assert told.reason == "a is resting (it failed again and again)"
    assert told.until > now(world)


@pytest.mark.parametrize("resting", [["a"], ["b"], []])
def test_a_model_of_a_list_that_rests_holds_nothing_while_another_may_be_asked(house, resting):
    world = house(**TWO)
    for name in resting:
        rests(world, name)

    assert world.om.held("harold") is None


def test_of_models_that_all_rest_each_is_named(house):
    world = house(**TWO)
    rests(world, "a")
    rests(world, "b", "late", times=5)

    assert "a is resting (its provider asked for a pause), b is resting (it failed" in world.om.held("harold").reason


@pytest.mark.parametrize(("outcome", "times", "held"), [("busy", 2, True), ("late", 5, False)])
def test_extractive_stands_in_for_what_failed_and_not_for_what_is_merely_busy(house, outcome, times, held):
    world = house(observer_model='["a", "extractive"]')
    rests(world, "a", outcome, times)

    assert bool(world.om.held("harold")) is held


def test_what_asks_no_model_is_held_by_none(house):
    world = house(observer_model="extractive", budget__calls_per_day="1")
    spend(world)

    assert world.om.held("harold") is None


def test_a_resource_that_waits_for_a_model_that_can_observe_anything_says_so(house):
    world = house()
    world.services.run(model_cooldown.wait(world.services.keys, "harold", 300))
    told = world.om.held("harold")

    assert "could observe nothing, not even what is harmless" in told.reason
    assert 290_000 < told.until - now(world) <= 300_000
    assert world.om.held("harold", "reflect") is None


def test_a_pause_holds_what_is_observed_and_not_what_is_reflected_by_hand(house):
    world = house()
    world.om.pause("harold")

    assert world.om.held("harold") == Held("harold is paused, om resume harold lets it go on")
    assert world.om.held("harold", "reflect") is None


@pytest.mark.parametrize(
    ("changed", "says"), [({"enabled": "false"}, "enabled: false"), ({"read_only": "true"}, "read_only")]
)
def test_settings_that_switch_a_memory_off_hold_everything(house, client, prefix, changed, says):
    house()
    om = World(client, prefix, **changed).om

    assert says in om.held("harold").reason
    assert says in om.held("harold", "reflect").reason


def test_what_is_held_is_one_line_with_its_end():
    assert str(Held("the budget of harold is used up", 1_763_683_200_000)) == (
        "held: the budget of harold is used up until 2025-11-21T00:00:00Z"
    )
    assert str(Held("harold has enabled: false")) == "held: harold has enabled: false"
