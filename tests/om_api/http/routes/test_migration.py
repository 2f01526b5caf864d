"""A memory moves to the other scope over HTTP, there and back, and says when it cannot."""

import pytest
from refusals import problem

HAROLD = "/v1/resources/harold"
MOVE = f"{HAROLD}/migrate-scope"


@pytest.fixture
def move(ask):
    return lambda to: ask("POST", MOVE, json={"to": to}).json()["outcome"]


def test_a_memory_moves_to_its_threads_and_back(full, ask, move):
    before = full.covering()

    assert move("thread") == "activated"
    assert ask("GET", f"{HAROLD}/stats").json()["scope"] == "thread"
    assert move("thread") == "rest"
    assert move("resource") == "activated"
    assert full.covering() == before


def test_a_memory_with_a_chunk_that_is_not_ready_stays_where_it_is(say, ask, world, move):
    say(*[f"m-{n}" for n in range(12)])
    world.claim()
    verb, ids = world.dispatch.queue.popleft()
    world.perform(verb, *ids)

    assert move("thread") == "busy"
    assert ask("GET", f"{HAROLD}/stats").json()["scope"] == "resource"


def test_where_nothing_was_sealed_there_is_nothing_to_move(say, move):
    say("m-1")

    assert move("thread") == "rest"


@pytest.mark.parametrize("body", [{}, {"to": "threads"}, {"to": None}, {"to": "thread", "wait": 1}])
def test_what_is_no_scope_is_refused(ask, body):
    assert problem(ask("POST", MOVE, json=body), 422)["errors"][0]["where"].startswith("body.")
