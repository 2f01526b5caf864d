"""The workers are asked over HTTP, and stopped."""

from refusals import problem

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
