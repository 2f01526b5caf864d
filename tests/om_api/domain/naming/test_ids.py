"""Names of resources and threads that are no ids are escaped, alike in every client."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from om_api import InvalidInputError, escape_id, unescape_id
from om_api.cli import main
from om_api.domain.naming.ids import as_id
from om_api.domain.values import is_id
from om_api.integrations.turn import place_of

EXAMPLES = json.loads((Path(__file__).parents[3] / "data" / "ids.json").read_text())
WHO, THREAD = "auth0|1", "ticket/7 ü"


def test_escaping_is_reversible_and_no_two_texts_have_one_id():
    for text, name in EXAMPLES:
        assert (escape_id(text), unescape_id(name)) == (name, text), text
        assert is_id(name), text
        own, _ = place_of(text, "t-1", resource_from="", thread_from="") if text.strip(".") else (name, "")
        assert (own, as_id(name)) == (name, name), text  # the name that people chose, and the id of a list
    assert len({escape_id(text) for text, _ in EXAMPLES}) == len(EXAMPLES)
    assert (escape_id("\ud83d"), as_id("auth0+_7C1"), as_id("a b")) == ("+_EF+_BF+_BD", "auth0+_7C1", "a+_20b")
    for name in ("a+_41", "a+_FFb", "+_2E"):  # a plain writer's; nobody's name is escaped so, but for "."
        assert unescape_id(name) == {"+_2E": "."}.get(name, name), name
    for text, says in (
        ("", "must not be empty"),
        ("a" * 201, "maximum 200"),
        ("|" * 60, "240 characters when escaped"),
    ):
        with pytest.raises(InvalidInputError, match=says):
            escape_id(text)


def test_every_door_takes_any_name(world, server_url, monkeypatch):
    said = {"role": "user", "content": "My seat is 14C.", "id": "m-1"}
    world.om.add_message(said, thread_id=THREAD, resource_id=WHO)
    world.om.sync([said, {"role": "assistant", "content": "Noted."}], WHO, THREAD)
    world.om.add_messages([{**said, "id": "m-2", "thread_id": THREAD, "resource_id": WHO}])
    escaped = escape_id(THREAD), escape_id(WHO)
    for place in ((THREAD, WHO), escaped):
        assert [each.id for each in world.om.get_context(*place).messages][::2] == ["m-1", "m-2"]
        assert world.om.recall("seat", resource_id=place[1], thread_id=place[0]).hits
    assert [each.id for each in world.om.threads(WHO)] == [escaped[0]]
    monkeypatch.setenv("OM_PREFIX", world.prefix)
    shown = CliRunner().invoke(main, ["--url", server_url, "context", WHO, THREAD])
    assert (shown.exit_code, "14C" in shown.stdout) == (0, True)
