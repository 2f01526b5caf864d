"""Who fails the command, what is remembered, which tests are asked, and that a copy's own code is what is tested."""

from pathlib import Path

import pytest

from mutants.generating import generate
from mutants.judging import equivalents, judge
from mutants.lua_mutants import lua_mutants
from mutants.ordering import Order
from mutants.python_mutants import python_mutants
from mutants.results import CoverageMap, Ran, Results, bits
from mutants.running import Bench

ROOT = Path(__file__).resolve().parent.parent.parent
FALSE, TRUE = lua_mutants("om_api/store/lua/x.lua", "if a then b() end")
EVERY = {FALSE.id, TRUE.id}
MODULE = """
MOST = 7
def of_most(n):
    return n < MOST
def of_none(n):
    while n > 3:
        n -= 1
    return [each for each in range(n)]
"""
TESTS = """
from om_api.x import of_most, of_none
def test_most():
    if of_most(7):
        raise KeyboardInterrupt
    assert of_most(6)
def test_none(): assert of_none(8) == [0, 1, 2]
def test_slow(): assert of_none(8) == [0, 1, 2] and of_most(1)
"""
FILE = "tests/om_api/test_x.py"


@pytest.mark.nightly
def test_every_equivalent_exists_and_says_why():
    names = {mutant.id for mutant in generate(ROOT)}

    assert [name for name in equivalents() if name not in names] == []
    assert all(len(reason) > 40 for reason in equivalents().values())


def test_a_survivor_is_unnoticed_unless_it_is_listed():
    killers = {FALSE.id: "", TRUE.id: "test_x"}

    assert judge([FALSE, TRUE], killers, {}, EVERY).unlisted == [FALSE]
    listed = judge([FALSE, TRUE], killers, {FALSE.id: "because"}, EVERY)
    assert (listed.unlisted, listed.equivalent, listed.killed, listed.wrong) == ([], [FALSE], [TRUE], [])


@pytest.fixture
def tree(tmp_path):
    """A product of one module, and its tests."""
    root = tmp_path / "root"
    store = {"om_api/store/__init__.py": "", "om_api/store/driver/scripts.py": "class Script: check = None"}
    for name, text in {"om_api/__init__.py": "", "om_api/x.py": MODULE, FILE: TESTS, **store}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def _mutant(says):
    [found] = [mutant for mutant in python_mutants("om_api/x.py", MODULE) if says in mutant.id]
    return found


def test_results_and_coverage_hold_until_the_module_or_a_test_that_said_so_is_edited(tree, tmp_path):
    noticed, unnoticed = _mutant("<"), _mutant("3 -> 4")
    asked = [f"{FILE}::test_none", "tests/test_y.py::test_y"]
    results, known = Results(tree, tmp_path / "results.json"), CoverageMap(tree, tmp_path / "ran")
    results.keep(noticed, f"{FILE}::test_most", asked)
    results.keep(unnoticed, "", asked)
    results.write()
    saw = {"lines": {"om_api/x.py": "0x10"}, "scripts": []}
    known.keep(FILE, {"took": {f"{FILE}::a": 0.5}, "saw": {f"{FILE}::a": saw}})
    assert known.ran() == {f"{FILE}::a": Ran(0.5, {"om_api/x.py": 16}, frozenset())}

    for edited, holds, missing in (
        (None, (True, True), []),
        ("tests/test_y.py", (True, False), []),
        ("om_api/x.py", (False, False), [FILE]),
        (FILE, (False, False), [FILE]),
    ):
        before = (tree / edited).read_text() if edited and (tree / edited).exists() else ""
        if edited:
            (tree / edited).write_text("# edited")
        again = Results(tree, tmp_path / "results.json")
        assert (again.recall(noticed, asked), again.recall(unnoticed, asked)) == holds, edited
        found = [name for name in CoverageMap(tree, tmp_path / "ran").missing() if name == FILE]
        assert found == missing, edited
        if edited == "tests/test_y.py":
            (tree / edited).unlink()
        elif edited:
            (tree / edited).write_text(before)


def test_asked_are_the_tests_that_run_what_was_changed_the_shortest_first(tree):
    most, none = bits([4]), bits([6, 7, 8])
    ran = {
        f"{FILE}::test_slow": Ran(3, {"om_api/x.py": most | none}, frozenset({"seal"})),
        f"{FILE}::test_most": Ran(0.1, {"om_api/x.py": most}, frozenset()),
        f"{FILE}::test_none": Ran(0.2, {"om_api/x.py": none}, frozenset()),
    }
    order = Order(tree, ran)

    def asked(mutant, **more):
        return [name.partition("::")[2] for name in order.of(mutant, 9, **more).tests]

    assert asked(_mutant("<")) == ["test_most", "test_slow"]
    assert asked(_mutant("3 -> 4")) == ["test_none", "test_slow"]
    assert asked(_mutant("MOST = 7: 7 -> 8")) == ["test_most", "test_slow", "test_none"]
    assert asked(FALSE._replace(path="om_api/store/lua/seal.lua")) == ["test_slow"]
    assert asked(_mutant("<"), hint=f"{FILE}::test_slow") == ["test_slow", "test_most"]
    assert order.of(_mutant("<"), 9).warm
    assert not order.of(_mutant("MOST = 7: 7 -> 8"), 9).warm


@pytest.mark.nightly
def test_a_mutant_is_noticed_by_a_failure_an_interrupt_or_a_hang_and_put_back(tree, tmp_path):
    """Warm, cold, and when the mutant is one that never ends; what ran is what the map says."""
    bench = Bench(tree, tmp_path / "bench", [FILE])
    try:
        watched = bench.watch([FILE])
        tests = dict.fromkeys(watched["took"], 3.0)
        found = {
            says: bench.killer(_mutant(says), tests, warm=warm).rpartition("::")[2]
            for says, warm in {"<": True, "MOST = 7: 7 -> 8": False, "3 -> 4": True, "n -= 1: 1 -> 0": True}.items()
        }
        assert bench.killer(None, tests, warm=True) == ""
        assert (bench.folder / "om_api" / "x.py").read_text() == MODULE
    finally:
        bench.close()

    assert found == {
        "<": "test_most",
        "MOST = 7: 7 -> 8": "test_most",
        "3 -> 4": "test_none",
        "n -= 1: 1 -> 0": "test_none",
    }
    assert (watched["killer"], len(watched["saw"])) == ("", 3)
    assert int(watched["saw"][f"{FILE}::test_most"]["lines"]["om_api/x.py"], 16) == bits([4])
