"""What the client makes of lines by hand: dates of the agent's zone, who it was, and what may not be written."""

import pytest
from world import World

from om_api import InvalidInputError
from om_api.domain.errors import NotFoundError


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, timezone="Pacific/Kiritimati")


def test_a_line_is_dated_today_in_the_agents_zone(world, client):
    world.om.add_line("User never flies", "harold", "t-1")
    (own,) = world.om.observations("harold")
    day = world.context().text.split("Today is ")[1].split(" (")[0]

    assert own.text.startswith("Date: ")
    assert own.text.split("\n")[0].removeprefix("Date: ")[4:] in day


@pytest.mark.parametrize("by", ["a b", "{x}", "ü"])
def test_who_says_so_is_an_id(world, by):
    with pytest.raises(InvalidInputError, match="by "):
        world.om.add_line("User never flies", "harold", "t-1", by=by)
    assert world.om.observations("harold") == []


def test_workers_meet_a_resource_of_which_there_is_only_a_line(world):
    world.om.add_line("User never flies", "harold", "t-1")
    world.settle()

    assert "harold" in world.om.resources()
    assert world.om.verify() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda om: om.add_line("User never flies", "harold", "t-1"),
        lambda om: om.correct_line("a", "b", "harold"),
        lambda om: om.undo_line("o-1", "harold"),
        lambda om: om.pin("a", "harold"),
        lambda om: om.unpin("a", "harold"),
    ],
)
def test_nothing_is_written_into_a_memory_that_is_only_read(client, prefix, change):
    om = World(client, prefix, read_only="true").om
    with pytest.raises(InvalidInputError, match="read_only"):
        change(om)


def test_what_nobody_wrote_cannot_be_taken_back(world):
    world.om.add_line("User never flies", "harold", "t-1")
    with pytest.raises(NotFoundError, match="nothing to take back in o-9"):
        world.om.undo_line("o-9", "harold")


def test_pins_of_a_thread_are_listed_with_what_is_common(world):
    for thread in ("t-1", "t-2"):
        world.om.add_line(f"User said {thread}", "harold", thread)
        world.om.pin(f"User said {thread}", "harold")

    assert [pin.thread for pin in world.om.pins("harold")] == ["t-1", "t-2"]
    assert [pin.thread for pin in world.om.pins("harold", "t-2")] == ["t-2"]


def test_two_pinned_lines_never_become_one(world):
    for line in ("The boat leaves at nine.", "The boat leaves at ten."):
        world.om.add_line(line, "harold", "t-1")
        world.om.pin(line, "harold")
    with pytest.raises(InvalidInputError, match="unpin one of them first"):
        world.om.correct_line("The boat leaves at nine.", "The boat leaves at ten.", "harold")
    pinned = [pin.text for pin in world.om.pins("harold")]

    assert [text.split(" ", 2)[2] for text in pinned] == ["The boat leaves at nine.", "The boat leaves at ten."]
