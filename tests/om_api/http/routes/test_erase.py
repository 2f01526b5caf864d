"""Erasing over HTTP: by a text or a message, told first if asked, by operators only."""

import pytest

ERASE = "/v1/resources/harold/erase"


@pytest.fixture
def told(world):
    world.say("the door code is 4711", id="m-1")
    world.say("it rains", id="m-2")
    return world


@pytest.mark.parametrize("named", [{"matching": "Door Code"}, {"message_id": "m-1", "thread_id": "t-1"}])
def test_a_fact_is_told_and_then_removed(ask, told, named):
    would = ask("POST", ERASE, json={**named, "dry_run": True})
    assert (would.status_code, told.covering()) == (200, ["m-1", "m-2"])
    did = ask("POST", ERASE, json=named)

    assert did.json() == would.json()
    assert did.json()["messages"] == [{"thread_id": "t-1", "id": "m-1"}]
    assert told.covering() == ["m-2"]
    assert ask("POST", ERASE, json={"matching": "Door Code"}).json()["outcome"] == "rest"


def test_how_much_it_was_is_told_as_an_event_and_never_what(ask, told):
    ask("POST", ERASE, json={"matching": "4711"})
    (event,) = told.om.events("0", kinds="erased").events

    assert (event.resource, event.messages, event.observations, event.rejected) == ("harold", 1, 0, 0)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({}, 422, "name what is to be erased"),
        ({"matching": " "}, 422, "there is no text to look for"),
        ({"matching": "x", "message_id": "m-1"}, 422, "name what is to be erased"),
        ({"message_id": "m-9"}, 404, "harold keeps no message m-9"),
        ({"matchin": "x"}, 422, "body.matchin"),
    ],
)
def test_what_cannot_be_erased_is_refused_and_nothing_changes(ask, told, body, status, says):
    refused = ask("POST", ERASE, json=body)

    assert (refused.status_code, says in refused.json()["detail"]) == (status, True)
    assert told.covering() == ["m-1", "m-2"]


def test_only_operators_erase(using, told):
    assert using("writer", "harold")("POST", ERASE, json={"matching": "x"}).status_code == 403
