"""Lines over HTTP: writers add, operators correct and take back, and the key is told as who did it."""

import pytest

LINES = "/v1/resources/harold/lines"


@pytest.fixture
def noted(world):
    """An observation of a line that may be corrected."""
    return world.om.add_line("User lives in Oslo", "harold", "t-1", priority=5)


def test_a_line_is_noted_by_a_writer_of_a_resource_that_nobody_knew(using, world):
    writer = using("writer", "harold")
    done = writer("POST", LINES, json={"thread_id": "t-1", "text": "User never flies", "priority": 5})
    (own,) = world.om.observations("harold")

    assert (done.status_code, done.json()["outcome"]) == (200, "added")
    assert (done.json()["observation_id"], own.text.split("\n")[1]) == (own.id, "* 🔴 User never flies")
    (event,) = world.om.events("0", kinds="line_added").events
    assert event.by == own.by != ""


def test_a_line_is_corrected_and_that_is_taken_back(ask, world, noted):
    done = ask("POST", f"{LINES}/correct", json={"was": "User lives in Oslo", "now": "User lives in Bergen"})

    assert done.json() == {
        "outcome": "corrected",
        "observation_id": noted.observation_id,
        "generation": 0,
        "thread_id": "t-1",
        "was": "* 🔴 User lives in Oslo",
        "now": "* 🔴 User lives in Bergen",
        "pinned": False,
    }
    back = ask("POST", f"/v1/resources/harold/observations/{noted.observation_id}/undo")
    assert (back.json()["outcome"], back.json()["now"]) == ("corrected", "* 🔴 User lives in Oslo")
    gone = ask("POST", f"/v1/resources/harold/observations/{noted.observation_id}/undo")
    assert (gone.json()["outcome"], world.om.observations("harold")) == ("cleared", [])


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("", {"thread_id": "t-1", "text": "a\nb"}, 422, "one line at a time"),
        ("", {"thread_id": "t-1", "text": " "}, 422, "says nothing"),
        ("", {"thread_id": "t-1", "text": "x", "priority": 6}, 422, "priority"),
        ("/correct", {"was": "User owns a boat", "now": "x"}, 404, "no line of harold says"),
        ("/correct", {"was": "User lives in Oslo", "now": "a\nb"}, 422, "one line at a time"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_changes(ask, world, noted, path, body, status, says):
    before = world.om.observations("harold")
    refused = ask("POST", LINES + path, json=body)

    assert (refused.status_code, says in refused.text) == (status, True)
    assert world.om.observations("harold") == before


def test_only_operators_correct_and_take_back(using, noted):
    writer, reader = using("writer", "harold"), using("reader", "harold")
    undo = f"/v1/resources/harold/observations/{noted.observation_id}/undo"

    assert writer("POST", f"{LINES}/correct", json={"was": "User lives in Oslo", "now": "x"}).status_code == 403
    assert writer("POST", undo).status_code == 403
    assert reader("POST", LINES, json={"thread_id": "t-1", "text": "x"}).status_code == 403


def test_nobody_is_corrected_who_is_not_known(using):
    ask = using("operator", "*")
    assert ask("POST", "/v1/resources/nobody/lines/correct", json={"was": "a", "now": "b"}).status_code == 404
    assert ask("POST", "/v1/resources/nobody/observations/o-1/undo").status_code == 404
