"""Pages whose text is generated, or compared with the code."""

import importlib

import pytest
from pages import ROOT, blocks
from servers import BINARIES, Server
from world import wait_until


def test_a_generated_page_is_what_the_code_says(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / ".ci")
    pages = importlib.import_module("generated_pages")
    stale = [page.name for page, made in pages.made().items() if page.read_text() != made]

    assert stale == [], "run make docs"


@pytest.mark.nightly
@pytest.mark.parametrize("binary", sorted(BINARIES))
def test_a_snapshot_is_restored_as_is_said(tmp_path, binary):
    without, with_files = (Server(tmp_path, "--appendonly", each, binary=BINARIES[binary]) for each in ("no", "yes"))
    with without as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with without as server, server.client() as client:
        client.config_set("appendonly", "yes")
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "the rewrite")
    with with_files as server, server.client() as client:
        assert client.get("kept") == b"1"


PAGE = (ROOT / "docs" / "recall.md").read_text()
ASK, TOOL, RANKER = blocks(PAGE, "python")
NOW = 1_795_167_000_000


@pytest.fixture
def printed(own_store, capsys):
    """What a program of the page prints, by lines."""

    def run(code):
        exec(compile(code, "docs/recall.md", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out.splitlines()

    return run


def test_asking_finds_the_message_and_browsing_its_turns(printed):
    assert printed(ASK) == [
        "thread-1 user My passport number is X1234567. read as it was said",
        "None ",
        "['Which number do you mean?', 'My passport number is X1234567.', 'Noted.'] False False",
    ]


def test_the_tool_answers_the_models_of_three_providers(printed):
    answers = "\n".join(printed(TOOL)).split("I looked it up: ")[1:]

    assert len(answers) == 3
    assert all("Thread t-1, message " in each and "user: My passport number is X1234567." in each for each in answers)


def test_a_ranker_orders_what_words_found(printed):
    assert printed(RANKER) == ["['My passport expired.', 'A passport, a map and a tent for the journey to Oslo.']"]
