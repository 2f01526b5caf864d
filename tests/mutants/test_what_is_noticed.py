"""Who fails the command, what is remembered, and that a copy's own code is what is tested."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mutants.bench import Bench
from mutants.generating import generate
from mutants.judging import equivalents, judge, report
from mutants.lua_mutants import lua_mutants
from mutants.ordering import files_for
from mutants.results import Results

ROOT = Path(__file__).resolve().parent.parent.parent
FALSE, TRUE = lua_mutants("om_api/store/lua/x.lua", "if a then b() end")
EVERY = {FALSE.id, TRUE.id}


def test_every_equivalent_exists_and_says_why():
    names = {mutant.id for mutant in generate(ROOT)}

    assert [name for name in equivalents() if name not in names] == []
    assert all(len(reason) > 40 for reason in equivalents().values())


def test_a_survivor_is_unnoticed_unless_it_is_listed():
    killers = {FALSE.id: "", TRUE.id: "test_x"}

    assert judge([FALSE, TRUE], killers, {}, EVERY).unlisted == [FALSE]
    listed = judge([FALSE, TRUE], killers, {FALSE.id: "because"}, EVERY)
    assert (listed.unlisted, listed.equivalent, listed.killed, listed.wrong) == ([], [FALSE], [TRUE], [])


def test_a_list_that_is_wrong_is_told():
    verdict = judge([FALSE], {FALSE.id: "test_x"}, {FALSE.id: "because", "gone.lua: if a -> false": "because"}, EVERY)

    assert verdict.wrong == [
        f"{FALSE.id}: listed as equivalent, but test_x notices it",
        "gone.lua: if a -> false: listed as equivalent, but there is no such mutant",
    ]


def test_the_report_counts_by_file_and_gives_the_reasons():
    text = report(
        judge([FALSE, TRUE], {FALSE.id: "", TRUE.id: "test_x"}, {FALSE.id: "so it is"}, EVERY), {FALSE.id: "so it is"}
    )

    assert "| x.lua | 2 | 1 | 1 | 0 |\n| all | 2 | 1 | 1 | 0 |" in text
    assert "- `x.lua: if a -> false`: so it is" in text


def _tree(folder):
    (folder / "om_api").mkdir(parents=True)
    (folder / "om_api" / "__init__.py").write_text("WHERE = __file__\n")
    (folder / "om_api" / "x.lua").write_text("if a then b() end")
    (folder / "tests").mkdir()
    return folder


_KILLER = "tests/test_x.py::test_a"


@pytest.fixture
def known(tmp_path):
    """A tree with results: `a` was noticed by a test, `b` by nobody."""
    root, file = _tree(tmp_path / "tree"), tmp_path / "results.json"
    (root / "tests" / "test_x.py").write_text("def test_a(): ...")
    results = Results(root, file)
    results.keep("a", _KILLER)
    results.keep("b", "")
    return root, file


def test_a_stopped_run_goes_on(known):
    assert Results(*known).found == {"a": _KILLER, "b": ""}


@pytest.mark.parametrize("edited", ["om_api/x.lua", "tests/test_x.py", "tests/conftest.py"])
def test_what_a_test_noticed_holds_until_the_product_that_test_or_what_tests_share_is_edited(known, edited):
    (known[0] / edited).write_text("edited")

    results = Results(*known)
    assert results.found == {}
    assert results.hints == {"a": _KILLER, "b": ""}


def test_that_nobody_noticed_is_asked_again_when_there_is_a_new_test(known):
    (known[0] / "tests" / "test_new.py").write_text("def test_b(): ...")

    assert Results(*known).found == {"a": _KILLER}


def test_a_copys_packages_win_over_the_installed_ones(tmp_path):
    """Without that every mutant survives, because the tests run the installed code."""
    bench = Bench(_tree(tmp_path / "tree"), tmp_path / "copy")
    said = subprocess.run(
        [sys.executable, "-c", "import om_api; print(om_api.WHERE)"],
        cwd=bench.folder,
        env=bench.environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert Path(said.stdout.strip()) == bench.folder / "om_api" / "__init__.py"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("'if false' in lua", ""),
        ("'if a' in lua", "test_x.py::test_it"),
        ("__import__('time').sleep(60)", "no end after 5 s"),
    ],
)
def test_a_mutant_is_noticed_by_a_failure_or_a_hang_and_put_back(tmp_path, asked, expected):
    bench = Bench(_tree(tmp_path / "tree"), tmp_path / "copy")
    lua, test = bench.folder / "om_api" / "x.lua", bench.folder / "test_x.py"
    test.write_text(f"def test_it():\n    lua = open({str(lua)!r}).read()\n    assert {asked}\n")

    assert bench.killer(FALSE._replace(path="om_api/x.lua"), ["test_x.py"], 5) == expected
    assert lua.read_text() == FALSE.source


def test_tests_that_break_down_are_no_verdict(tmp_path):
    bench = Bench(_tree(tmp_path / "tree"), tmp_path / "copy")

    with pytest.raises(RuntimeError, match="named no test"):
        bench.killer(None, ["no_such_test.py"], 20)


def test_who_mentions_a_script_is_asked_first_and_seeded_runs_last():
    files = files_for(ROOT, "om_api/store/lua/seal.lua")

    assert files[0] == "tests/om_api/store/test_seal.py"
    assert "interleavings" in files[-1] or "fuzz" in files[-1]
    assert {file.rpartition("/")[0] for file in files} >= {"tests/promises", "tests/faults", "tests/om_workers"}
