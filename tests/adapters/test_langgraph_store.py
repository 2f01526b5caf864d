"""LangGraph's store, asked in the framework's environment: it answers as LangGraph's own, and its page's program runs."""

import os
import subprocess

import pytest
from pages import ROOT, blocks

from adapters.conftest import ASKED
from adapters.frameworks import FRAMEWORKS, HERE

pytestmark = pytest.mark.skipif("langchain" not in ASKED, reason="another framework was asked for")


def run(program, server_url, prefix, cwd, *words):
    own = {name: text for name, text in os.environ.items() if not name.startswith(("OM_", "PYTHON"))}
    environ = {**own, "OM_REDIS_URL": server_url, "OM_PREFIX": prefix}
    command = [FRAMEWORKS["langchain"].python, program, *words]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_it_answers_as_the_frameworks_own_store_does(server_client, server_url, prefix, tmp_path, seed):
    done = run(HERE / "programs" / "langgraph_store.py", server_url, prefix, tmp_path, seed)

    assert done.returncode == 0, done.stderr


def test_the_program_of_the_page_runs_as_it_stands(server_client, server_url, prefix, tmp_path):
    page = (ROOT / "docs" / "frameworks" / "langgraph-store.md").read_text()
    (tmp_path / "program.py").write_text(blocks(page, "python")[0])
    done = run("program.py", server_url, prefix, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "aisle" in done.stdout
