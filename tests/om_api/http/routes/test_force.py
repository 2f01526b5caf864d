"""The workers are asked over HTTP, and stopped."""

from refusals import problem

from om_api.store.fleet import breaker
from om_api.store.fleet.breaker import Attempt

HAROLD = "/v1/resources/harold"


def test_the_workers_can_be_asked_and_stopped(say, ask, world):
    say("m-1")

    assert ask("POST", f"{HAROLD}/observe", json={"thread_id": "t-1"}).json() == {"outcome": "busy"}
    world.settle()
    assert ask("POST", f"{HAROLD}/observe", json={}).json() == {"outcome": "rest"}
    assert ask("POST", f"{HAROLD}/pause").json() == {"outcome": "rest"}
    assert ask("GET", f"{HAROLD}/stats").json()["paused"] is True
    assert ask("POST", f"{HAROLD}/resume").json() == {"outcome": "rest"}


def test_a_memory_that_is_paused_refuses_to_be_forced_and_says_so(ask):
    ask("POST", f"{HAROLD}/pause")

    assert "is paused" in problem(ask("POST", f"{HAROLD}/observe", json={}), 422)["detail"]


def test_what_is_busy_says_what_holds_it_and_until_when(say, ask, world):
    say("m-1")
    model = world.settings.memory.observer_models[0]
    for n in range(2):
        call = Attempt(model, f"t-{n}", 60)
        world.services.run(breaker.enter(world.services.keys, call))
        world.services.run(breaker.report(world.services.keys, call, "busy", 40))
    told = ask("POST", f"{HAROLD}/observe", json={"thread_id": "t-1"}).json()

    assert told["outcome"] == "busy"
    assert "is resting (its provider asked for a pause)" in told["reason"]
    assert told["until"] > 1_763_600_000_000
