"""What was asked for and is `busy` says what holds it, and until when; where nothing does, it says nothing."""

import pytest
from world import World

from om_api.client.held import Held
from om_api.store.fleet import breaker, spending
from om_api.store.fleet.breaker import Attempt
from om_api.store.fleet.spending import DAY_MS, Most, Need
from om_api.store.memory import model_cooldown


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


def rests(world, model, outcome="busy", times=2, agents=("harold", "ada")):
    """Breaks off a model: two refusals leave room for less than one call, five failures open its breaker."""
    for n in range(times):
        call = Attempt(model, f"t{n}", 60, agents[n % len(agents)])
        world.services.run(breaker.enter(world.services.keys, call))
        world.services.run(breaker.report(world.services.keys, call, outcome, 40 if outcome == "busy" else 0))


def test_held_names_a_budget_that_is_used_up_until_the_next_day(house):
    world = house(budget__calls_per_day="5", total_budget__calls_per_day="5")
    spend(world)
    assert world.om.held("harold") is world.om.held("harold", "reflect") is world.om.held("nobody") is None

    for group, whose in (("budget", "harold"), ("total_budget", "all agents")):
        world = house(**{f"{group}__calls_per_day": "1"})
        told = world.om.held("harold")
        assert told.reason == f"the budget of {whose} is used up ({group}.calls_per_day)"
        assert told.until % DAY_MS == 0, group
        assert 0 < told.until - now(world) <= DAY_MS, group
        assert world.om.held("harold", "reflect") == told, group
    for changed in ({"budget__then": "extractive"}, {"observer_model": "extractive"}):
        assert house(budget__calls_per_day="1", **changed).om.held("harold") is None, changed


def test_held_names_models_that_rest_while_no_other_may_be_asked(house):
    world = house(observer_model='["a", "b"]')
    assert world.om.held("harold") is None
    rests(world, "a")
    assert world.om.held("harold") is None
    told = house().om.held("harold")
    assert told.reason == "a is resting (its provider asked for a pause)"
    assert 30_000 < told.until - now(world) <= 40_000
    rests(world, "b", "late", 5, ["harold"])
    assert "b is resting (it failed again and again)" in world.om.held("harold").reason
    assert world.om.held("ada") is None
    rests(world, "b", "late", 5, ["ada", "bob"])
    told = world.om.held("harold")
    assert told.reason == "a is resting (its provider asked for a pause), b is resting (it failed again and again)"
    assert told.until > now(world)

    assert house(observer_model='["a", "extractive"]').om.held("harold")
    assert house(observer_model='["b", "extractive"]').om.held("harold") is None


def test_held_names_a_wait_for_another_model_a_pause_and_settings_that_switch_a_memory_off(house):
    world = house()
    world.services.run(model_cooldown.wait(world.services.keys, "harold", 300))
    told = world.om.held("harold")
    assert "could observe nothing, not even what is harmless" in told.reason
    assert 290_000 < told.until - now(world) <= 300_000
    assert world.om.held("harold", "reflect") is None

    world.om.pause("harold")
    assert world.om.held("harold") == Held("harold is paused, om resume harold lets it go on")
    assert world.om.held("harold", "reflect") is None
    world.om.resume("harold")
    for changed, says in (({"enabled": "false"}, "enabled: false"), ({"read_only": "true"}, "read_only")):
        om = World(world.client, world.prefix, **changed).om
        assert says in om.held("harold").reason
        assert says in om.held("harold", "reflect").reason

    assert str(Held("the budget of harold is used up", 1_763_683_200_000)) == (
        "held: the budget of harold is used up until 2025-11-21T00:00:00Z"
    )
    assert str(Held("harold has enabled: false")) == "held: harold has enabled: false"
