"""The frameworks, and what is done beside each: one push by the blocking client, one context by the asyncio one."""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_PATIENCE_S = 1_800
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
_LISTED = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
_CAUSE = re.compile(r"^    (.+ (?:depends on|requires|needs) .+)$", re.MULTILINE)


def wheel(root: Path, folder: Path) -> Path:
    """Build the distribution; raises CalledProcessError."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", folder, root], check=True, capture_output=True
    )
    return next(folder.glob("*.whl"))


def versions(name: str) -> list[str]:
    """What the index has, newest first; asked for by name, because pip alone would take an old one that fits."""
    listed = _LISTED.search(_said(*_PIP, "index", "versions", name).stdout)
    return listed[1].split(", ") if listed else []


class Environment:
    """A Python of its own in a folder."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder)
        self.python = folder / "bin" / "python"

    def install(self, *requirements: str | Path, dry: bool = False) -> str:
        """Install together; "" when it was done (`dry`: could be), else why not."""
        pip = [*_PIP, "--python", self.python, "install", "--quiet", *(["--dry-run"] if dry else [])]
        done = _said(*pip, *requirements)
        return reason(done.stderr) if done.returncode else ""

    def run(self, code: str, *words: str, **environ: str) -> str:
        """Run Python code; "" when it ended well, else its last words."""
        done = _said(self.python, "-c", code, *words, **environ)
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1] if done.returncode else ""


def reason(said: str) -> str:
    """Why pip installs nothing, of all that it says: which requirements contradict each other, else what it does not find."""
    causes = dict.fromkeys(_CAUSE.findall(said))
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    return "; ".join(causes) or (errors or said.splitlines() or ["pip said nothing"])[-1]


def _said(*command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    own = {name: text for name, text in os.environ.items() if not name.startswith(("OM_", "PYTHON"))}
    words = [str(word) for word in command]
    return subprocess.run(
        words,
        env=own | environ,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
        cwd=tempfile.gettempdir(),
    )


FRAMEWORKS = {  # the names that they are imported under
    "google-adk": "google.adk",
    "crewai": "crewai",
    "langchain": "langchain",
    "openai-agents": "agents",
    "pydantic-ai": "pydantic_ai",
    "agent-framework-core": "agent_framework",
    "mcp": "mcp",
}
_MUST = {"google-adk", "crewai", "langchain", "openai-agents", "pydantic-ai"}
_OLDER = 5  # versions that cannot be installed by themselves, until we give up
_USED = """
import asyncio, importlib, sys
importlib.import_module(sys.argv[1])
from om_api import AsyncObservationalMemory, Message, ObservationalMemory
with ObservationalMemory() as memory:
    memory.add_message(Message(role="user", content="My flight is on Friday.", thread_id="t-1", resource_id=sys.argv[1]))
async def read():
    async with AsyncObservationalMemory() as memory:
        return await memory.get_context("t-1", sys.argv[1])
assert "My flight is on Friday." in asyncio.run(read()).text
"""


class Found(NamedTuple):
    """What became of the client beside something; `said` is `ok`, or why not."""

    name: str
    version: str
    said: str
    must_work: bool = True

    @property
    def works(self) -> bool:
        """Whether the client was installed and did its work."""
        return self.said == "ok"


def beside_each(names: Iterable[str], wheel: Path, url: str) -> Iterator[Found]:
    """Try one framework after the other, each in an environment that is removed afterwards."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            yield _beside(name, Environment(Path(folder)), wheel, url)


def oldest(root: Path, wheel: Path, url: str) -> Found:
    """Try the oldest versions of what the client needs that its own project permits."""
    needed = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    with tempfile.TemporaryDirectory() as folder:
        place = Environment(Path(folder))
        pinned = [each.replace(">=", "==") for each in needed]
        said = place.install(wheel, *pinned) or _used(place, "om_api", url)
        return Found("nothing", "the oldest of all that it needs", said)


def _beside(name: str, place: Environment, wheel: Path, url: str) -> Found:
    """Take the newest version that can be installed at all: one that the index cannot complete says nothing of ours."""
    told, why = "none", "the index has none"
    for number, version in enumerate(versions(name)[:_OLDER]):
        told = f"{version}; of newer ones the index lacks a part" if number else version
        asked = f"{name}=={version}"
        why = place.install(wheel, asked) or _used(place, FRAMEWORKS[name], url)
        if why == "ok" or not place.install(asked, dry=True):
            break
    return Found(name, told, why, name in _MUST)


def _used(place: Environment, module: str, url: str) -> str:
    return place.run(_USED, module, OM_REDIS_URL=url) or "ok"
