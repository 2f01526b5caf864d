"""Settings over HTTP: each says what it is for, and changing them is tried, saved, refused or too late."""

import json
import re
from typing import get_args, get_origin

import pytest
from configured import Folder

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import SETTINGS, dotted, is_system_wide, owner_of
from om_api.settings.change import WantedChange, plan
from om_api.settings.sections.fields import Mapped, SettingOwner
from om_api.settings.stored_layers import layer_of_entry
from om_api.store.fleet import stored_settings

PATH = "/v1/resources/harold/settings"
OWN = "observational_memory:\n  # so many\n  observation_threshold: 5000\n"


@pytest.fixture
def settings(server_url, prefix, tmp_path):
    """Of files: the base, and harold's."""
    folder = Folder(tmp_path)
    folder.settings("tokenizer: estimate")
    folder.agent("harold", OWN)
    return folder.load(OM_PREFIX=prefix, OM_REDIS_URL=server_url)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "agents" / "harold" / "memory.yaml"


def value(ask, key):
    return next(each for each in ask("GET", PATH).json() if each["key"] == key)


def test_each_setting_says_what_it_is_for_and_what_it_may_be(ask, file):
    found = value(ask, "observation_threshold")

    assert found.pop("text")
    assert found == {
        "key": "observation_threshold", "value": 5000, "origin": str(file), "default": 40000, "unit": "tokens",
        "permitted": "100 to 10,000,000", "system_wide": False, "owner": "operator",
    }  # fmt: skip
    assert value(ask, "storage.redis.url")["system_wide"]


def test_a_change_is_tried_then_saved_unless_somebody_saw_another_version(ask, file):
    def change(**body):
        return ask("PATCH", PATH, json=body).json()

    body = {"set": {"observation_threshold": 6000, "observe_idle_after": "5m"}}
    tried = change(**body, dry_run=True)
    after_trial = file.read_text()
    saved, late = (change(**body, version=tried["version"]) for _ in range(2))

    assert (tried["outcome"], after_trial, saved["outcome"]) == ("dry_run", OWN, "saved")
    assert "+  observation_threshold: 6000\n" in tried["diff"] == saved["diff"]
    assert [(each["key"], each["was"], each["now"]) for each in saved["changed"]] == [
        ("observation_threshold", 5000, 6000),
        ("observe_idle_after", 3600, 300),
    ]
    assert (value(ask, "observation_threshold")["value"], "# so many" in file.read_text()) == (6000, True)  # at once
    assert (late["outcome"], late["diff"], late["version"] != tried["version"]) == ("superseded", "", True)


def test_what_could_not_be_in_force_is_a_422_that_says_what_is_permitted(ask, file):
    for body, says in [
        ({"set": {"ttl_days": 0}}, "ttl_days is 0; permitted: 1 to 36,500"),
        ({"set": {"tll_days": 1}}, "did you mean ttl_days?"),
        ({"set": {"storage.redis.url": "redis://:hush@x"}}, "holds for the whole system"),
        ({"unset": ["ttl_days"]}, "does not state ttl_days"),
        ({"set": {"compose": ["bob"]}}, "composed_by of bob does not name harold"),
        ({}, "nothing is to be changed"),
        ({"set": {"observer.instruction": "\ud800"}}, "body.set"),
        ({"set": {"ttl_days": 3}, "version": "x"}, "body.version"),
    ]:
        reply = ask("PATCH", PATH, content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert (reply.status_code, file.read_text()) == (422, OWN), body
        assert says in reply.json()["detail"], body
        assert "hush" not in reply.json()["detail"]


def test_only_its_owner_changes_a_setting_through_every_interface(using, settings):
    """The matrix of settings, roles and interfaces, from the declaration of each field alone."""
    own = {dotted(path): owner_of(path) for path in SETTINGS if not is_system_wide(path)}

    def beyond(owner):
        return {key for key, needed in own.items() if not owner.includes(needed)}

    def refused(text):
        return set(re.findall(r"([a-z_.]+) belongs to", text))

    for role, owner in (("writer", SettingOwner.AGENT), ("operator", SettingOwner.OPERATOR)):
        for bound in ("harold", "*"):
            asks = using(role, bound)
            reply = asks("PATCH", PATH, json={"unset": [*own], "dry_run": True})
            rest = asks("PATCH", PATH, json={"unset": [*(own.keys() - beyond(owner))], "dry_run": True})
            assert (reply.status_code, refused(reply.json()["detail"])) == (403, beyond(owner)), (role, bound)
            assert (rest.status_code, "does not state" in rest.json()["detail"]) == (422, True), (role, bound)
    assert using("reader", "harold")("PATCH", PATH, json={"unset": ["timezone"]}).status_code == 403
    for key, needed in own.items():
        kind = SETTINGS[tuple(key.split("."))].annotation
        if Mapped in {kind, *get_args(kind)} and get_origin(kind) is not tuple:  # no interface changes a mapping
            assert needed is SettingOwner.ADMINISTRATOR, key
        nested = json.loads("".join(f'{{"{name}": ' for name in key.split(".")) + "null" + "}" * len(key.split(".")))
        entry = json.dumps({"observational_memory": nested}).encode()
        if needed is SettingOwner.ADMINISTRATOR:
            with pytest.raises(SettingsError, match="not in the store"):
                layer_of_entry("harold", entry)
        else:
            assert layer_of_entry("harold", entry), key
    with pytest.raises(SettingsError, match="does not state"):  # a file, or `om config set`
        plan(settings, "harold", WantedChange(unset=[*own]), "file", by=SettingOwner.ADMINISTRATOR)
    for path in filter(is_system_wide, SETTINGS):
        assert owner_of(path) is SettingOwner.ADMINISTRATOR, path
        with pytest.raises(SettingsError, match="holds for the whole system"):
            plan(settings, "harold", WantedChange(unset=[dotted(path)]), by=SettingOwner.ADMINISTRATOR)


def test_a_key_for_both_memories_makes_a_link_and_either_side_ends_it(using):
    both, bob, reader = using("operator", "harold", "bob"), using("operator", "bob"), using("reader", "*")

    def change(ask, resource, **stated):
        return ask("PATCH", f"/v1/resources/{resource}/settings", json={"set": stated}).status_code

    def left_out():
        found = reader("GET", "/v1/resources/harold/threads/t-1/context?format=blocks").json()["left_out"]
        return "composed_by of bob does not name harold" in found.get("bob", "")

    assert (change(both, "bob", composed_by=["harold"]), change(both, "harold", compose=["bob"]), left_out()) == (
        200,
        200,
        False,
    )
    assert (change(bob, "bob", composed_by=[]), left_out()) == (200, True)


def test_settings_in_the_store_count_against_the_key_that_saved_them(using, monkeypatch):
    monkeypatch.setattr(stored_settings, "MOST_OF_A_KEY", 1)
    body = {"set": {"timezone": "Europe/Oslo"}, "where": "store"}
    asks = [using("writer", "*"), using("operator", "*")]
    said = [
        ask("PATCH", f"/v1/resources/x{n}/settings", json=body) for n, ask in ((1, asks[0]), (2, asks[0]), (3, asks[1]))
    ]
    assert [each.status_code for each in said] == [200, 409, 200]
    assert "at most 1 agents and 1,048,576 bytes of this key" in said[1].json()["detail"]
