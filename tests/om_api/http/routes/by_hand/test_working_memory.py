"""The working memory over HTTP: readers see it, writers keep it, operators take a change back."""

import pytest
from world import SMALL, World

from om_api import load_settings

KEPT = "/v1/resources/harold/working-memory"
FIELDS = "- **Name**: what they are called\n- City:"


@pytest.fixture
def settings(server_url, prefix):
    own = {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_WORKING_MEMORY__TEMPLATE": FIELDS}
    return load_settings(None, {**SMALL, **own})


@pytest.fixture
def world(client, prefix) -> World:
    return World(client, prefix, working_memory__template=FIELDS)


def test_fields_are_kept_changed_and_brought_back(ask, world):
    first = ask("PATCH", KEPT, json={"fields": {"Name": "Ada", "City": "Graz"}}).json()
    second = ask("PATCH", KEPT, json={"fields": {"City": None}, "version": 1}).json()
    late = ask("PATCH", KEPT, json={"fields": {"City": "Rome"}, "version": 1}).json()

    assert (first["outcome"], first["working_memory"]["fields"]) == ("updated", {"Name": "Ada", "City": "Graz"})
    assert (second["outcome"], second["working_memory"]["text"]) == ("updated", "- **Name**: Ada\n- City:")
    assert (late["outcome"], late["working_memory"]["version"]) == ("superseded", 2)
    assert ask("PUT", KEPT, json={"fields": {"City": "Oslo"}}).json()["working_memory"]["fields"] == {"City": "Oslo"}
    assert ask("POST", f"{KEPT}/undo").json()["working_memory"]["fields"] == {"Name": "Ada"}
    assert [each["version"] for each in ask("GET", f"{KEPT}/versions").json()] == [1, 2, 3]
    assert ask("GET", KEPT).json()["fields"] == {"Name": "Ada"}
    assert world.om.working_memory("harold").by != ""


def test_what_cannot_be_kept_says_what_can(ask, world):
    unknown = ask("PATCH", KEPT, json={"fields": {"Town": "x"}})
    nothing = ask("POST", f"{KEPT}/undo")

    assert unknown.status_code == 422
    assert "'Town' is no field of the working memory: it has Name, City" in unknown.json()["detail"]
    assert nothing.status_code == 404
    assert ask("PATCH", KEPT, json={"fields": {}, "more": 1}).status_code == 422


def test_each_role_may_what_it_may(using, world):
    reader, writer = using("reader", "harold"), using("writer", "harold")

    assert reader("PATCH", KEPT, json={"fields": {"City": "x"}}).status_code == 403
    assert writer("PATCH", KEPT, json={"fields": {"City": "x"}}).status_code == 200
    assert writer("POST", f"{KEPT}/undo").status_code == 403
    assert reader("GET", KEPT).json()["fields"] == {"City": "x"}
    assert reader("GET", "/v1/resources/olga/working-memory").status_code == 403


def test_a_model_keeps_by_a_tool(ask, world):
    tool = ask("GET", "/v1/resources/harold/working-memory-tool?format=gemini").json()
    call = {"name": "update_working_memory", "args": {"fields": {"Name": "Ada"}}}

    assert tool["function_declarations"][0]["name"] == "update_working_memory"
    answer = ask("POST", "/v1/resources/harold/working-memory-tool", json=call).json()["text"]
    assert answer == "Your working memory says now:\n- **Name**: Ada\n- City:"
    refused = ask("POST", "/v1/resources/harold/working-memory-tool", json={"fields": {"Town": 1}}).json()["text"]
    assert refused.startswith("Nothing was changed: 'Town'")


def test_what_extractors_found_is_read(ask, world):
    assert ask("GET", "/v1/resources/harold/extracted?thread_id=t-1").json() == {}
