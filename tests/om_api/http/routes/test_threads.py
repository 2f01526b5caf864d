"""Threads over HTTP: listed in an order, named, archived, copied, and by which other names they are known."""

import pytest

HAROLD = "/v1/resources/harold"
AT = f"{HAROLD}/threads"


@pytest.fixture
def talked(world):
    world.say("one", thread="a", timestamp=1_763_600_000_000)
    world.say("two", thread="b", timestamp=1_763_600_009_000)
    return world


def ids(answer):
    return [each["id"] for each in answer.json()["items"]]


def test_a_thread_is_named_archived_and_found_again(ask, using, talked):
    named = using("writer", "harold")("PATCH", f"{AT}/a", json={"title": "The roof", "metadata": {"n": 1}})
    hidden = ask("PATCH", f"{AT}/a", json={"archived": True})

    assert (named.status_code, named.json()["title"], named.json()["metadata"]) == (200, "The roof", {"n": 1})
    assert (hidden.json()["title"], hidden.json()["archived_at"] > 0) == ("The roof", True)
    assert (ids(ask("GET", AT)), ids(ask("GET", f"{AT}?archived=yes"))) == (["b"], ["a"])
    assert ids(ask("GET", f"{AT}?archived=all")) == ["a", "b"]


def test_threads_come_by_activity_page_by_page(ask, talked):
    first = ask("GET", f"{AT}?order=activity&limit=1")
    second = ask("GET", f"{AT}?order=activity&limit=1&cursor={first.json()['next']}")

    assert (ids(first), ids(second), second.json()["next"]) == (["b"], ["a"], None)
    assert ask("GET", f"{AT}?order=size").status_code == 422


def test_a_name_stands_for_a_thread_until_it_is_ended(ask, using, talked):
    made = ask("PUT", f"{HAROLD}/aliases/b", json={"thread_id": "a"})
    told = ask("GET", f"{HAROLD}/aliases").json()

    assert made.json() == {"alias": "b", "thread": "a", "messages": 1, "known": 0, "observations": 0}
    assert told["items"] == [{"alias": "b", "thread_id": "a"}]
    assert ids(ask("GET", AT)) == ["a"]
    assert using("writer", "harold")("DELETE", f"{HAROLD}/aliases/b").status_code == 403
    assert ask("DELETE", f"{HAROLD}/aliases/b").json() == {"outcome": "cleared"}
    assert ask("DELETE", f"{HAROLD}/aliases/b").json() == {"outcome": "rest"}


def test_a_thread_is_copied(ask, using, talked):
    copied = using("writer", "harold")("POST", f"{AT}/a/copies", json={"to": "a2"})

    assert (copied.status_code, copied.json()["messages"], copied.json()["thread_id"]) == (200, 1, "a2")
    assert ask("POST", f"{AT}/a/copies", json={"to": "b"}).status_code == 422
    elsewhere = using("writer", "harold")("POST", f"{AT}/a/copies", json={"to": "a", "to_resource": "ingrid"})
    assert elsewhere.status_code == 403


def test_what_is_done_to_a_thread_is_in_the_audit_trail_without_a_word_of_it(ask, talked):
    ask("PATCH", f"{AT}/a", json={"title": "A secret"})
    ask("PUT", f"{HAROLD}/aliases/c", json={"thread_id": "a"})
    entries = talked.om.audit(count=2).entries

    assert [(each.did, each.thread or each.of) for each in entries] == [
        ("thread_aliased", "c"),
        ("thread_changed", "a"),
    ]
    assert "secret" not in str(entries)
    assert "secret" not in str(talked.om.events("0").events)


@pytest.mark.parametrize(
    ("method", "path", "given", "status"),
    [
        ("PATCH", f"{AT}/nowhere", {"title": "x"}, 404),
        ("PATCH", f"{AT}/a", {"title": "two\nlines"}, 422),
        ("PATCH", f"{AT}/a", {"other": 1}, 422),
        ("PUT", f"{HAROLD}/aliases/a", {"thread_id": "a"}, 422),
        ("PUT", f"{HAROLD}/aliases/x", {"thread_id": "nowhere"}, 404),
        ("POST", f"{AT}/a/copies", {"to": "x", "until": "nothing"}, 404),
    ],
)
def test_what_cannot_be_is_refused(ask, talked, method, path, given, status):
    assert ask(method, path, json=given).status_code == status
