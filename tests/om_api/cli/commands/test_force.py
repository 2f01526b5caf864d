"""`om observe`, `reflect`, `pause`, `resume`: the workers are asked, and their answer is a word."""

import re
import threading
from contextlib import contextmanager

import pytest


@contextmanager
def working(world):
    """Workers that work until the block ends."""
    over = threading.Event()

    def work():
        while not over.wait(0.02):
            world.tick()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("command", ["observe", "reflect"])
def test_where_there_is_nothing_to_do_the_answer_is_rest(om, world, command):
    world.say("hello", thread="t-1")
    world.settle()
    world.om.clear("harold", "t-1")
    world.say("hello", thread="t-2")

    assert om(command, "harold", "t-1").stdout == "rest\n"


@pytest.mark.parametrize(
    "words",
    [
        ("observe", "harodl"),
        ("reflect", "harodl"),
        ("clear", "harodl", "--yes"),
        ("migrate-scope", "harodl", "--to", "thread"),
        ("pause", "harodl"),
        ("resume", "harodl"),
        ("forget", "harodl", "o-1", "--yes"),
        ("restore", "harodl", "1"),
        ("sources", "harodl", "o-1", "--json"),
        ("rejected", "list", "harodl"),
        ("rejected", "show", "harodl", "3f1c20a9be77"),
        ("rejected", "retry", "harodl", "--all"),
        ("rejected", "drop", "harodl", "--all", "--yes"),
    ],
    ids=" ".join,
)
def test_a_name_that_nobody_knows_is_no_success(om, world, words):
    """Catches a typing error that looks like work done, and leaves a key behind."""
    world.say("hello")
    world.settle()
    result = om(*words)

    assert result.exit_code == 1
    assert result.stdout in {"", "[]\n"}
    assert "harodl is not known here" in result.stderr
    assert "did you mean harold?" in result.stderr
    assert not list(world.client.scan_iter(f"{world.prefix}:{{harodl}}*"))


def test_of_a_name_like_nobody_else_is_said_where_to_look(om, world):
    world.say("hello")
    world.settle()

    assert "`om stats` lists who is" in om("pause", "zoe").stderr


def test_an_agent_can_be_paused_before_its_first_message(om, om_json, world):
    assert om("pause", "harold", "--create").stdout == "paused\n"
    assert [each["resource"] for each in om_json("stats") if each["paused"]] == ["harold"]
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    assert world.om.observations("harold") == []

    assert om("resume", "harold").stdout == "resumed\n"


def test_what_the_workers_answered_is_json_too(om_json, world, monkeypatch):
    world.say("hello")
    assert om_json("observe", "harold", "--wait", "0") == [{"thread": None, "outcome": "busy"}]
    assert om_json("reflect", "harold", "t-1") == [{"thread": "t-1", "outcome": "rest"}]
    assert om_json("pause", "harold") == {"outcome": "paused", "resource": "harold"}
    assert om_json("resume", "harold") == {"outcome": "resumed", "resource": "harold"}


def test_a_request_nobody_answers_in_time_is_busy_and_stands(om, world):
    world.say("hello")
    result = om("observe", "harold", "--wait", "0")

    assert (result.exit_code, result.stdout) == (0, "busy\n")
    assert "not done after 0 s" in result.stderr
    world.settle()
    assert len(world.om.observations("harold")) == 1


def test_a_request_that_a_budget_holds_says_so_and_until_when(om, world, monkeypatch):
    monkeypatch.setenv("OM_BUDGET__CALLS_PER_DAY", "0")
    monkeypatch.setenv("OM_OBSERVER_MODEL", "scripted")
    world.say("hello")
    result = om("observe", "harold", "--wait", "0")

    assert (result.exit_code, result.stdout) == (0, "busy\n")
    assert re.search(
        r"held: the budget of harold is used up \(budget.calls_per_day\)\s+until 20\d\d-\d\d-\d\dT00:00:00Z",
        result.stderr,
    )


def test_what_is_raw_is_observed_when_asked_for(om, world):
    world.say("hello")
    with working(world):
        result = om("observe", "harold", "t-1", "--wait", "20")

    assert result.stdout == "activated\n"
    assert len(world.om.observations("harold")) == 1


def test_observations_are_condensed_when_asked_for(om, observed):
    with working(observed):
        result = om("reflect", "harold", "--wait", "20")

    assert result.stdout == "reflected\n"
    assert len(observed.om.generations("harold")) == 1


def test_where_threads_keep_their_own_memory_every_one_is_asked(om, world, monkeypatch):
    monkeypatch.setenv("OM_SCOPE", "thread")
    world.say("hello", thread="t-1")
    world.say("hello", thread="t-2")

    assert om("observe", "harold", "--wait", "0").stdout == "t-1 busy\nt-2 busy\n"
    assert om("observe", "harold", "t-2", "--wait", "0").stdout == "busy\n"


def test_a_paused_resource_says_so_until_it_is_resumed(om, om_json):
    om("push", "harold", "t-1", "hello")
    assert om("pause", "harold").stdout == "paused\n"
    assert om_json("stats", "harold")["paused"] is True

    assert om("resume", "harold").stdout == "resumed\n"
    assert om_json("stats", "harold")["paused"] is False
