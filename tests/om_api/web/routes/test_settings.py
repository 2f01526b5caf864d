"""Settings on the pages: of an agent that nobody knows yet, and a form that changes nothing."""

import re

import pytest
from world import SMALL

from om_api import load_settings
from om_api.domain.api_keys import Role

AT = "/ui/agents/harald/settings"


@pytest.fixture
def settings(server_url, prefix, tmp_path):
    """Those of a folder in which changes are saved."""
    (tmp_path / "observational-memory.yaml").write_text("{}\n")
    return load_settings(tmp_path, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


def test_a_form_that_changes_nothing_is_told_what_to_do(sign_in):
    answer = sign_in(Role.OPERATOR, "harald").send(AT, {"set.message_threshold": "500", "was.message_threshold": "500"})
    assert answer.status_code == 422
    assert "write another value into a field" in answer.text


def test_a_value_of_several_lines_stays_one_when_another_setting_is_changed(sign_in):
    who = sign_in(Role.OPERATOR, "harald")
    lines = {"set.observer.instruction": "keep names\r\nkeep dates", "was.observer.instruction": ""}
    version = re.findall(r'name="version" value="([^"]*)"', who.send(AT, lines).text)[0]
    assert who.send(AT, {**lines, "version": version}).status_code == 303

    page = who.get(AT).text
    assert ">\nkeep names\nkeep dates</textarea>" in page
    hidden = {
        "set.observer.instruction": "keep names\r\nkeep dates",
        "was.observer.instruction": "keep names\nkeep dates",
    }
    planned = who.send(AT, {**hidden, "set.message_threshold": "700", "was.message_threshold": "500"})
    assert "instruction" not in planned.text.split("<tbody>")[1].split("</tbody>")[0]
