"""Building the wheel, and installing it with others into an environment of its own: what pip did, or why it did not."""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

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
