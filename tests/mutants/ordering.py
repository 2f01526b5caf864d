"""Which tests are asked about a mutant, and in which order, so that most are found within a second."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mutants.mutant import Mutant
from mutants.results import Ran, bits

_CLOSE = 0.2  # a test whose file mentions the module is asked before one that is a fifth as long
_OWN = 0.001  # and one whose file is called after it, before nearly all others
_LAST, _LAST_OF_ALL = ("interleavings",), 1_000  # they notice much, and take seconds each
_LEAST_S, _PATIENCE = 8.0, 8  # a test that takes so many times as long as it does hangs


class Asked(NamedTuple):
    """The tests to ask about a mutant, the likeliest first, by how long each may take; `warm`: it stands in a function."""

    tests: dict[str, float]
    warm: bool


class Order:
    """The order of the tests of a tree."""

    def __init__(self, root: Path, ran: Mapping[str, Ran]) -> None:
        self._ran = ran
        files = {name.partition("::")[0] for name in ran}
        self._texts = {file: (root / file).read_text("utf-8") for file in files}
        paths = sorted([*root.glob("om_api/**/*.py"), *root.glob("om_workers/**/*.py")])
        self._modules = {path.relative_to(root).as_posix(): _Module(path.read_text("utf-8")) for path in paths}
        self._closeness = cache(self._close_to)  # it reads every file of tests, and a module has many mutants

    def of(self, mutant: Mutant, most: int, hint: str = "") -> Asked:
        """Tests that run what a mutant changes, `most` of them; `hint` is who noticed it once."""
        module = self._modules.get(mutant.path)
        lines = module.lines(mutant) if module else None
        groups = [self._covering(mutant, lines), self._beside(mutant.path) if module and not lines else []]
        ranked = dict.fromkeys([hint, *(name for group in groups for name in self._ranked(mutant.path, group))])
        names = [name for name in ranked if name in self._ran][:most]
        limits = {name: max(_LEAST_S, _PATIENCE * self._ran[name].seconds) for name in names}
        return Asked(limits, warm=module is None or lines is not None)

    def _covering(self, mutant: Mutant, lines: int | None) -> list[str]:
        if mutant.path.endswith(".lua"):
            script = mutant.path.rpartition("/")[2][:-4]
            return [name for name, ran in self._ran.items() if script in ran.scripts]
        wanted = {mutant.path: lines} if lines else self._uses(mutant)
        found = [name for name, ran in self._ran.items() if any(ran.lines.get(p, 0) & b for p, b in wanted.items())]
        return found or [name for name, ran in self._ran.items() if mutant.path in ran.lines]

    def _beside(self, path: str) -> list[str]:
        """The tests called after a module or its room: a default or a limit is seen by some that run no line that mentions it."""
        *_, room, module = path.removesuffix(".py").split("/")
        called = re.compile(rf"/test_(?:{room}|{module})[^/]*$")
        return [name for name in self._ran if called.search(name.partition("::")[0])]

    def _uses(self, mutant: Mutant) -> dict[str, int]:
        """The lines of functions that mention, anywhere, what a statement outside of all functions gives a name."""
        module = self._modules[mutant.path]
        names = module.given(mutant)
        there = {path: other.mention(names) for path, other in self._modules.items()}
        public = any(not name.startswith("_") for name in names)
        return {path: lines for path, lines in there.items() if lines and (public or path == mutant.path)}

    def _close_to(self, module: str) -> dict[str, float]:
        """By file of tests, how much shorter its tests count because it mentions a module or is called after it."""
        word, own = re.compile(rf"(?<![a-z]){module}"), re.compile(rf"/test_{module}[^/]*$")
        close = {file: _CLOSE if word.search(text) else 1.0 for file, text in self._texts.items()}
        return close | dict.fromkeys(filter(own.search, close), _OWN)

    def _ranked(self, path: str, names: Iterable[str]) -> list[str]:
        """The shortest first; what mentions the module counts as shorter, and a test's next case as longer each time."""
        close = self._closeness(path.rpartition("/")[2].partition(".")[0])
        scores = {name: self._ran[name].seconds * close[name.partition("::")[0]] for name in names}
        met: Counter[str] = Counter()
        for name in sorted(scores, key=scores.__getitem__):
            test = name.partition("[")[0]
            met[test] += 1
            scores[name] *= met[test] * (_LAST_OF_ALL if any(part in name for part in _LAST) else 1)
        return sorted(scores, key=scores.__getitem__)


class _Module:
    """Where the functions of a source are, and what names it gives outside of them."""

    def __init__(self, source: str) -> None:
        self._source = source.splitlines()
        tree = ast.parse(source)
        self._functions = list(_functions(tree.body))
        inside = {id(node) for function in self._functions for node in ast.walk(function)}
        self._named = [(node, _names(node)) for node in ast.walk(tree) if id(node) not in inside and _names(node)]

    def lines(self, mutant: Mutant) -> int | None:
        """The lines of the statement that a mutant changes, as bits; None outside of functions' bodies."""
        at = mutant.line
        for function in self._functions:
            if function.body[0].lineno <= at <= (function.end_lineno or 0):
                return _statement(function, at)
        return None

    def given(self, mutant: Mutant) -> set[str]:
        """The names whose values a statement outside of functions decides, and those made of them."""
        at = mutant.line
        names = {name for node, given in self._named if node.lineno <= at <= (node.end_lineno or 0) for name in given}
        names |= {f.name for f in self._functions if f.lineno - len(f.decorator_list) <= at < f.body[0].lineno}
        for node, given in self._named:  # in their order: what is made of them comes behind them
            text = "\n".join(self._source[node.lineno - 1 : node.end_lineno])
            if any(re.search(rf"\b{name}\b", text) for name in names):
                names |= given
        return names

    def mention(self, names: Iterable[str]) -> int:
        """The lines of the functions that mention any of some names, as bits."""
        word = re.compile(rf"\b(?:{'|'.join(names) or '(?!)'})\b")
        found = [f for f in self._functions if word.search("\n".join(self._source[f.lineno - 1 : f.end_lineno]))]
        return bits(line for f in found for line in range(f.body[0].lineno, (f.end_lineno or 0) + 1))


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body)


def _names(node: ast.AST) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _statement(function: ast.AST, at: int) -> int:
    """The innermost statement that has a line; of one that holds others, what stands before them."""
    around = [n for n in ast.walk(function) if isinstance(n, ast.stmt) and n.lineno <= at <= (n.end_lineno or 0)]
    last = max(around, key=lambda node: node.lineno)
    body = getattr(last, "body", None)
    end = max(last.lineno, body[0].lineno - 1) if body else last.end_lineno or at
    return bits(range(last.lineno, max(end, at) + 1))
