"""`om line`, `om pin`, `om unpin`, `om pins`: each says how it is taken back."""

from om_workers.llm.scripted import Scripted


def test_a_line_is_added_corrected_and_taken_back_as_the_command_says(om, world):
    added = om("line", "add", "harold", "t-1", "User lives in Oslo", "--priority", "5", "--by", "lotte")
    (own,) = world.om.observations("harold")
    corrected = om("line", "correct", "harold", "User lives in Oslo", "User lives in Bergen", "--by", "lotte")

    assert (added.stdout, corrected.stdout, own.by) == ("added\n", "corrected\n", "lotte")
    assert f"line undo harold {own.id} takes it back" in added.stderr
    assert f"line undo harold {own.id} takes it back" in corrected.stderr
    assert om("line", "undo", "harold", own.id).stdout == "corrected\n"
    assert "Oslo" in world.om.observations("harold")[0].text
    assert om("line", "undo", "harold", own.id).stdout == "cleared\n"
    nothing = om("line", "undo", "harold", own.id)
    assert nothing.exit_code == 1


def test_a_correction_of_the_reflection_says_which_generation_restores_it(om, observed):
    observed.model = Scripted(*["<observations>\n* 🔴 User lives in Oslo\n</observations>"] * 3)
    observed.om.force_reflect("harold")
    observed.settle()
    done = om("line", "correct", "harold", "User lives in Oslo", "")

    assert (done.exit_code, done.stdout) == (0, "corrected\n")
    assert "restore harold 1 takes it back" in done.stderr
    assert observed.om.generations("harold")[-1].text == ""


def test_a_line_is_pinned_listed_and_let_go(om, om_json, world):
    world.om.add_line("User never flies", "harold", "t-1", priority=5)
    pinned = om("pin", "harold", "User never flies", "--by", "lotte")
    (pin,) = om_json("pins", "harold")

    assert (pinned.stdout, pin["text"], pin["by"]) == ("pinned\n", "* 🔴 User never flies", "lotte")
    assert f"unpin harold {pin['id']} lets it go" in pinned.stderr
    assert "* 🔴 User never flies" in om("pins", "harold", "t-1").stdout
    assert om("pin", "harold", "User never flies").stdout == "rest\n"
    assert om("unpin", "harold", "User never flies").stdout == "unpinned\n"
    assert om_json("pins", "harold") == []


def test_what_is_not_there_is_said_with_what_to_do(om, world):
    world.om.add_line("User never flies", "harold", "t-1")

    assert "om line add" in om("pin", "harold", "User owns a boat").stderr
    assert "om pins harold" in om("unpin", "harold", "User never flies").stderr
    assert om("pins", "nobody").exit_code == 1
