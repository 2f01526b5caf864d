"""`om chunks`, `observations`, `history`, `sources`: what is remembered can be read, down to the messages behind it."""

import pytest
from attacks import planted
from world import World

from om_api.cli.commands.history import _foremost
from om_workers.llm.scripted import Scripted


def test_chunks_are_listed_until_they_are_activated(om_json, om, world):
    world.say(*[f"message {n}" for n in range(4)])
    world.say(*[f"message {n}" for n in range(4)], thread="t-2")
    world.settle()
    found, kept = om_json("chunks", "harold"), world.om.chunks("harold")

    assert [(each["id"], each["thread_id"], each["messages"]) for each in found] == [
        (each.id, each.thread, each.messages) for each in kept
    ]
    assert {each["thread_id"] for each in found} == {"t-1", "t-2"}
    assert {each["thread_id"] for each in om_json("chunks", "harold", "t-2")} == {"t-2"}
    assert om("chunks", "harold").stdout.count("ready") == len(found)
    assert "observation" not in found[0]

    world.om.force_observe(resource_id="harold")
    world.settle()
    assert om_json("chunks", "harold") == []
    assert om("chunks", "nobody").exit_code == 1


def test_observations_are_listed_with_their_threads(om_json, om, observed):
    found = om_json("observations", "harold")

    assert [each["id"] for each in found] == [each.id for each in observed.om.observations("harold")]
    assert om_json("observations", "harold", "t-2") == []
    assert found[0]["id"] in om("observations", "harold").stdout


def test_the_texts_of_observations_can_be_read(om, observed):
    text = om("observations", "harold", "t-1", "--text").stdout

    assert text.startswith("== observation ")
    assert observed.om.observations("harold")[0].text in text


def test_the_history_says_what_each_generation_replaced(om_json, om, reflected):
    [generation] = om_json("history", "harold")

    assert (generation["n"], generation["origin"]) == (1, "reflection")
    assert [each["id"] for each in generation["replaced"]] == generation["observation_ids"] != []
    assert f" {len(generation['replaced'])} " in om("history", "harold").stdout.splitlines()[-2] + " "


def test_the_texts_of_generations_can_be_read(om, reflected):
    text = om("history", "harold", "--text").stdout

    assert text == f"== generation 1 ==\n{reflected.om.generations('harold')[0].text}\n"


def test_sources_are_the_messages_behind_an_observation(om_json, om, observed):
    first = observed.om.observations("harold")[0]
    found = om_json("sources", "harold", first.id)

    assert [message["id"] for message in found] == list(first.message_ids)
    assert "at" not in found[0]
    assert "message 0" in om("sources", "harold", first.id).stdout


def test_sources_name_their_thread_after_a_reflection_too(om, om_json, reflected):
    (name, *_) = reflected.om.generations("harold")[0].observation_ids

    assert {message["thread_id"] for message in om_json("sources", "harold", name)} == {"t-1"}
    assert " t-1 " in om("sources", "harold", name).stdout


def test_sources_that_are_gone_are_said_to_be(om, world):
    world.say("hello")
    result = om("sources", "harold", "o-1")

    assert result.exit_code == 0
    assert "have expired, or harold never had" in result.stderr


def test_the_history_shows_level_loss_model_and_cost(om, reflected):
    shown = om("history", "harold").stdout

    assert all(column in shown for column in ("level", "loss", "model", "cost"))
    assert all(said in shown for said in ("0.00", "scripted"))


def test_the_history_says_how_many_observations_a_reflection_let_go_of(om, om_json, observed):
    listed = observed.om.observations("harold")
    observed.model = Scripted("<observations>\n* nothing of the kind\n</observations>")
    observed.om.force_reflect("harold")
    observed.reflector().reflect("harold")

    assert om_json("history", "harold")[0]["dropped_ids"] == [each.id for each in listed]
    assert f"{len(listed)} ({len(listed)} dropped)" in om("history", "harold").stdout


NOTES = """Date: Nov 20, 2026
* 🟡 (09:30) User asked for a seat.
* 🔴 (09:31) User's flight is on Friday.
* 🔴 (09:32) User is called Harold."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (NOTES, "* 🔴 (09:31) User's flight is on Friday."),
        ("Date: Nov 20, 2026\n- User likes tea.", "- User likes tea."),
        ("tea", "tea"),
        ("x" * 500, "x" * 120 + " ..."),
        ("", ""),
    ],
)
def test_of_notes_the_line_that_matters_most_is_shown(text, shown):
    assert _foremost(text) == shown


def test_the_observations_show_a_note_each(om, observed):
    """Catches a list of ids and figures that tells nobody what was noted."""
    note = _foremost(observed.om.observations("harold")[0].text)

    assert note
    assert note in om("observations", "harold").stdout


def test_groups_are_listed_and_printed(om_json, om, world):
    world.om.add_line("the harbour opens at nine", "harold", "t-1")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    (group,) = om_json("groups", "harold")

    assert "the harbour opens at nine" in group["heading"]
    assert group["id"] in om("groups", "harold").stdout
    assert om("groups", "harold", group["id"]).stdout.endswith("the harbour opens at nine\n")
    assert om_json("groups", "harold", "1999") == []
    assert om_json("groups", "harold", "--thread", "t-2") == []
    assert om("groups", "harold", "aaaaaaaa").exit_code == 1
    assert "a month such as 2026-03" in om("groups", "harold", "x y").stderr
    assert om("groups", "nobody").exit_code == 1


def test_what_was_marked_is_listed_alone(om_json, om, world):
    planted(world)

    assert [each["thread_id"] for each in om_json("observations", "harold", "--marked")] == ["t-1"]
    text = om("observations", "harold", "--marked", "--text").output
    assert "⚠ Said by tool crm_read, not by the user" in text
    assert "Lisbon" not in text


def test_a_table_of_what_was_marked_shows_the_marked_lines_in_eighty_columns_too(om, world, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    planted(world)

    shown = om("observations", "harold", "--marked").stdout
    assert "marked" in shown.splitlines()[0]
    assert "⚠" in shown
    world.om.clear("harold")
    world.say("My flight is on Friday.")
    for texts in ((), ("--text",)):
        assert "is marked" in om("observations", "harold", "--marked", *texts).output
