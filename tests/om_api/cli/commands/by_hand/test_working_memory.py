"""`om working-memory` and `om extracted`: what is kept in fields, and what was found beside the notes."""

import pytest
from world import World


@pytest.fixture
def world(client, prefix) -> World:
    return World(client, prefix, working_memory__template="- **Name**: what they are called\n- City:")


@pytest.fixture(autouse=True)
def _fields(here, monkeypatch):
    monkeypatch.setenv("OM_WORKING_MEMORY__TEMPLATE", "- **Name**: what they are called\n- City:")


def test_fields_are_set_shown_and_taken_back(om, om_json, world):
    done = om("working-memory", "set", "harold", "Name=Ada", "City=Graz", "--by", "lotte")
    om("working-memory", "set", "harold", "City=")
    shown = om("working-memory", "show", "harold")
    assert done.stdout == "updated\n"
    assert "working-memory undo harold takes it back" in done.stderr
    assert shown.stdout == "- **Name**: Ada\n- City:\n"
    assert "version 2" in shown.stderr
    assert "Name: Ada; City: Graz" in om("working-memory", "versions", "harold").stdout
    assert om("working-memory", "undo", "harold").stdout == "updated\n"
    assert om_json("working-memory", "show", "harold")["fields"] == {"Name": "Ada", "City": "Graz"}


def test_a_late_or_a_mistyped_change_is_told(om, world):
    om("working-memory", "set", "harold", "Name=Ada")
    late = om("working-memory", "set", "harold", "Name=Bo", "--version", "0")
    assert (late.exit_code, late.stdout) == (0, "superseded\n")
    assert "did you mean 'City'" in om("working-memory", "set", "harold", "Citty=x").stderr
    assert "write FIELD=VALUE" in om("working-memory", "set", "harold", "City").stderr


def test_what_was_found_is_printed_and_what_was_not_says_what_to_set(om, world):
    world.say("hello")
    assert "the setting extractors" in om("extracted", "harold").stderr
    assert om("extracted", "nobody").exit_code == 1


def test_a_field_that_takes_no_text_is_given_as_json(om, om_json, monkeypatch):
    """A text that fits stays a text, though it may be read as a number."""
    kinds = '{"Limit": {"type": "number"}, "On": {"type": "boolean"}, "Code": {"type": "string"}}'
    monkeypatch.delenv("OM_WORKING_MEMORY__TEMPLATE")
    monkeypatch.setenv("OM_WORKING_MEMORY__JSON_SCHEMA", f'{{"type": "object", "properties": {kinds}}}')
    om("working-memory", "set", "harold", "Limit=5", "On=true", "Code=[007]")
    refused = om("working-memory", "set", "harold", "Limit=many")
    assert om_json("working-memory", "show", "harold")["fields"] == {"Limit": 5, "On": True, "Code": "[007]"}
    assert "'many' is not of type 'number'" in refused.stderr
