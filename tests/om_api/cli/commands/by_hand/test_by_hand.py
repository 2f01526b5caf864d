"""Changes by hand: lines, pins, reviews, threads, working memory, redaction."""

import pytest
from world import World


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


@pytest.fixture
def told(world, monkeypatch):
    world.say("write to ada@example.com", id="m-1")
    monkeypatch.setenv("OM_REDACTION__BEFORE", "store")
    return world


def _said(world):
    return world.om.messages("harold", "t-1")[0].content


def test_it_tells_how_much_asks_and_replaces(om, told):
    for options, stdin in [(("--dry-run",), None), ((), "n\n")]:
        om("redact", "harold", *options, stdin=stdin)
        assert _said(told) == "write to ada@example.com", (options, stdin)
    result = om("redact", "harold", stdin="y\n")
    assert result.exit_code == 0, result.output
    assert "1 email:\n  messages: 1 place\n" in result.stdout
    assert "ada@example.com" not in result.output
    assert result.stdout.endswith("redacted\n")
    assert "backups and exported files are not reached" in result.stderr
    assert _said(told) == "write to [email]"


@pytest.fixture
def house(client, prefix) -> World:
    house = World(client, prefix, reflection__review="ask", reflection__drain="false")
    for n in range(12):
        house.say(f"message {n} " + "x" * 40)
        house.tick()
    house.settle()
    house.om.force_reflect("harold")
    house.settle()
    assert house.om.proposal("harold")
    return house


def test_a_reflection_that_waits_is_listed_shown_and_approved_with_another_text(om, om_json, house):
    waiting = house.om.proposal("harold")
    (listed,) = om_json("review")
    assert om_json("review", "list") == [listed]
    assert (listed["resource"], listed["id"]) == ("harold", waiting.id)
    shown = om("review", "harold")
    assert shown.stdout.count("{+") == len(waiting.generation.text.split("\n"))
    assert f"om review approve harold --id {waiting.id}" in shown.stderr
    assert om("review", "show", "harold", "--text").stdout == f"{waiting.generation.text}\n"
    nobody = om("review", "harald")
    assert (nobody.exit_code, "did you mean harold?" in nobody.stderr) == (1, True)
    assert (om_json("stats", "harold")["reviews"], "1 reflection waits" in om("doctor").stdout) == (1, True)
    stale = om("review", "approve", "harold", "--id", "another")
    assert (stale.stdout, "does not wait for a review (any more)" in stale.stderr) == ("superseded\n", True)
    named = ("--by", "fleur", "--id", waiting.id, "--text-file", "-")
    assert om("review", "approve", "harold", *named, stdin="* Ada is his sister.\n").stdout == "reflected\n"
    assert "Ada is his sister." in om("context", "harold", "t-1").stdout
    assert {event.kind: event for event in house.om.events().events}["review_approved"].by == "fleur"
    assert "nothing of harold waits" in om("review", "harold").stderr
    assert om_json("review") == []


def test_a_reflection_is_sent_back_with_a_comment(om, house):
    done = om("review", "send-back", "harold", "--comment", "Ada is his zebrafinch.")
    assert done.stdout == "sent_back\n"
    house.settle()
    assert "Ada is his zebrafinch." in house.model.requests[-1].prompt
    told = {event.kind: event for event in house.om.events().events}
    assert "zebrafinch" not in repr(told)


@pytest.fixture
def talked(world):
    world.say("one", thread="a", timestamp=1_763_600_000_000)
    world.say("two", thread="b", timestamp=1_763_600_009_000)
    return world


def test_a_thread_is_named_and_shown(om, om_json, talked):
    assert "The roof" in om("thread", "title", "harold", "a", "The roof").stdout
    om("thread", "meta", "harold", "a", "project=roof", "n=3")
    om("thread", "meta", "harold", "a", "project=")
    shown = om_json("thread", "show", "harold", "a")
    assert (shown["title"], shown["metadata"], shown["title_by"] != "observer") == ("The roof", {"n": 3}, True)
    assert "The roof" in om("thread", "show", "harold", "a").stdout
    assert om("thread", "show", "harold", "nowhere").exit_code == 1
    assert "write NAME=VALUE" in om("thread", "meta", "harold", "a", "project").stderr


def test_a_thread_gets_a_memory_mode(om, om_json, talked):
    assert om_json("thread", "memory", "harold", "a", "off")["memory"] == "off"
    assert " off " in om("thread", "memory", "harold", "a", "off").output
    om("push", "harold", "new", "three", "--memory", "read_only")
    assert {each["id"]: each["memory"] for each in om_json("threads", "harold")} == {
        "a": "off",
        "b": "full",
        "new": "read_only",
    }
    refused = om("thread", "memory", "harold", "a", "none")
    assert (refused.exit_code, "'full', 'off', 'write_only', 'read_only'" in refused.stderr) == (2, True)


def test_an_archived_thread_is_listed_where_it_is_asked_for(om, om_json, talked):
    om("thread", "archive", "harold", "a")
    now, archived = om_json("threads", "harold"), om_json("threads", "harold", "--archived")
    every = om_json("threads", "harold", "--by", "activity", "--all")
    om("thread", "unarchive", "harold", "a")
    assert [[each["id"] for each in found] for found in (now, archived, every)] == [["b"], ["a"], ["b", "a"]]
    assert len(om_json("threads", "harold")) == 2


def test_a_name_stands_for_a_thread(om, om_json, talked):
    made = om_json("thread", "alias", "harold", "b", "a")
    assert (made["thread"], made["messages"]) == ("a", 1)
    assert om_json("thread", "aliases", "harold") == {"b": "a"}
    assert om_json("thread", "show", "harold", "b")["id"] == "a"
    assert "two" in om("context", "harold", "b").stdout
    om("thread", "unalias", "harold", "b")
    again = om("thread", "unalias", "harold", "b")
    assert (again.exit_code, "is no alias of harold" in again.stderr) == (0, True)


def test_a_thread_is_copied(om, om_json, talked):
    assert om_json("thread", "copy", "harold", "a", "c")["messages"] == 1
    assert "c" in om("threads", "harold").stdout
    refused = om("thread", "copy", "harold", "a", "b")
    assert (refused.exit_code, "has a thread b already" in refused.stderr) == (2, True)
