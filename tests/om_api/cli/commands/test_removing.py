"""`om clear`, `forget`: nothing goes without a yes, and what went is said."""

from __future__ import annotations

import pytest

from om_workers.llm.scripted import Scripted


def test_a_memory_is_cleared_after_a_yes(om, observed, client, prefix):
    result = om("clear", "harold", stdin="y\n")

    assert result.exit_code == 0
    assert result.stdout.startswith("cleared: ")
    assert "Remove the whole memory of harold? This cannot be undone." in result.stderr
    assert observed.covering() == []


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
@pytest.mark.parametrize("command", [("clear", "harold"), ("clear", "harold", "t-1"), ("forget", "harold", "o-1")])
def test_nothing_is_removed_without_a_yes(om, observed, command, answer):
    before = observed.covering()
    result = om(*command, stdin=answer)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "nothing was removed" in result.stderr
    assert observed.covering() == before


def test_a_thread_is_cleared_and_the_others_stay(om_json, world):
    world.say("one", "two", thread="t-1")
    kept = world.say("three", thread="t-2")
    done = om_json("clear", "harold", "t-1", "--yes")

    assert done == {"outcome": "cleared", "messages": 2, "observations": 0, "merged": []}
    assert world.covering() == kept


def test_what_a_reflection_has_merged_is_named(om, observed):
    observed.model = Scripted("<observations>\n* what the threads have in common\n</observations>")
    observed.om.force_reflect("harold")
    observed.settle()
    replaced = observed.om.generations("harold")[0].observation_ids
    result = om("clear", "harold", "t-1", "--yes")

    assert f"a reflection still holds what it made of: {', '.join(replaced)}" in result.stderr


def test_an_observation_is_forgotten_with_its_messages(om, observed):
    first, *rest = observed.om.observations("harold")

    assert om("forget", "harold", first.id, "--yes").stdout == "cleared\n"
    assert observed.om.observations("harold") == rest


def test_an_observation_that_is_not_there_cannot_be_forgotten(om, observed):
    result = om("forget", "harold", "o-1", "--yes")

    assert result.exit_code == 2
    assert "harold has no observation o-1" in result.stderr
