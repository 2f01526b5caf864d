"""Settings on the pages: seen before they are saved, or refused at their field."""

import re

import pytest
from world import SMALL

from om_api import load_settings
from om_api.domain.api_keys import Role
from om_api.settings.catalogue import SETTINGS, dotted, is_system_wide, owner_of

AT = "/ui/agents/harald/settings"


@pytest.fixture
def settings(server_url, prefix, tmp_path):
    """Those of a folder in which changes are saved."""
    (tmp_path / "observational-memory.yaml").write_text("{}\n")
    return load_settings(tmp_path, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


@pytest.fixture
def who(sign_in):
    return sign_in(Role.OPERATOR, "harald")


def _version(answer):
    return re.findall(r'name="version" value="([^"]*)"', answer.text)[0]


def test_a_change_is_seen_before_it_is_saved_and_again_where_somebody_else_was_faster(who, tmp_path):
    file, form = tmp_path / "agents" / "harald" / "memory.yaml", {"set.ttl_days": "3", "was.ttl_days": "9"}
    first = who.send(AT, form)
    assert ("<ins>+  ttl_days: 3</ins>" in first.text, file.exists()) == (True, False)
    file.parent.mkdir(parents=True)
    file.write_text("observational_memory:\n  ttl_days: 5\n")
    second = who.send(AT, {**form, "version": _version(first)})
    assert ("<del>-  ttl_days: 5</del>" in second.text, "ttl_days: 5" in file.read_text()) == (True, True)
    assert who.send(AT, {**form, "version": _version(second)}).status_code == 303
    assert file.read_text() == "observational_memory:\n  ttl_days: 3\n"
    assert str(file) in who.get(AT).text


def test_what_cannot_be_is_told_beside_its_field_and_nothing_is_saved(who, tmp_path):
    wrong = {"set.ttl_days": "0", "set.observe_idle_after": "never", "set.timezone": "Asia/Tokyo"}
    answer = who.send(AT, wrong)
    assert answer.status_code == 422
    for key, shown, says in (("ttl_days", "0", "permitted: 1 to 36,500"), ("observe_idle_after", "never", "90s, 5m")):
        row = answer.text.partition(f'<input name="set.{key}"')[2].partition("</tr>")[0]
        assert ('aria-invalid="true"' in row, f'value="{shown}"' in row, says in row) == (True, True, True), row
    assert 'value="Asia/Tokyo"' in answer.text
    assert ("<button>Save</button>" in answer.text, (tmp_path / "agents").exists()) == (False, False)
    unchanged = who.send(AT, {"set.message_threshold": "500", "was.message_threshold": "500"})
    assert (unchanged.status_code, "write another value into a field" in unchanged.text) == (422, True)


def test_a_value_of_several_lines_stays_one_when_another_setting_is_changed(who):
    lines = {"set.observer.instruction": "keep names\r\nkeep dates", "was.observer.instruction": ""}
    assert who.send(AT, {**lines, "version": _version(who.send(AT, lines))}).status_code == 303
    assert ">\nkeep names\nkeep dates</textarea>" in who.get(AT).text
    hidden = {**lines, "was.observer.instruction": "keep names\nkeep dates"}
    planned = who.send(AT, {**hidden, "set.message_threshold": "700", "was.message_threshold": "500"})
    assert "instruction" not in planned.text.split("<tbody>")[1].split("</tbody>")[0]


def test_what_belongs_to_administrators_has_no_field_and_is_refused(who):
    """Sec-02: `priority` and a link that the other memory does not permit."""
    own = {dotted(path): str(owner_of(path)) for path in SETTINGS if not is_system_wide(path)}
    others = {key for key, owner in own.items() if owner == "administrator"}
    shown = set(re.findall(r'name="set.([a-z_.]+)"', who.get(AT).text))
    refused = who.send(AT, {f"unset.{key}": "yes" for key in own})
    link = who.send(AT, {"set.compose": "[{resource: bob, share: [facts]}]", "was.compose": "[]"})
    assert shown == own.keys() - others
    assert (refused.status_code, set(re.findall(r"([a-z_.]+) belongs to", refused.text))) == (403, others)
    assert (link.status_code, "composed_by of bob does not name harald" in link.text) == (422, True)
