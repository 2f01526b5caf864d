"""The wheel: what a stranger installs, and whether it does the main job in small."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = """
import asyncio
import om_api
from om_api import AsyncObservationalMemory, Message, ObservationalMemory
with ObservationalMemory() as memory:
    memory.add_message(Message(role="user", content="My flight is on Friday.", thread_id="t-1", resource_id="harold"))
async def read():
    async with AsyncObservationalMemory() as memory:
        return await memory.get_context("t-1", "harold")
print(asyncio.run(read()).messages[0].content, om_api.__file__)
"""
READ = (
    "from om_api.store.driver.scripts import load_all; from om_workers.prompts.library import prompt; "
    "print(len(load_all()), bool(prompt('observer', 'default')))"
)
SCRIPTS = str(len(list((ROOT / "om_api/store/lua").glob("*.lua"))))


def _run(*words, cwd, timeout=300, **environ):
    own = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "OM_"))}
    words = [str(word) for word in words]
    done = subprocess.run(
        words, cwd=cwd, env=own | environ, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The distribution as it is uploaded."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--installer", "uv", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An empty environment with pip."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    return folder


def _size(folder):
    """Of all that is installed."""
    return sum(path.stat().st_size for path in folder.glob("lib/python*/site-packages/**/*") if path.is_file())


@pytest.mark.smoke
def test_it_holds_every_file_that_is_read_and_runs_once_it_is_installed(wheel, tmp_path, private_server_url):
    sources = {
        path.relative_to(ROOT).as_posix() for room in ("om_api", "om_workers") for path in (ROOT / room).rglob("*")
    }
    read = {name for name in sources if name.endswith((".css", ".gz", ".js", ".lua", ".md", ".py", ".typed"))}
    assert read <= set(zipfile.ZipFile(wheel).namelist())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(*pip, "--no-deps", "--no-compile", "--target", tmp_path, wheel, cwd=tmp_path)
    told = {"OM_REDIS_URL": private_server_url, "PYTHONPATH": f"{tmp_path}:{sysconfig.get_path('purelib')}"}
    bare = [sys.executable, "-S"]  # without the .pth file that leads to this checkout
    said, _, place = _run(*bare, "-c", CLIENT, cwd=tmp_path, **told).strip().rpartition(" ")
    assert (said, Path(place).parents[1]) == ("My flight is on Friday.", tmp_path)
    assert _run(*bare, "-c", READ, cwd=tmp_path, **told).split() == [SCRIPTS, "True"]
    assert "My flight" in _run(*bare, tmp_path / "bin" / "om", "context", "harold", "t-1", cwd=tmp_path, **told)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_client_alone_is_small_and_does_its_work_and_the_rest_comes_with_extras(
    wheel, environment, private_server_url
):
    python, om = environment / "bin" / "python", environment / "bin" / "om"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    before = _size(environment)
    _run(*install, wheel, cwd=environment)
    assert _size(environment) - before < 54_000_000  # ours are 13 MB with their bytecode, pydantic 10, redis 6, RE2 1.6
    assert _run(python, "-c", CLIENT, cwd=environment, OM_REDIS_URL=private_server_url).startswith(
        "My flight is on Friday."
    )
    lacking = subprocess.run([om, "stats"], capture_output=True, text=True, check=False)
    assert (lacking.returncode, lacking.stdout) == (2, "")
    assert lacking.stderr == "Error: click is not installed: pip install 'cortex-om[cli]' brings it\n"
    _run(*install, f"{wheel}[workers,cli,embedded]", cwd=environment)
    assert _run(python, "-c", READ, cwd=environment).split() == [SCRIPTS, "True"]
    shown = _run(om, "demo", cwd=environment, timeout=180)
    assert "messages are covered exactly once" in " ".join(shown.split())
