"""The migration guide runs as it stands: its files, its programs one after the other, its keys of the older form."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, blocks
from world import World

from om_api import load_settings

PAGE = (ROOT / "docs" / "migration.md").read_text()
FILES = ("history.json", "mastra.json", "facts.json")
SENT = 'redis-cli -u "$OM_REDIS_URL" '


@pytest.fixture
def client(server_client: Any) -> Any:
    """The real server's."""
    return server_client


@pytest.fixture
def here(own_store: Path) -> Path:
    """A folder with the page's files."""
    for name, text in zip(FILES, blocks(PAGE, "json"), strict=True):
        (own_store / name).write_text(text)
    return own_store


@pytest.fixture
def world(client: Any, prefix: str) -> World:
    return World(client, prefix)


def _run() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    for code in blocks(PAGE, "python"):
        exec(compile(code, "migration.md", "exec"), scope)


def test_every_program_runs_and_everything_that_was_brought_is_remembered_once(here, world, capsys):
    _run()
    world.sweep()
    world.settle()
    said = capsys.readouterr().out
    assert "c-1: 2 added, 0 known" in said
    assert re.search(r"^\d+ tokens in 2 threads$", said, re.MULTILINE)

    _run()  # which adds nothing
    world.settle()
    assert world.covering() == ["a1", "a2", "f-1", "f-2", "m-1", "m-2", "m-3", "m-4"]
    assert world.om.verify() == []
    assert (here / "imported.txt").read_text().split() == ["c-1", "c-2"]
    world.om.force_observe(resource_id="harold")
    world.settle()
    context = world.context("t-7").text
    assert ("Mar 4, 2025" in context, "Jan 10, 2025" in context) == (True, True)


def test_a_key_of_the_older_form_goes_to_the_resource_that_its_message_names(here, client, prefix, world):
    for line in [line for block in blocks(PAGE, "sh") for line in block.splitlines() if line.startswith(SENT)]:
        client.execute_command(*shlex.split(line.removeprefix(SENT).replace("cortex:om", prefix)))
    world.sweep()

    assert world.covering() == ["m-9"]


def test_the_yaml_of_the_page_is_in_force(here):
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (here / "config").mkdir()
    (here / "config" / "observational-memory.yaml").write_text(re.sub(r"^  ", "", text, flags=re.MULTILINE))
    settings = load_settings(here / "config", {})

    assert settings.problems == ()
    assert settings.memory.observer_models == ("extractive",)
