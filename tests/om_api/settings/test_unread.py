"""Files with names that are nearly right are named, a program's own are left alone."""

from pathlib import Path

import pytest

from om_api.settings.folder import Folder
from om_api.settings.unread import unread


def _found(place: Path, *files: str) -> list[str]:
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("not opened: [")
    return [str(Path(each.file).relative_to(place)) for each in unread(Folder(place / "config", {}))]


@pytest.mark.parametrize(
    "name",
    [
        "config/observational-memory.yml",
        "config/observational-memory.json",
        "config/agents/harold/memory.yml",
        "config/agents/harold/settings.yaml",
        "config/agents/harold.yaml",
        "agents/harold/memory.json",
    ],
)
def test_a_name_that_is_nearly_right_is_named(tmp_path, name):
    assert _found(tmp_path, name) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "config/observational-memory.yaml",
        "config/agents/worker-*/memory.yaml",
        "config/agents/.git/memory.yml",
        "config/agents/README.md",
        "config/agents/harold/notes.txt",
        "config/prometheus.yml",
        "agents/harold/settings.yaml",
        "agents/har old/agent.py",
        "agents/harold.yaml",
    ],
)
def test_what_is_right_or_somebody_elses_is_not(tmp_path, name):
    assert _found(tmp_path, name) == []


def test_a_folder_that_no_agent_can_be_called_is_named_unless_its_file_tells_it(tmp_path):
    (tmp_path / "config" / "agents" / "har old").mkdir(parents=True)

    assert _found(tmp_path) == ["config/agents/har old"]
    assert _found(tmp_path, "config/agents/har old/memory.yaml") == []


def test_where_there_is_nothing_nothing_is_named(tmp_path):
    assert _found(tmp_path) == []
