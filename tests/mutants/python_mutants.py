"""Mutants of the lease and due code in Python: the same changes as in Lua, and locks that everyone is granted."""

from __future__ import annotations

import ast
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from mutants.mutant import Change, Mutant, abridged, name_all, without

if TYPE_CHECKING:
    from collections.abc import Iterator

_FLAGS = {"NX", "XX", "GT", "LT", "REV"}  # conditions that the server checks
_GRANTED = {
    "lock": '__import__("contextlib").nullcontext(True)',
    "lease": '__import__("contextlib").nullcontext(None)',
}
_LEASES = {"lock", "locks", "locked", "lease", "leases", "claim", "claims", "held", "due", "heartbeat", "busy"}
_LEASES |= {"superseded"}  # what whoever lost one is told
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


def python_mutants(path: str, source: str, *, whole: bool = True) -> list[Mutant]:
    """Every mutant of a module's functions; of those alone that speak of locks, leases or the due index unless `whole`."""
    places, tree = _Places(source), ast.parse(source)
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    functions = [node for body in bodies for node in body if isinstance(node, ast.FunctionDef)]
    nodes = [node for function in functions if whole or _words(function) & _LEASES for node in ast.walk(function)]
    return name_all(path, source, (change for node in nodes for change in _changes(places, node)))


def _words(function: ast.FunctionDef) -> set[str]:
    """The words that names in a function are made of; a flag that makes a command conditional is a lock."""
    words: set[str] = set()
    for node in ast.walk(function):
        names = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
        words.update(word for name in names if isinstance(name, str) for word in name.lower().split("_"))
        if isinstance(node, ast.Constant) and node.value in _FLAGS:
            words.add("lock")
    return words


class _Places:
    """Where a node stands in the source, in characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0, *accumulate(len(line) for line in self._lines)]

    def span(self, node: ast.expr) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def text(self, node: ast.expr) -> str:
        start, stop = self.span(node)
        return self.source[start:stop]

    def replace(self, node: ast.expr, text: str, says: str) -> Change:
        return Change(*self.span(node), text, says)

    def _at(self, line: int, column: int) -> int:
        # ast counts bytes
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _changes(places: _Places, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.While):
        # a loop that never ends would only show that tests have a time limit
        yield from _decided(places, node.test, "while ", "False")
    elif isinstance(node, ast.If | ast.IfExp):
        yield from _decided(places, node.test, "if ", "False", "True")
    elif isinstance(node, ast.BoolOp):
        yield from _dropped(places, node)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _decided(places, test, "if ", "False", "True")
    elif isinstance(node, _Comprehension) and isinstance(node.elt, ast.Compare):
        yield from _decided(places, node.elt, "", "False", "True")
    elif isinstance(node, ast.withitem) and isinstance(node.context_expr, ast.Call):
        yield from _granted(places, node.context_expr)
    elif isinstance(node, ast.Tuple):
        yield from _flags(places, node)


def _decided(places: _Places, test: ast.expr, word: str, *values: str) -> Iterator[Change]:
    for value in values:
        yield places.replace(test, value, f"{word}{abridged(places.text(test))} -> {value}")


def _dropped(places: _Places, node: ast.BoolOp) -> Iterator[Change]:
    joint = " and " if isinstance(node.op, ast.And) else " or "
    for operand in node.values:
        rest = joint.join(f"({places.text(other)})" for other in node.values if other is not operand)
        yield places.replace(node, f"({rest})", without(places.text(operand), places.text(node)))


def _granted(places: _Places, call: ast.Call) -> Iterator[Change]:
    kind = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if kind in _GRANTED:
        says = "always granted" if kind == "lock" else "nothing is on lease"
        yield places.replace(call, _GRANTED[kind], f"with {abridged(places.text(call))} -> {says}")


def _flags(places: _Places, node: ast.Tuple) -> Iterator[Change]:
    for before, flag in pairwise(node.elts):
        if isinstance(flag, ast.Constant) and flag.value in _FLAGS:
            yield Change(places.span(before)[1], places.span(flag)[1], "", f"without {flag.value}")
