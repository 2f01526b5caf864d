"""`om config`: what is in force, where it comes from, and what cannot be."""

import json
import os

import pytest

BASE = "observational_memory:\n  message_threshold: 20000\n  observe_idle_after: 90m\n"
OVERRIDE = "observational_memory:\n  message_threshold: 5000\n"


@pytest.fixture
def folder(here):
    (here / "config" / "agents" / "worker-*").mkdir(parents=True)
    (here / "config" / "observational-memory.yaml").write_text(BASE)
    (here / "config" / "agents" / "worker-*" / "memory.yaml").write_text(OVERRIDE)
    return here / "config"


def row(output: str, key: str) -> list[str]:
    """The cells of a key's row."""
    found = next(line for line in output.splitlines() if line.split(maxsplit=1)[:1] == [key])
    return found.strip().split(maxsplit=2)


@pytest.mark.parametrize("command", [("config",), ("config", "show")])
def test_every_value_is_shown_with_where_it_comes_from(bare, folder, monkeypatch, command):
    monkeypatch.setenv("OM_OBSERVER__TIMEOUT", "1m")
    output = bare(*command).stdout

    assert row(output, "message_threshold")[1:] == ["20000", "config/observational-memory.yaml"]
    assert row(output, "observe_idle_after")[1] == "5400s"
    assert row(output, "observer.timeout")[1:] == ["60s", "environment OM_OBSERVER__TIMEOUT"]
    assert row(output, "scope")[1:] == ["resource", "default"]


def test_of_an_override_only_what_it_changes_is_shown(bare, folder):
    _, output = bare("config").stdout.split("worker-* (what it changes)")

    assert row(output, "message_threshold")[1] == "5000"
    assert "observation_threshold" not in output


def test_one_agent_is_shown_whole(bare, folder):
    output = bare("config", "show", "worker-7").stdout

    assert row(output, "message_threshold")[1:] == ["5000", "config/agents/worker-*/memory.yaml"]
    assert row(output, "observation_threshold")[1] == "40000"


def test_settings_as_json_are_values_with_their_origin(bare, folder):
    everyone = json.loads(bare("config", "show", "--json").stdout)
    one = json.loads(bare("config", "show", "worker-7", "--json").stdout)

    assert [each["agent"] for each in everyone] == [None, "worker-*"]
    assert everyone[0]["settings"]["models.extractive.provider"] == {"value": "extractive", "from": "default"}
    assert (one["agent"], one["settings"]["message_threshold"]["value"]) == ("worker-7", 5000)


def test_an_address_is_shown_without_its_password(bare):
    output = bare("--url", "redis://me:s3cret@example.org/1?password=s3cret", "config", "show", "--json").stdout
    settings = json.loads(output)[0]["settings"]

    assert settings["storage.redis.url"] == {"value": "redis://me:***@example.org/1?***", "from": "--url"}


def test_a_key_where_the_name_of_its_variable_belongs_is_hidden(bare, folder):
    (folder / "observational-memory.yaml").write_text("models:\n  mine: {provider: openai, api_key_env: abcS3cret}\n")

    assert "S3cret" not in bare("config").output


def test_an_override_that_is_not_in_force_is_said(bare, folder):
    (folder / "agents" / "worker-*" / "memory.yaml").write_text("observational_memory: {message_threshold: 1}")
    result = bare("config")

    assert result.exit_code == 0
    assert "not in force: config/agents/worker-*/memory.yaml: line 1: message_threshold is 1" in result.stderr


@pytest.mark.parametrize("args", [(), ("config",)])
def test_a_check_that_finds_nothing_is_exit_code_0(bare, folder, args):
    result = bare("config", "check", *args)

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "no problems\n")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "observational-memory.yaml",
            "observational_memory: {scope: both}",
            "observational-memory.yaml: line 1: scope is",
        ),
        ("observational-memory.yaml", "- a list", "not a mapping"),
        ("agents/worker-*/memory.yaml", "observational_memory: {scop: thread}", "did you mean scope?"),
        ("agents/worker-*/memory.yml", OVERRIDE, "memory.yml: nobody reads this file"),
    ],
)
def test_a_check_that_finds_something_names_it_and_is_exit_code_1(bare, folder, file, text, said):
    (folder / file).write_text(text)
    result = bare("--config", str(folder), "config", "check")

    assert result.exit_code == 1
    assert said in result.stdout
    assert json.loads(bare("config", "check", str(folder), "--json").stdout)[0].keys() == {"file", "text"}


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
        "environment OM_LOG_FORMAT: it",
        "environment OM_TTL_DAYZ: there",
        f"{base}: line 2: nonsense",
        f"{base}: line 4: observer",
        f"{base}: line 6: models.a",
        f"{base}: line 5: ttl_days",
        f"{base}: line 6: models.b.x",
        f"{agent}: line 3: ttl_days",
        f"{agent}: line 2: scop",
    ]


def test_a_check_names_what_nobody_reads_without_being_told_where(bare, folder):
    """Catches files with names that are nearly right, in folders that no agent can be called."""
    for file in (
        "observational-memory.yml",
        "agents/harold/memory.json",
        "agents/har old/memory.yml",
        "agents/ada.yaml",
    ):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("{}")
    for file in ("agents/ada/memory.yml", "agents/tools/settings.yaml", "agents/my tools/x.py"):
        (folder.parent / file).parent.mkdir(exist_ok=True, parents=True)
        (folder.parent / file).write_text("{}")
    result = bare("config", "check")

    assert result.exit_code == 1
    assert [line.partition(";")[0] for line in result.stdout.splitlines()] == [
        "config/observational-memory.yml: nobody reads this file",
        "config/agents/ada.yaml: nobody reads this file",
        "config/agents/har old: no agent has such a name",
        "config/agents/har old/memory.yml: nobody reads this file",
        "config/agents/harold/memory.json: nobody reads this file",
        "agents/ada/memory.yml: nobody reads this file",
    ]


def test_a_broken_base_shows_what_of_it_is_in_force(bare, folder):
    (folder / "observational-memory.yaml").write_text(BASE + "  ttl_days: never\n")
    result = bare("config")

    assert result.exit_code == 0
    assert row(result.stdout, "message_threshold")[1] == "20000"
    assert [line.partition(" is")[0] for line in result.stderr.splitlines()] == [
        "config/observational-memory.yaml: line 4: ttl_days"
    ]


def test_a_check_looks_at_the_environment(bare, monkeypatch):
    monkeypatch.setenv("OM_MESAGE_THRESHOLD", "1000")
    result = bare("config", "check")

    assert result.exit_code == 1
    assert "OM_MESAGE_THRESHOLD" in result.stdout


def test_a_check_of_a_folder_that_is_not_there_is_wrong_usage(bare):
    assert bare("config", "check", "not-there").exit_code == 2


@pytest.mark.parametrize("value", ["&a [*a]", '{"a\\nb\\x1b[31m": 1}'])
def test_an_agents_bad_file_is_one_line_of_every_command_that_shows_settings(bare, folder, value):
    """Catches a command that shows nobody's settings because of one agent's."""
    evil = folder / "agents" / "evil" / "memory.yaml"
    evil.parent.mkdir()
    evil.write_text(f"observational_memory: {{observer_model: {value}}}")
    shown, alone, checked = bare("config"), bare("config", "show", "evil"), bare("config", "check")
    doctor = bare("--url", "redis://127.0.0.1:1", "doctor")

    assert (shown.exit_code, alone.exit_code, checked.exit_code, doctor.exit_code) == (0, 0, 1, 2)
    assert "gemini-2.5-flash" in alone.stdout
    for output in (shown.output, alone.output, checked.output, doctor.output):
        (line,) = [line for line in output.splitlines() if str(evil.relative_to(folder.parent)) in line]
        assert line.isprintable()


def test_files_whose_names_no_agent_can_have_are_named_in_printable_lines(bare, folder):
    """Catches a folder whose name is not UTF-8 and ends `om config check` for everybody's files."""
    for name in (b"a\nb", b"\xff"):
        other = folder / "agents" / os.fsdecode(name)
        other.mkdir()
        for file in ("memory.yaml", "memory.yml"):
            (other / file).write_text("observational_memory: {}")
    checked = json.loads(bare("config", "check", str(folder), "--json").stdout)

    assert len(checked) == 4
    assert all(each["file"].isprintable() for each in checked)
    assert all(line.isprintable() for line in bare("config", "check", str(folder)).output.splitlines())
    assert bare("config", "show", "--json").exit_code == 0
