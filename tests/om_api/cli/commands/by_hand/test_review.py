"""`om review`: what waits is listed and shown, and whoever decides is told what became of it."""

import pytest
from world import World


@pytest.fixture
def house(client, prefix) -> World:
    """Harold's memory with a reflection that waits."""
    house = World(client, prefix, reflection__review="ask", reflection__drain="false")
    for n in range(12):
        house.say(f"message {n} " + "x" * 40)
        house.tick()
    house.settle()
    house.om.force_reflect("harold")
    house.settle()
    assert house.om.proposal("harold")
    return house


def test_what_waits_is_listed_with_and_without_a_word(om, om_json, house):
    (listed,) = om_json("review")
    assert om_json("review", "list") == [listed]
    assert (listed["resource"], listed["id"]) == ("harold", house.om.proposal("harold").id)
    assert "harold" in om("review").stdout
    house.om.approve("harold")

    assert om_json("review") == []
    assert "nothing waits for a review" in om("review").stderr


def test_an_agents_name_instead_of_a_command_shows_what_waits_of_it(om, om_json, house):
    waiting = house.om.proposal("harold")
    shown = om("review", "harold")

    assert shown.stdout.count("{+") == len(waiting.generation.text.split("\n"))
    assert f"om review approve harold --id {waiting.id}" in shown.stderr
    assert om_json("review", "harold")["id"] == waiting.id
    assert om("review", "show", "harold", "--text").stdout == f"{waiting.generation.text}\n"
    nobody = om("review", "harald")
    assert (nobody.exit_code, "did you mean harold?" in nobody.stderr) == (1, True)


def test_a_reflection_is_approved_with_another_text_by_who_is_named(om, house):
    waiting = house.om.proposal("harold")
    stale = om("review", "approve", "harold", "--id", "another")
    assert (stale.stdout, "does not wait for a review (any more)" in stale.stderr) == ("superseded\n", True)
    named = ("--by", "fleur", "--id", waiting.id, "--text-file", "-")
    done = om("review", "approve", "harold", *named, stdin="* Ada is his sister.\n")

    assert done.stdout == "reflected\n"
    assert house.om.generations("harold")[0].text == "* Ada is his sister."
    assert "Ada is his sister." in om("context", "harold", "t-1").stdout
    told = {event.kind: event for event in house.om.events().events}
    assert told["review_approved"].by == "fleur"
    assert "nothing of harold waits" in om("review", "harold").stderr


def test_a_reflection_is_sent_back_with_a_comment(om, house):
    done = om("review", "send-back", "harold", "--comment", "Ada is his zebrafinch.")
    assert done.stdout == "sent_back\n"
    house.settle()

    assert "Ada is his zebrafinch." in house.model.requests[-1].prompt
    told = {event.kind: event for event in house.om.events().events}
    assert "zebrafinch" not in repr(told)


def test_stats_and_doctor_say_that_something_waits(om, om_json, house):
    assert om_json("stats", "harold")["reviews"] == 1
    assert "1 reflection waits for a review" in om("doctor").stdout
