"""What the README shows runs: its agent, its two commands for any language, its YAML; and it lists every command."""

import json
import re
import shlex
import shutil
import subprocess
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from pages import ROOT, blocks, section, table
from programs import protocol_program
from world import World

from om_api import ObservationalMemory, load_settings
from om_api.cli import main

README = (ROOT / "README.md").read_text()
PYTHON = blocks(README, "python")
SENT = 'redis-cli -u "$OM_REDIS_URL" '


@pytest.fixture
def client(server_client: Any) -> Any:
    """The real server's."""
    return server_client


@pytest.mark.parametrize("code", PYTHON)
def test_every_block_of_python_runs_as_it_stands(own_store, code):
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})


def test_the_agent_remembers_what_was_said_and_what_it_answered(own_store, capsys):
    exec(compile(PYTHON[0], "README.md", "exec"), {"__name__": "__main__"})

    answers = capsys.readouterr().out.splitlines()
    with ObservationalMemory() as memory:
        said = [message.content for message in memory.get_context("thread-1", "harold").messages]
    assert answers == ["I have read 1 messages.", "I have read 3 messages."]
    assert said == ["My flight to Oslo is on Friday.", answers[0], "When do I fly?", answers[1]]


def test_what_left_the_window_is_recalled_in_three_ways(own_store, capsys):
    exec(compile(PYTHON[1], "README.md", "exec"), {"__name__": "__main__"})

    by_hand, *by_tool, by_itself = capsys.readouterr().out.splitlines()
    assert by_hand == "thread-7 My passport lies in the blue drawer."
    assert [
        line.endswith("user: My passport lies in the blue drawer.") for line in by_tool if line.startswith("> ")
    ] == [True]
    assert by_itself == "['My passport lies in the blue drawer.']"


def test_the_agent_is_about_twenty_lines():
    assert len(PYTHON[0].splitlines()) <= 24


def test_two_plain_commands_are_enough_for_a_message_to_be_observed(client, prefix):
    lines = [line for block in blocks(README, "sh") for line in block.splitlines() if line.startswith(SENT)]
    for line in lines:
        client.execute_command(*shlex.split(line.removeprefix(SENT).replace("cortex:om", prefix)))
    world = World(client, prefix)
    world.sweep()
    world.om.force_observe(resource_id="harold")
    world.settle()

    assert len(lines) == 2
    assert world.covering() == ["m-1"]
    assert "[m-1]" in world.context("thread-1").text


PASSWORD = "100 % of p@ss:w/rd, über 16"


@pytest.fixture
def as_harold(client, own_store, prefix, server_url, monkeypatch):
    """The address with which harold's writer logs in, as `om acl` makes it."""
    monkeypatch.setenv("HAROLD_PASSWORD", PASSWORD)
    made = CliRunner().invoke(main, ["acl", "harold", "--apply", "--password-env", "HAROLD_PASSWORD"])
    assert made.exit_code == 0, made.output
    name = re.search(r"in an address it is written (\S+)", made.stderr)[1]
    yield server_url.replace("://", f"://{name}:{quote(PASSWORD, safe='')}@")
    client.execute_command("ACL", "DELUSER", f"{prefix}/harold/writer")


@pytest.mark.parametrize("language", ["js", "python"])
def test_any_language_says_and_reads_as_a_user_of_om_acl(client, as_harold, own_store, prefix, language):
    """Catches a program that takes the user's name from an address as it is written there."""
    runs = {"js": "node", "python": "python"}[language]
    lines = [line for block in blocks(README, "sh") for line in block.splitlines() if line.startswith(f"{runs} ")]
    say, read = (_told(line, language, own_store, as_harold, prefix) for line in lines)
    world = World(client, prefix)
    say()
    world.sweep()

    assert [said["content"] for said in json.loads(read())["messages"]] == ["My flight is on Friday."]
    world.om.force_observe(resource_id="harold")
    world.settle()
    assert "My flight is on Friday." in json.loads(read())["memory"][0]
    assert world.om.stats("harold").rejected == 0


def _told(line, language, folder, url, prefix):
    """A line of the README as it is run: the page's program, as that user."""
    _, file, *words = shlex.split(line.replace("$OM_REDIS_URL", url).replace("cortex:om", prefix))
    command = [*protocol_program(file.partition(".")[0], language, folder), *words]

    def run():
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.mark.parametrize("language", ["js", "python"])
@pytest.mark.parametrize("name", ["say", "reader"])
def test_a_program_that_may_not_log_in_or_write_there_says_so(as_harold, own_store, prefix, language, name):
    command = protocol_program(name, language, own_store)
    refused = []
    for url, resource in ((as_harold.replace("p%40ss", "guess"), "harold"), (as_harold, "albert")):
        words = [url, prefix, resource, "thread-1", *(["user", "hello"] if name == "say" else [])]
        done = subprocess.run([*command, *words], capture_output=True, text=True, check=False, timeout=30)
        refused.append(next(iter(re.findall("WRONGPASS|NOPERM", done.stderr)), done.stderr))
        assert done.returncode != 0

    assert refused == ["WRONGPASS", "NOPERM"]


def test_the_yaml_of_an_agent_is_in_force_for_that_agent(tmp_path):
    kept, settings = (_settings_of(text, tmp_path / str(n)) for n, text in enumerate(blocks(README, "yaml")))

    assert kept.problems == settings.problems == ()
    assert kept.for_agent("harold").working_memory.observe
    assert [each["resource"] for each in kept.for_agent("harold").compose] == ["team-blue"]
    assert settings.for_agent("harold").message_threshold == 50_000
    assert settings.for_agent("harold").observer.instruction == "Keep every ticket number and who owns it."
    assert settings.for_agent("albert") == settings.memory


def _settings_of(text, folder):
    shutil.copytree(ROOT / "config", folder / "config")
    file = folder / re.search(r"^# (config/\S+)$", text, re.MULTILINE)[1]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return load_settings(folder / "config", {})


def test_the_list_of_commands_is_that_of_om_help():
    told = [name.removeprefix("om ") for name in table(section(README, "The `om` command")) if name.startswith("om ")]
    help_text = CliRunner().invoke(main, ["--help"]).stdout

    assert told == [name for name in re.findall(r"^  ([a-z-]+)  ", help_text, re.MULTILINE) if not name.startswith("-")]


def test_make_knows_the_targets_that_the_readme_names():
    named = set(re.findall(r"\bmake ([a-z]+)", "\n".join(blocks(README, "sh"))))

    assert named == {"demo", "test"}
    assert named <= set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
