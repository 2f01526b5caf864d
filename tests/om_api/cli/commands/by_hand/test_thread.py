"""`om threads` and `om thread`: what conversations are called, and which names stand for them."""

import pytest


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


def test_what_is_no_field_is_refused(om, talked):
    assert "write NAME=VALUE" in om("thread", "meta", "harold", "a", "project").stderr
