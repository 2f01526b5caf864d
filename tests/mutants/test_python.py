"""Every condition of a module is found, counted here by its words, and every value that decides something."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

from mutants.generating import USERS, WHOLE, drawn, generate
from mutants.python_mutants import python_mutants

THREE_FUNCTIONS = """
class Worker:
    def work(self):
        return due.mark(1) if a else 2

    def _first(self):
        return ("SET", "k", 1, "NX") if b else 2

    def think(self):
        return 1 if c else 2
"""
ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_if_and_while_of_a_function_is_found():
    for path in [*WHOLE, *USERS][::4]:
        source = (ROOT / path).read_text("utf-8")
        words = [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline)]
        decided = [m.change.says for m in python_mutants(path, source) if m.change.text == "False"]
        outside = words.count("TYPE_CHECKING") // 2  # of no interest to anything that runs
        wanted = words.count("if") + words.count("elif") + words.count("while") - outside

        assert sum(says.startswith(("if ", "while ")) for says in decided) == wanted, path


@pytest.mark.nightly
def test_every_mutant_of_the_tree_has_an_id_of_its_own_and_changes_what_runs():
    mutants = generate(ROOT)
    names = [mutant.id for mutant in mutants]

    assert len(set(names)) == len(names)
    for mutant in drawn(mutants, 0.02):
        if mutant.path.endswith(".py"):
            assert ast.dump(ast.parse(mutant.mutated())) != ast.dump(ast.parse(mutant.source)), mutant.id


def test_what_is_a_condition():
    left = [f"return ('SET', k, v, 'PX', left): left -> {other}" for other in ("((left) * 2)", "((left) // 2)")]
    for line, expected in (
        ("return b if a else c", ["if a -> False", "if a -> True"]),
        ("return [b for b in c if d]", ["if d -> False", "if d -> True"]),
        ("return sum(b == d for b in c)", ["b == d -> False", "b == d -> True", "b == d: == -> !="]),
        ("return a < b <= c", ["a < b <= c: < -> <=", "a < b <= c: <= -> <"]),
        ("return min(a, b)", ["min(a, b): max"]),
        ("return a + 1", ["return a + 1: 1 -> 0", "return a + 1: 1 -> 2"]),
        ("return a * 0.4", ["return a * 0.4: 0.4 -> 0.2", "return a * 0.4: 0.4 -> 0.8"]),
        ("return ('SET', k, v, 'PX', left)", left),
        ("return '🔴', a or b", ["a or b -> without a", "a or b -> without b"]),
        ("return ('ZADD', k, 'LT', s, m)", ["without LT"]),
        ("while a: pass", ["while a -> False"]),
    ):
        assert sorted(m.change.says for m in python_mutants("x.py", f"def f():\n    {line}\n")) == expected, line


def test_of_who_uses_leases_the_functions_about_them_are_taken_and_everyone_is_granted_locks():
    mutants = python_mutants("x.py", THREE_FUNCTIONS, whole=False)
    assert [m.change.says for m in mutants if m.change.text == "False"] == [f"if {w} -> False" for w in ("a", "b")]

    source = "def f():\n    with beat.lock(name) as mine, beat.lease(i, c) as held:\n        return mine\n"
    became = [mutant.mutated() for mutant in python_mutants("x.py", source) if "with " in mutant.id]
    assert 'with __import__("contextlib").nullcontext(True) as mine, beat.lease(i, c)' in became[0]
    assert 'with beat.lock(name) as mine, __import__("contextlib").nullcontext(None)' in became[1]
