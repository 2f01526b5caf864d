"""The workers are asked over HTTP, and stopped."""

import pytest
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


def test_the_workers_are_asked_without_a_body(say, ask, world):
    """Catches a body that had to be sent though nothing in it had to be said."""
    say("m-1")

    assert ask("POST", f"{HAROLD}/observe").json() == {"outcome": "busy"}
    world.settle()
    assert ask("POST", f"{HAROLD}/observe").json() == {"outcome": "rest"}
    assert ask("POST", f"{HAROLD}/reflect").json()["outcome"] == "busy"


@pytest.mark.parametrize("body", [b"5", b'{"wait": "5"}', b'{"wait": -1}', b'{"thread": "t-1"}'])
def test_a_body_that_is_sent_is_checked_still(say, ask, body):
    say("m-1")

    problem(ask("POST", f"{HAROLD}/observe", content=body, headers={"Content-Type": "application/json"}), 422)


def test_a_memory_that_is_paused_refuses_to_be_forced_and_says_so(ask):
    ask("POST", f"{HAROLD}/pause?create=true")

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


NOBODY = "/v1/resources/harld"
ACTS = [
    ("POST", "/pause"),
    ("POST", "/resume"),
    ("POST", "/observe"),
    ("POST", "/reflect"),
    ("DELETE", "?confirm=harld"),
    ("DELETE", "/threads/t-1"),
    ("DELETE", "/observations/o-1"),
    ("POST", "/reflections/1/restore"),
    ("POST", "/rejected/3f1c20a9be77/retry"),
    ("DELETE", "/rejected/3f1c20a9be77"),
    ("GET", "/stats"),
    ("GET", "/record"),
    ("GET", "/export"),
    ("POST", "/migrate-scope"),
    ("POST", "/erase"),
]
BODIES = {"/migrate-scope": {"to": "thread"}, "/erase": {"matching": "x"}}
READS = [
    "/threads/t-1/context",
    "/threads",
    "/observations",
    "/reflections",
    "/reflections/1/observations",
    "/threads/t-1/messages",
    "/rejected",
    "/costs",
    "/settings",
]


@pytest.mark.parametrize(("method", "path"), ACTS, ids=str)
def test_what_is_wanted_of_a_resource_that_nobody_knows_is_not_found(using, client, prefix, method, path):
    """Catches a mistyped name that was answered like work done, and left a key behind."""
    given = {"json": BODIES[path]} if path in BODIES else {}
    before = set(client.scan_iter(f"{prefix}:*"))
    found = using("operator", "*")(method, f"{NOBODY}{path}", **given)

    assert "harld is not known here" in problem(found, 404)["detail"]
    assert {key for key in client.scan_iter(f"{prefix}:{{*") if key not in before} == set()


@pytest.mark.parametrize("path", READS)
def test_what_a_new_agent_reads_before_its_first_message_is_empty(using, path):
    assert using("operator", "*")("GET", f"{NOBODY}{path}").status_code == 200


def test_an_agent_can_be_paused_before_its_first_message(ask, say, world):
    assert ask("POST", f"{HAROLD}/pause?create=true").json() == {"outcome": "rest"}
    for n in range(12):
        say(f"m-{n}")
    world.settle()

    assert ask("GET", f"{HAROLD}/stats").json()["paused"] is True
    assert ask("GET", f"{HAROLD}/observations").json()["items"] == []
