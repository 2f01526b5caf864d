"""`om config set` and `unset`: what is saved, where, and what could not be."""

import json

import pytest

from om_api.cli.commands import config_change
from om_api.settings import saving
from om_api.store.memory.keys import Keys

OWN = "observational_memory:\n  # so many\n  message_threshold: 5000\n"


@pytest.fixture
def file(here):
    """Harold's, below a base."""
    (here / "config" / "agents" / "harold").mkdir(parents=True)
    (here / "config" / "observational-memory.yaml").write_text("observational_memory: {ttl_days: 5}")
    file = here / "config" / "agents" / "harold" / "memory.yaml"
    file.write_text(OWN)
    return file


@pytest.fixture
def om(bare, client, server_url, prefix, monkeypatch):
    """Run `om` against the test's own store, with no setting but where it is."""
    monkeypatch.setenv("OM_PREFIX", prefix)
    return lambda *args: bare("--url", server_url, *args)


def shown(om, key):
    return json.loads(om("config", "show", "harold", "--json").stdout)["settings"][key]


def test_a_change_is_saved_shown_and_in_force(om, file):
    done = om(
        "config", "set", "harold", "message_threshold=6000", "observer.instruction=Keep: all", "observer.timeout=5m"
    )

    assert done.exit_code == 0, done.output
    assert "-  message_threshold: 5000\n+  message_threshold: 6000\n" in done.stdout
    assert "saved in config/agents/harold/memory.yaml" in done.stderr
    assert file.read_text().startswith("observational_memory:\n  # so many\n  message_threshold: 6000\n")
    assert shown(om, "observer.instruction") == {"value": "Keep: all", "from": "config/agents/harold/memory.yaml"}
    assert shown(om, "observer.timeout")["value"] == 300


def test_a_dry_run_saves_nothing(om, file):
    done = om("config", "set", "harold", "message_threshold=6000", "--dry-run")

    assert (done.exit_code, file.read_text()) == (0, OWN)
    assert "nothing was saved" in done.stderr
    assert "+  message_threshold: 6000" in done.stdout


def test_what_is_unset_is_what_the_layers_below_say(om, file):
    done = om("config", "unset", "harold", "message_threshold")

    assert (done.exit_code, file.read_text()) == (0, "observational_memory:\n  # so many\n")
    assert shown(om, "message_threshold") == {"value": 30_000, "from": "default"}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("set", "harold", "message_threshold=-1"), "message_threshold is -1; permitted: 100 to 10,000,000"),
        (("set", "harold", "message_threshold"), "has no value; permitted: KEY=VALUE"),
        (("set", "harold", "storage.redis.url=redis://:hush@x"), "holds for the whole system"),
        (("set", "a/b", "ttl_days=3"), "is no agent's name"),
        (("unset", "harold", "ttl_days"), "does not state ttl_days; it states message_threshold"),
    ],
)
def test_what_could_not_be_in_force_is_refused_and_nothing_is_saved(om, file, args, says):
    done = om("config", *args)

    assert (done.exit_code, file.read_text()) == (2, OWN)
    assert says in done.stderr
    assert "hush" not in done.output
    assert len(done.stderr.splitlines()) == 1


def test_a_read_only_folder_has_a_change_saved_in_the_store(om, file, monkeypatch, client, prefix):
    monkeypatch.setattr(saving.os, "access", lambda *_: False)
    done = om("config", "set", "harold", "message_threshold=6000")
    there = client.hget(Keys(prefix).settings, "harold")
    found = shown(om, "message_threshold")
    gone = om("config", "unset", "harold", "message_threshold", "--json")

    assert (done.exit_code, file.read_text()) == (0, OWN)
    assert there == b"observational_memory:\n  message_threshold: 6000\n"
    assert found == {"value": 6000, "from": "store harold"}
    assert json.loads(gone.stdout)["outcome"] == "saved"
    assert not client.exists(Keys(prefix).settings)


def test_what_a_layer_above_overrules_is_said(om, file, monkeypatch):
    om("config", "set", "harold", "message_threshold=6000", "--store")
    done = om("config", "set", "harold", "message_threshold=7000", "--file")

    assert "not in force: message_threshold is 6000 by store harold, which is above it" in done.stderr
    assert om("config", "unset", "harold", "message_threshold", "--store").exit_code == 0


def test_nothing_to_change_is_no_mistake(om, file):
    done = om("config", "set", "harold", "message_threshold=5000", "--json")

    assert (done.exit_code, json.loads(done.stdout)["outcome"]) == (0, "unchanged")


@pytest.mark.parametrize("where", ["--file", "--store"])
def test_who_comes_second_is_told_and_changes_nothing(om, file, monkeypatch, client, prefix, where):
    planned = config_change.plan

    def slow(*args):
        found = planned(*args)
        file.write_text("# somebody else's\n")
        client.hset(Keys(prefix).settings, "harold", "# somebody else's\n")
        return found

    monkeypatch.setattr(config_change, "plan", slow)
    done = om("config", "set", "harold", "message_threshold=6000", where)
    there = client.hget(Keys(prefix).settings, "harold")
    client.delete(Keys(prefix).settings)

    assert done.exit_code == 1
    assert "changed by somebody else meanwhile" in done.stderr
    assert (file.read_text(), there) == ("# somebody else's\n", b"# somebody else's\n")


def test_a_broken_entry_of_the_store_is_said_and_shows_what_is_in_force(om, file, client, prefix):
    client.hset(Keys(prefix).settings, "harold", "observational_memory: {message_threshold: 1}")
    done = om("config", "show", "harold")
    doctor = om("doctor")
    client.delete(Keys(prefix).settings)

    assert "not in force: store harold: message_threshold is 1; permitted" in done.stderr
    assert "store harold: message_threshold is 1" in " ".join(doctor.stdout.split())
