"""`om` as a user types it, against a real server under a prefix of the test's own."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from world import SMALL, World

from om_api.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("OM_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bare(here: Path) -> Callable[..., Result]:
    def run(*args: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, args, input=stdin)

    return run


@pytest.fixture
def om(
    bare: Callable[..., Result], client: Any, server_url: str, prefix: str, monkeypatch: Any
) -> Callable[..., Result]:
    """Run `om` against the test's own store, with the small thresholds of the test's workers."""
    for name, value in {**SMALL, "OM_PREFIX": prefix}.items():
        monkeypatch.setenv(name, value)
    return lambda *args, **options: bare("--url", server_url, *args, **options)


@pytest.fixture
def om_json(om: Callable[..., Result]) -> Callable[..., Any]:
    def run(*args: str, **options: Any) -> Any:
        result = om(*args, "--json", **options)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


@pytest.fixture
def observed(world: World) -> World:
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    return world


@pytest.fixture
def reflected(observed: World) -> World:
    observed.om.force_reflect("harold")
    observed.settle()
    return observed
