"""`om migrate-scope`: one memory for all threads, or one for each, and nothing lost on the way."""

from __future__ import annotations


def test_a_memory_moves_to_its_threads_and_back(om, om_json, observed):
    before = observed.covering()

    assert om("migrate-scope", "harold", "--to", "thread").stdout == "activated\n"
    assert om_json("stats", "harold")["scope"] == "thread"
    assert om("migrate-scope", "harold", "--to", "resource").stdout == "activated\n"
    assert observed.covering() == before


def test_a_memory_that_is_where_it_should_be_rests(om, observed):
    assert om("migrate-scope", "harold", "--to", "resource").stdout == "rest\n"


def test_a_move_off_the_configuration_says_so(om, observed):
    assert "still says scope: resource" in om("migrate-scope", "harold", "--to", "thread").stderr


def test_a_move_is_tried_until_the_time_is_over(om, world):
    world.say(*[f"message {n}" for n in range(12)])
    world.claim()
    verb, ids = world.dispatch.queue.popleft()
    world.perform(verb, *ids)
    result = om("migrate-scope", "harold", "--to", "thread", "--wait", "0.1")

    assert (result.exit_code, result.stdout) == (0, "busy\n")
    assert "nothing has changed" in result.stderr
