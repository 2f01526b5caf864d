"""The frameworks, each with an environment of its own that holds its newest version, and an agent in it to talk to."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple, Self

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv-adapters"
_PATIENCE_S = 600


class Framework(NamedTuple):
    """A framework: its name, the extra of ours that brings it, the distribution whose version counts, and what it cannot do."""

    name: str
    extra: str
    distribution: str
    modes: tuple[str, ...] = ("sync", "async", "stream")
    makes_threads: bool = False  # for a run that names none: it is a conversation of its own

    @property
    def python(self) -> Path:
        """The Python of its environment."""
        return ENVIRONMENTS / self.name / "bin" / "python"

    def install(self) -> None:
        """Make its environment hold the newest version beside this checkout; raises CalledProcessError, with what it said."""
        if not self.python.exists():
            venv.create(self.python.parents[1])
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--upgrade-package", self.distribution]
        command += ["--python", str(self.python), "--editable", f"{ROOT}[{self.extra}]"]
        subprocess.run(command, check=True, timeout=_PATIENCE_S)

    @property
    def version(self) -> str:
        """The version that is installed."""
        told = f"from importlib.metadata import version; print(version({self.distribution!r}))"
        return self.run(ROOT, "-c", told).strip()

    def run(self, cwd: Path, *words: str | Path, **environ: str) -> str:
        """Run a program in its environment; what it printed. Raises AssertionError with its last words when it fails."""
        how = {"cwd": cwd, "env": clean(environ), "stdin": subprocess.DEVNULL}  # a driver would wait for the suite
        done = subprocess.run([self.python, *words], **how, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def clean(environ: dict[str, str]) -> dict[str, str]:
    """Our environment without settings of ours, and without our own Python's."""
    own = {name: text for name, text in os.environ.items() if not name.startswith(("OM_", "PYTHON"))}
    return {**own, **environ}


FRAMEWORKS = {
    each.name: each
    for each in (
        Framework("langchain", "langchain", "langchain"),
        Framework("pydantic_ai", "pydantic-ai", "pydantic-ai-slim", makes_threads=True),
        Framework("agent_framework", "agent-framework", "agent-framework-core", ("async", "stream"), True),
        Framework("openai_agents", "openai-agents", "openai-agents"),
        Framework("google_adk", "google-adk", "google-adk", makes_threads=True),
        Framework("agno", "agno", "agno", makes_threads=True),
    )
}


class Answered(NamedTuple):
    """What came of a turn: the answer or an error, the tools that were offered, and what the model was sent at each call."""

    answer: str | None
    error: str | None
    tools: list[str]
    calls: list[dict[str, Any]]


class Agent:
    """An agent of a framework in a process of its own, which takes turns until the block ends."""

    def __init__(self, framework: Framework, **environ: str) -> None:
        command, pipe = [framework.python, "-m", f"drivers.{framework.name}"], subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=HERE, env=clean(environ), stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def say(self, text: str, *replies: dict[str, Any], **said: Any) -> Answered:
        """A user's turn, with what the model is to reply at each call; what came of it."""
        print(json.dumps({"say": text, "replies": replies, **said}), file=self._process.stdin, flush=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the agent ended with {self._process.wait(10)}"
        return Answered(**json.loads(line))
