"""Commands that show and change settings."""

import json

import pytest

from om_api.cli.commands import config_change
from om_api.settings import saving
from om_api.store.memory.keys import Keys

BASE = "observational_memory:\n  message_threshold: 20000\n  observe_idle_after: 90m\n"
OVERRIDE = "observational_memory:\n  message_threshold: 5000\n"


@pytest.fixture
def folder(here):
    (here / "config" / "agents" / "worker-*").mkdir(parents=True)
    (here / "config" / "observational-memory.yaml").write_text(BASE)
    (here / "config" / "agents" / "worker-*" / "memory.yaml").write_text(OVERRIDE)
    return here / "config"


def row(output: str, key: str) -> list[str]:
    found = next(line for line in output.splitlines() if line.split(maxsplit=1)[:1] == [key])
    return found.strip().split(maxsplit=2)


def test_every_value_is_shown_with_where_it_comes_from_and_no_password(bare, folder, monkeypatch):
    monkeypatch.setenv("OM_OBSERVER__TIMEOUT", "1m")
    for command in ("config", "config show"):
        output = bare(*command.split()).stdout
        assert row(output, "message_threshold")[1:] == ["20000", "config/observational-memory.yaml"], command
        assert row(output, "observer.timeout")[1:] == ["60s", "environment OM_OBSERVER__TIMEOUT"], command
        assert row(output, "scope")[1:] == ["resource", "default"], command
    own = bare("config", "show", "worker-7").stdout
    assert row(own, "message_threshold")[1:] == ["5000", "config/agents/worker-*/memory.yaml"]
    found = bare("--url", "redis://me:s3cret@example.org/1?password=s3cret", "config", "show", "--json").stdout
    url = json.loads(found)[0]["settings"]["storage.redis.url"]
    assert url == {"value": "redis://me:***@example.org/1?***", "from": "--url"}


def test_a_check_warns_of_links_that_the_other_memory_does_not_permit(bare, folder):
    (folder / "agents" / "worker-*" / "memory.yaml").write_text("observational_memory: {compose: [org]}\n")
    result = bare("config", "check")
    assert (result.exit_code, "unshared: compose of worker-* names org" in result.stderr) == (0, True)
    (folder / "observational-memory.yaml").write_text("observational_memory: {composed_by: [worker-*]}\n")
    assert "unshared" not in bare("config", "check").stderr


def test_a_check_names_settings_of_a_glob_that_an_own_file_hides(bare, folder):
    glob, own = folder / "agents" / "worker-*" / "memory.yaml", folder / "agents" / "worker-7" / "memory.yaml"
    own.parent.mkdir()
    glob.write_text("observational_memory: {budget: {calls_per_day: 10}, priority: 1.0, ttl_days: 9}\n")
    hidden = "worker-7 has its own file, so these settings of worker-* do not apply: budget.calls_per_day"
    for stated, is_hidden in (("priority: 1.0", True), ("priority: 1.0, budget: {calls_per_day: 20}", False)):
        own.write_text(f"observational_memory: {{{stated}}}\n")
        said = bare("config", "check")
        assert (said.exit_code, f"{hidden}\n" in said.stderr) == (0, is_hidden), stated


BROKEN = """
nonsense: 1
observational_memory:
  observer: 5
  ttl_days: never
models: {a: 5, b: {x: 1}}
"""


def test_a_check_names_every_mistake_of_every_file_at_once(bare, folder, monkeypatch):
    """Catches a check that has to be run again after each mistake that was mended."""
    monkeypatch.setenv("OM_LOG_FORMAT", "xml")
    monkeypatch.setenv("OM_TTL_DAYZ", "5")
    (folder / "observational-memory.yaml").write_text(BROKEN)
    (folder / "agents" / "worker-*" / "memory.yaml").write_text("observational_memory:\n  scop: x\n  ttl_days: 0\n")
    result = bare("config", "check")
    base, agent = "config/observational-memory.yaml", "config/agents/worker-*/memory.yaml"
    assert result.exit_code == 1
    assert [" ".join(line.split()[:5]).partition(" is")[0] for line in result.stdout.splitlines()] == [
        "environment OM_LOG_FORMAT: it", "environment OM_TTL_DAYZ: there", f"{base}: line 2: nonsense",
        f"{base}: line 4: observer", f"{base}: line 6: models.a", f"{base}: line 5: ttl_days",
        f"{base}: line 6: models.b.x", f"{agent}: line 3: ttl_days", f"{agent}: line 2: scop"]  # fmt: skip


def test_an_agents_bad_file_is_one_line_and_hides_no_settings(bare, folder):
    evil = folder / "agents" / "evil" / "memory.yaml"
    evil.parent.mkdir()
    evil.write_text('observational_memory: {observer_model: {"a\\nb\\x1b[31m": 1}}')
    for shown in (bare("config"), bare("config", "show", "evil")):
        (line,) = [line for line in shown.output.splitlines() if "agents/evil/memory.yaml" in line]
        assert (shown.exit_code, line.isprintable(), "20000" in shown.stdout) == (0, True, True)


def test_a_check_names_what_nobody_reads_without_being_told_where(bare, folder):
    """Catches files with names that are nearly right, in folders that no agent can be called."""
    for file in ("observational-memory.yml", "agents/harold/memory.json", "agents/har old/memory.yml",
                 "agents/ada.yaml"):  # fmt: skip
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("{}")
    for file in ("agents/ada/memory.yml", "agents/tools/settings.yaml", "agents/my tools/x.py"):
        (folder.parent / file).parent.mkdir(exist_ok=True, parents=True)
        (folder.parent / file).write_text("{}")
    result = bare("config", "check")
    assert result.exit_code == 1
    assert [line.partition(";")[0] for line in result.stdout.splitlines()] == [
        "config/observational-memory.yml: nobody reads this file", "config/agents/ada.yaml: nobody reads this file",
        "config/agents/har old: no agent has such a name", "config/agents/har old/memory.yml: nobody reads this file",
        "config/agents/harold/memory.json: nobody reads this file",
        "agents/ada/memory.yml: nobody reads this file"]  # fmt: skip


OWN = "observational_memory:\n  # so many\n  message_threshold: 5000\n"


@pytest.fixture
def file(here):
    (here / "config" / "agents" / "harold").mkdir(parents=True)
    (here / "config" / "observational-memory.yaml").write_text("observational_memory: {ttl_days: 5}")
    file = here / "config" / "agents" / "harold" / "memory.yaml"
    file.write_text(OWN)
    return file


@pytest.fixture
def om(bare, client, server_url, prefix, monkeypatch):
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


def test_what_could_not_be_in_force_is_refused_and_nothing_is_saved(om, file):
    for args, says in [
        (("set", "harold", "message_threshold=-1"), "message_threshold is -1; permitted: 100 to 10,000,000"),
        (("set", "harold", "message_threshold"), "has no value; permitted: KEY=VALUE"),
        (("set", "harold", "storage.redis.url=redis://:hush@x"), "holds for the whole system"),
        (("set", "a/b", "ttl_days=3"), "is no agent's name"),
        (("unset", "harold", "ttl_days"), "does not state ttl_days; it states message_threshold"),
    ]:
        done = om("config", *args)
        assert (done.exit_code, file.read_text()) == (2, OWN), (args, says)
        assert says in done.stderr, (args, says)
        assert "hush" not in done.output, (args, says)
        assert len(done.stderr.splitlines()) == 1, (args, says)


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


@pytest.mark.parametrize("where", ["--file", "--store"])
def test_who_comes_second_is_told_and_changes_nothing(om, file, monkeypatch, client, prefix, where):
    planned = config_change.plan

    def slow(*args, **by):
        found = planned(*args, **by)
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
