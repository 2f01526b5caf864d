"""Every condition of a module is found, counted here by its words, and every value that decides something."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

from mutants.generating import SHARE, USERS, WHOLE, broad, complete, drawn, generate
from mutants.python_mutants import python_mutants

FOUR_FUNCTIONS = """
class Worker:
    def work(self):
        return due.mark(1) if a else 2

    def _first(self):
        return ("SET", "k", 1, "NX") if b else 2

    def look_locked(self):
        return 1 if c else 2

    def think(self):
        return 1 if d else 2
"""
ROOT = Path(__file__).resolve().parent.parent.parent


def _says(*lines):
    body = "\n".join(f"    {line}" for line in lines)
    return sorted(mutant.change.says for mutant in python_mutants("x.py", f"def f():\n{body}\n"))


@pytest.mark.parametrize("path", [*WHOLE, *USERS])
def test_every_if_and_while_of_a_function_is_found(path):
    source = (ROOT / path).read_text("utf-8")
    words = [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline)]
    decided = [m.change.says for m in python_mutants(path, source) if m.change.text == "False"]
    outside = words.count("TYPE_CHECKING") // 2  # of no interest to anything that runs

    assert sum(says.startswith(("if ", "while ")) for says in decided) == (
        words.count("if") + words.count("elif") + words.count("while") - outside
    )


def test_every_mutant_of_the_tree_has_an_id_of_its_own_and_compiles():
    mutants = generate(ROOT)
    names = [mutant.id for mutant in mutants]

    assert len(set(names)) == len(names)
    for mutant in drawn(mutants, 0.02):
        if mutant.path.endswith(".py"):
            assert ast.dump(ast.parse(mutant.mutated())) != ast.dump(ast.parse(mutant.source)), mutant.id


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return b if a else c", ["if a -> False", "if a -> True"]),
        ("return [b for b in c if d]", ["if d -> False", "if d -> True"]),
        ("return sum(b == d for b in c)", ["b == d -> False", "b == d -> True", "b == d: == -> !="]),
        ("return a < b <= c", ["a < b <= c: < -> <=", "a < b <= c: <= -> <"]),
        ("return min(a, b)", ["min(a, b): max"]),
        ("return a + 1", ["return a + 1: 1 -> 0", "return a + 1: 1 -> 2"]),
        ("return a * 600", ["return a * 600: 600 -> 1200", "return a * 600: 600 -> 300"]),
        ("return a * 0.4", ["return a * 0.4: 0.4 -> 0.2", "return a * 0.4: 0.4 -> 0.8"]),
        (
            "return ('SET', k, v, 'PX', left)",
            [f"return ('SET', k, v, 'PX', left): left -> {other}" for other in ("((left) * 2)", "((left) // 2)")],
        ),
        ("return '🔴', a or b", ["a or b -> without a", "a or b -> without b"]),
        ("return ('ZADD', k, 'LT', s, m)", ["without LT"]),
        ("while a: pass", ["while a -> False"]),
    ],
)
def test_what_is_a_condition(line, expected):
    assert _says(line) == expected


def test_of_who_uses_leases_the_functions_about_them_are_taken():
    mutants = python_mutants("x.py", FOUR_FUNCTIONS, whole=False)

    assert [m.change.says for m in mutants if m.change.text == "False"] == [f"if {w} -> False" for w in ("a", "b", "c")]


def test_a_lock_is_granted_to_everyone():
    source = "def f():\n    with beat.lock(name) as mine, beat.lease(i, c) as held:\n        return mine\n"
    became = [mutant.mutated() for mutant in python_mutants("x.py", source) if "with " in mutant.id]

    assert 'with __import__("contextlib").nullcontext(True) as mine, beat.lease(i, c)' in became[0]
    assert 'with beat.lock(name) as mine, __import__("contextlib").nullcontext(None)' in became[1]


def test_what_is_drawn_of_the_broad_rooms_is_the_same_every_time_and_whatever_is_edited():
    mutants = broad(ROOT)
    some = drawn(mutants, SHARE)

    assert 0.8 * SHARE < len(some) / len(mutants) < 1.2 * SHARE
    assert drawn([m for m in mutants if "dates" in m.id], SHARE) == [m for m in some if "dates" in m.id]
    assert {mutant.path.rpartition("/")[0] for mutant in complete(ROOT)} >= {
        "om_api/domain",
        "om_api/store/lua",
        "om_workers/work",
    }
