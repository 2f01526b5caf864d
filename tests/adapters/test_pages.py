"""The program of each framework's page runs as it stands, and the memory holds what it said."""

import os
import subprocess

from pages import ROOT, blocks

from om_api import ObservationalMemory, load_settings


def test_the_program_of_the_page_runs_as_it_stands(framework, server_url, prefix, tmp_path):
    page = (ROOT / "docs" / "frameworks" / f"{framework.name}.md").read_text()
    program = blocks(page, "python")[0]
    (tmp_path / "program.py").write_text(program)
    own = {name: text for name, text in os.environ.items() if not name.startswith(("OM_", "PYTHON"))}
    environ = {**own, "OM_REDIS_URL": server_url, "OM_PREFIX": prefix}
    done = subprocess.run(
        [framework.python, "program.py"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    with ObservationalMemory(load_settings(None, {"OM_REDIS_URL": server_url, "OM_PREFIX": prefix})) as memory:
        said = [message.content for message in memory.messages("harold", "thread-1")]
    assert len(said) >= 4
    first = done.stdout.split("\n")[0]
    assert first
    assert first in str(said)
    assert len(program.splitlines()) <= 45
