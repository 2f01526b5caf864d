"""The sharing tool over HTTP: it offers what the settings share with and the key is bound to."""

import pytest
from world import SMALL, World

from om_api import load_settings

AT = "/v1/resources/harold/share-tool"
COMPOSED = "[{resource: team, share: [decisions]}, {resource: org, share: [facts]}, {resource: seen}]"


@pytest.fixture
def settings(server_url, prefix):
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_COMPOSE": COMPOSED})


@pytest.fixture
def world(client, prefix) -> World:
    return World(client, prefix, compose=COMPOSED)


def offered(tool):
    return tool["input_schema"]["properties"]["with"]["enum"]


def test_a_model_tells_a_shared_memory_something_once(using, world):
    ask = using("writer", "harold", "team", "org")
    call = {"type": "tool_use", "name": "share_note", "input": {"text": "We ship in May.", "with": "team"}}
    said = [ask("POST", AT, json=call).json()["text"] for _ in range(2)]

    assert offered(ask("GET", f"{AT}?format=anthropic").json()) == ["team", "org"]
    assert said == ["It stands in the memory of team now."] * 2
    (note,) = world.om.observations("team")
    assert ("We ship in May." in note.text, note.by) == (True, "harold")


def test_what_the_key_is_not_bound_to_is_neither_offered_nor_told(using, world):
    writer = using("writer", "harold", "team")
    told = {name: writer("POST", AT, json={"text": "We ship", "with": name}).json()["text"] for name in ("org", "seen")}

    assert offered(writer("GET", f"{AT}?format=anthropic").json()) == ["team"]
    assert all(text.endswith("permitted is team") for text in told.values())
    assert world.om.observations("org") == []


def test_who_may_tell_nobody_is_given_no_tool(ask):
    refused = ask("GET", AT)

    assert refused.status_code == 422
    assert "the setting compose names none" in refused.json()["detail"]


def test_who_may_only_read_tells_nobody(using, world):
    reader = using("reader", "harold", "team")

    assert reader("POST", AT, json={"text": "We ship", "with": "team"}).status_code == 403
    assert world.om.observations("team") == []
