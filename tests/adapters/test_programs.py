"""Programs that run in a framework's environment: those of its page, what only it has, and LangGraph's store."""

import pytest
from pages import ROOT, blocks

from adapters.conftest import ASKED
from adapters.frameworks import FRAMEWORKS, HERE
from om_api import ObservationalMemory, load_settings

PAGES = ROOT / "docs" / "frameworks"
of_langchain = pytest.mark.skipif("langchain" not in ASKED, reason="another framework was asked for")


@pytest.fixture
def store(server_client, server_url, prefix):
    return {"OM_REDIS_URL": server_url, "OM_PREFIX": prefix}


def of_page(name, folder):
    """The first program of a page, in a folder."""
    program = blocks((PAGES / f"{name}.md").read_text(), "python")[0]
    (folder / "program.py").write_text(program)
    return program


def test_the_program_of_the_page_runs_as_it_stands(framework, store, tmp_path):
    program = of_page(framework.name, tmp_path)
    first = framework.run(tmp_path, "program.py", **store).split("\n")[0]

    with ObservationalMemory(load_settings(None, store)) as memory:
        said = [message.content for message in memory.messages("harold", "thread-1")]
    assert len(said) >= 4
    assert first
    assert first in str(said)
    assert len(program.splitlines()) <= 45


@pytest.mark.parametrize("name", [each.stem for each in (HERE / "particulars").glob("[a-z]*.py") if each.stem in ASKED])
def test_what_only_this_framework_has_holds(name, store):
    printed = FRAMEWORKS[name].run(HERE, "-m", f"particulars.{name}", **store)

    assert printed.count("check_") == (HERE / "particulars" / f"{name}.py").read_text().count("def check_")


@of_langchain
@pytest.mark.parametrize("seed", ["1", "2"])
def test_langgraphs_store_answers_as_the_frameworks_own_does(store, tmp_path, seed):
    FRAMEWORKS["langchain"].run(tmp_path, HERE / "programs" / "langgraph_store.py", seed, **store)


@of_langchain
def test_the_program_of_langgraphs_page_runs_as_it_stands(store, tmp_path):
    of_page("langgraph-store", tmp_path)

    assert "aisle" in FRAMEWORKS["langchain"].run(tmp_path, "program.py", **store)
