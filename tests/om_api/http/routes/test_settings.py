"""Settings over HTTP: each says what it is for, and changing them is tried, saved, refused or too late."""

import json

import pytest

from om_api import load_settings
from om_api.settings import saving
from om_api.store.memory.keys import Keys

PATH = "/v1/resources/harold/settings"
OWN = "observational_memory:\n  # so many\n  observation_threshold: 5000\n"


@pytest.fixture
def settings(server_url, prefix, tmp_path):
    """Of files: the base, and harold's."""
    (tmp_path / "agents" / "harold").mkdir(parents=True)
    (tmp_path / "observational-memory.yaml").write_text("observational_memory: {tokenizer: estimate}")
    (tmp_path / "agents" / "harold" / "memory.yaml").write_text(OWN)
    return load_settings(tmp_path, {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


@pytest.fixture
def file(tmp_path):
    return tmp_path / "agents" / "harold" / "memory.yaml"


@pytest.fixture
def change(ask):
    return lambda **body: ask("PATCH", PATH, json=body)


def value(ask, key):
    return next(each for each in ask("GET", PATH).json() if each["key"] == key)


def test_each_setting_says_what_it_is_for_and_what_it_may_be(ask, file):
    found = value(ask, "observation_threshold")

    assert found == {
        "key": "observation_threshold",
        "value": 5000,
        "origin": str(file),
        "unit": "tokens",
        "permitted": "100 to 10,000,000",
        "default": 40000,
        "text": "observations above this are condensed into a reflection",
        "system_wide": False,
    }
    assert value(ask, "storage.redis.url")["system_wide"]


def test_a_change_is_tried_then_saved_as_it_was_seen(change, ask, file):
    body = {"set": {"observation_threshold": 6000, "observer.timeout": "5m"}}
    tried = change(**body, dry_run=True).json()
    after_trial = file.read_text()
    saved = change(**body, version=tried["version"]).json()

    assert (tried["outcome"], after_trial, saved["outcome"]) == ("dry_run", OWN, "saved")
    assert "+  observation_threshold: 6000\n" in tried["diff"] == saved["diff"]
    assert [(each["key"], each["was"], each["now"]) for each in saved["changed"]] == [
        ("observation_threshold", 5000, 6000),
        ("observer.timeout", 120, 300),
    ]
    assert value(ask, "observation_threshold")["value"] == 6000  # at once
    assert "# so many" in file.read_text()


def test_who_saw_another_version_changes_nothing_and_sees_the_newer_one(change, file):
    tried = change(set={"ttl_days": 3}, dry_run=True).json()
    change(set={"ttl_days": 4})
    late = change(set={"ttl_days": 3}, version=tried["version"]).json()

    assert (late["outcome"], "ttl_days: 4" in file.read_text()) == ("superseded", True)
    assert "-  ttl_days: 4\n+  ttl_days: 3\n" in late["diff"]
    assert late["version"] != tried["version"]


@pytest.mark.parametrize("where", ["store", None])
def test_where_files_are_read_only_it_is_saved_in_the_store(change, ask, file, client, prefix, monkeypatch, where):
    monkeypatch.setattr(saving.os, "access", lambda *_: False)
    saved = change(set={"ttl_days": 3}, where=where).json()
    found = value(ask, "ttl_days")
    taken_out = change(unset=["ttl_days"]).json()

    assert (saved["outcome"], saved["where"], file.read_text()) == ("saved", "store", OWN)
    assert (found["value"], found["origin"]) == (3, "store harold")
    assert (taken_out["outcome"], taken_out["version"], client.exists(Keys(prefix).settings)) == ("saved", "", 0)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"set": {"ttl_days": 0}}, "ttl_days is 0; permitted: 1 to 36,500"),
        ({"set": {"tll_days": 1}}, "did you mean ttl_days?"),
        ({"set": {"storage.redis.url": "redis://:hush@x"}}, "holds for the whole system"),
        ({"set": {"models.x.api_key_env": "sk-hush"}}, "holds for the whole system"),
        ({"unset": ["ttl_days"]}, "does not state ttl_days"),
        ({}, "nothing is to be changed"),
        ({"set": {"observer.instruction": "\ud800"}}, "body.set"),
        ({"set": {"observer": {"timeout": 5}}}, "body.set"),
        ({"sets": {}}, "body.sets"),
        ({"set": {"ttl_days": 3}, "version": "x"}, "body.version"),
    ],
)
def test_what_could_not_be_in_force_is_a_422_that_says_what_is_permitted(using, file, body, says):
    reply = using("operator", "harold")(
        "PATCH", PATH, content=json.dumps(body), headers={"Content-Type": "application/json"}
    )

    assert (reply.status_code, file.read_text()) == (422, OWN)
    assert says in reply.json()["detail"]
    assert "hush" not in reply.json()["detail"]


def test_nobody_but_an_operator_of_the_agent_changes_its_settings(using, file):
    replies = [
        using(role, name)("PATCH", PATH, json={"set": {"ttl_days": 3}})
        for role, name in (("writer", "harold"), ("reader", "harold"), ("operator", "other"))
    ]

    assert ([reply.status_code for reply in replies], file.read_text()) == ([403] * 3, OWN)


def test_what_somebody_else_puts_into_the_store_is_taken_up(ask, client, prefix, monkeypatch):
    client.hset(Keys(prefix).settings, "harold", "observational_memory: {ttl_days: 7}")
    client.hset(Keys(prefix).settings, b"\xff", b"\xfe")
    changed = ask("PATCH", PATH, json={"set": {"max_reflections": 5}, "dry_run": True}).json()
    client.delete(Keys(prefix).settings)

    assert (changed["where"], value(ask, "ttl_days")["value"]) == ("store", 7)
