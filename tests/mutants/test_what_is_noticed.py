"""Who fails the command, what is remembered, which tests are asked, and that a copy's own code is what is tested."""

from pathlib import Path

import pytest

from mutants.bench import Bench
from mutants.coverage_map import CoverageMap, Ran, bits
from mutants.generating import generate
from mutants.judging import equivalents, judge, report
from mutants.lua_mutants import lua_mutants
from mutants.ordering import Order
from mutants.python_mutants import python_mutants
from mutants.results import Results

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
def test_most(): assert of_most(6) and not of_most(7)
def test_none(): assert of_none(8) == [0, 1, 2]
def test_slow(): assert of_none(8) == [0, 1, 2] and of_most(1)
"""
FILE = "tests/om_api/test_x.py"


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


def test_the_report_counts_by_file_gives_the_reasons_and_says_how_many_were_not_drawn():
    verdict = judge([FALSE, TRUE], {FALSE.id: "", TRUE.id: "test_x"}, {FALSE.id: "so it is"}, EVERY)
    text = report(verdict, {FALSE.id: "so it is"}, left=9)

    assert "| x.lua | 2 | 1 | 1 | 0 |\n| all | 2 | 1 | 1 | 0 |" in text
    assert "- `x.lua: if a -> false`: so it is" in text
    assert "(9 were not drawn)" in text


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


@pytest.mark.parametrize(
    ("edited", "holds"),
    [(None, (True, True)), ("om_api/x.py", (False, False)), (FILE, (False, False)), ("tests/test_y.py", (True, False))],
)
def test_a_result_holds_until_its_file_or_a_test_that_said_so_is_edited(tree, tmp_path, edited, holds):
    noticed, unnoticed = _mutant("<"), _mutant("3 -> 4")
    asked = [f"{FILE}::test_none", "tests/test_y.py::test_y"]
    results = Results(tree, tmp_path / "results.json")
    results.keep(noticed, f"{FILE}::test_most", asked)
    results.keep(unnoticed, "", asked)
    results.write()
    if edited:
        (tree / edited).write_text("# edited")
    again = Results(tree, tmp_path / "results.json")

    assert (again.recall(noticed, asked), again.recall(unnoticed, asked)) == holds
    assert again.hints[noticed.id] == f"{FILE}::test_most"


def test_that_a_few_did_not_notice_says_nothing_of_every_test_nor_the_other_way_round(tree, tmp_path):
    """Catches a second look that is believed to be made, and a first one that is made again each time."""
    results, asked = Results(tree, tmp_path / "results.json"), [f"{FILE}::test_none"]
    once, twice = _mutant("<"), _mutant("3 -> 4")
    for mutant in (once, twice):
        results.keep(mutant, "", asked)
    results.keep(twice, "", asked, every=True)
    results.write()
    again = Results(tree, tmp_path / "results.json")

    assert [again.recall(mutant, asked) for mutant in (once, twice)] == [True, True]
    assert [again.recall(mutant, asked, every=True) for mutant in (once, twice)] == [False, True]


def test_who_was_found_among_every_test_is_known_from_then_on(tree, tmp_path):
    results, mutant = Results(tree, tmp_path / "results.json"), _mutant("<")
    results.keep(mutant, f"{FILE}::test_most", [], every=True)
    results.write()
    again = Results(tree, tmp_path / "results.json")

    assert again.recall(mutant, [])
    assert again.found[mutant.id] == f"{FILE}::test_most"


def test_what_a_test_ran_holds_until_it_or_what_it_ran_is_edited(tree, tmp_path):
    known = CoverageMap(tree, tmp_path / "ran")
    known.keep(
        FILE, {"took": {f"{FILE}::a": 0.5}, "saw": {f"{FILE}::a": {"lines": {"om_api/x.py": "0x10"}, "scripts": []}}}
    )

    assert known.missing() == []
    assert known.ran() == {f"{FILE}::a": Ran(0.5, {"om_api/x.py": 16}, frozenset())}
    (tree / "om_api" / "x.py").write_text("# edited")
    assert CoverageMap(tree, tmp_path / "ran").missing() == [FILE]


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
    assert [*order.of(_mutant("<"), 1).tests] == [f"{FILE}::test_most"]
    assert order.of(_mutant("<"), 9).warm
    assert not order.of(_mutant("MOST = 7: 7 -> 8"), 9).warm


def test_a_mutant_is_noticed_by_a_failure_or_a_hang_and_put_back(tree, tmp_path):
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
