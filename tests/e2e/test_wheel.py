"""The wheel: what a stranger installs, and whether it does the main job in small."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _run(*words, cwd, timeout=300):
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.timeout(600)
def test_a_wheel_in_an_environment_of_its_own_runs_the_demo(tmp_path):
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    sources = {
        path.relative_to(ROOT).as_posix() for room in ("om_api", "om_workers") for path in (ROOT / room).rglob("*")
    }
    shipped = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in sources if name.endswith((".lua", ".md", ".py", ".jsonl", ".typed"))} <= shipped

    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    _run(*pip, wheel, cwd=tmp_path)
    code = (
        "from om_api.store.scripts import load_all; from om_workers.prompts.library import prompt; "
        "print(len(load_all()), bool(prompt('observer', 'default')))"
    )
    assert _run(python, "-c", code, cwd=tmp_path).split() == [
        str(len(list((ROOT / "om_api/store/lua").glob("*.lua")))),
        "True",
    ]

    shown = _run(tmp_path / "clean" / "bin" / "om", "demo", cwd=tmp_path, timeout=180)

    assert "messages are covered exactly once" in " ".join(shown.split())
