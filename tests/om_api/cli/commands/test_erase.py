"""`om erase`: it lists what it would touch, asks, and says what it does not reach."""

import pytest


@pytest.fixture
def told(world):
    """A message and an observation that hold a code, and ones that do not."""
    world.say("the door code is 4711", id="m-1")
    world.say("it rains", id="m-2")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.say("again: 4711", id="m-3")
    world.say("bye", id="m-4")
    return world


def test_it_lists_asks_and_removes(om, told):
    result = om("erase", "harold", "--matching", "4711", stdin="y\n")

    assert result.exit_code == 0
    assert "2 messages:\n  t-1 m-1\n  t-1 m-3\n" in sorted_messages(result.stdout)
    assert "1 observed again without it:" in result.stdout
    assert "Remove this from the memory of harold? This cannot be undone." in result.stderr
    assert "backups and exported files are not reached" in result.stderr
    assert told.covering() == ["m-2", "m-4"]


def sorted_messages(text):
    head, *rest = text.splitlines(keepends=True)
    return head + "".join(sorted(rest[:2])) + "".join(rest[2:])


@pytest.mark.parametrize(
    ("options", "stdin", "exit_code", "says"),
    [
        (("--dry-run",), None, 0, "nothing was changed"),
        ((), "n\n", 2, "nothing was removed"),
        ((), "", 2, "nothing was removed"),
    ],
)
def test_without_a_yes_nothing_changes(om, told, options, stdin, exit_code, says):
    result = om("erase", "harold", "--matching", "4711", *options, stdin=stdin)

    assert (result.exit_code, says in result.stderr) == (exit_code, True)
    assert "m-1" in result.stdout
    assert told.covering() == ["m-1", "m-2", "m-3", "m-4"]


def test_one_message_goes_with_its_notes(om_json, told):
    done = om_json("erase", "harold", "--message", "m-1", "--yes")

    assert (done["outcome"], done["messages"]) == ("cleared", [{"thread_id": "t-1", "id": "m-1"}])
    assert len(done["observed_again"]) == 1
    assert told.covering() == ["m-2", "m-3", "m-4"]


def test_what_is_not_there_is_said(om, told):
    result = om("erase", "harold", "--matching", "penguin", "--yes")

    assert (result.exit_code, result.stdout.strip()) == (0, "")
    assert "nothing of it is kept here" in result.stderr


@pytest.mark.parametrize(
    ("asked", "exit_code", "says"),
    [
        (("harold",), 2, "name what is to be erased"),
        (("harold", "--matching", " "), 2, "there is no text to look for"),
        (("harold", "--message", "m-9"), 1, "harold keeps no message m-9"),
        (("harld", "--matching", "x"), 1, "harld is not known here"),
    ],
)
def test_what_cannot_be_erased_is_said_in_a_line(om, told, asked, exit_code, says):
    result = om("erase", *asked, "--yes")

    assert (result.exit_code, says in result.stderr, result.stdout) == (exit_code, True, "")


def test_of_very_many_only_the_first_are_listed(om, world):
    world.say(*["the same code 4711"] * 30)
    result = om("erase", "harold", "--matching", "4711", "--dry-run")

    assert result.stdout.startswith("30 messages:\n")
    assert "and 10 more, which --json lists" in result.stdout
