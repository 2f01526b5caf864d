"""Mutants of a module: the same changes as in Lua, and locks that everyone is granted."""

import ast
import re
from collections.abc import Iterator
from itertools import accumulate, pairwise

from mutants.mutant import COMPARED, EXTREMES, LIFETIMES, Change, Mutant, abridged, lifetimes, name_all, others, without


class Places:
    """The characters of one source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0, *accumulate(len(line) for line in self._lines)]

    def span(self, node: ast.expr) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def text(self, node: ast.expr) -> str:
        start, stop = self.span(node)
        return self.source[start:stop]

    def line(self, node: ast.expr) -> str:
        """The line that a node begins in, as a name."""
        return abridged(self._lines[node.lineno - 1])

    def replace(self, node: ast.expr, text: str, says: str) -> Change:
        return Change(*self.span(node), text, says)

    def between(self, left: ast.expr, right: ast.expr) -> tuple[int, int]:
        """What stands between two nodes, such as the sign that compares them."""
        return self.span(left)[1], self.span(right)[0]

    def _at(self, line: int, column: int) -> int:
        # ast counts bytes
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_KEPT = re.compile(r"_M?S$|TTL|KEPT|LEASE|^ex$|^px$")  # what lifetimes are called


def value_changes(places: Places, node: ast.AST) -> Iterator[Change]:
    """Every change of the value that a node is."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from _numbers(places, node)
    elif isinstance(node, ast.Compare):
        yield from _compared(places, node)
    elif isinstance(node, ast.Call):
        yield from _called(places, node)
    elif isinstance(node, ast.Tuple | ast.List):
        yield from _kept(places, node.elts)


def lifetime_changes(places: Places, tree: ast.Module) -> Iterator[Change]:
    """Of a module that is not mutated otherwise: how long it says that things are kept."""
    for node in tree.body:
        named = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id
        if isinstance(node, ast.Assign) and named and _KEPT.search(named):
            yield from _longer(places, node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List):
            yield from _kept(places, node.elts)
        elif isinstance(node, ast.Call):
            yield from _lasting(places, node)


def _numbers(places: Places, node: ast.Constant) -> Iterator[Change]:
    for text in others(node.value):
        yield places.replace(node, text, f"{places.line(node)}: {places.text(node)} -> {text}")


def _compared(places: Places, node: ast.Compare) -> Iterator[Change]:
    for (left, right), sign in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
        if text := _SIGNS.get(type(sign)):
            start, stop = places.between(left, right)
            between = places.source[start:stop].replace(text, COMPARED[text], 1)
            yield Change(start, stop, between, f"{abridged(places.text(node))}: {text} -> {COMPARED[text]}")


def _called(places: Places, node: ast.Call) -> Iterator[Change]:
    if isinstance(node.func, ast.Name) and (other := EXTREMES.get(node.func.id)):
        yield places.replace(node.func, other, f"{abridged(places.text(node))}: {other}")
    yield from _lasting(places, node)


def _lasting(places: Places, node: ast.Call) -> Iterator[Change]:
    for given in node.keywords:
        if given.arg and _KEPT.search(given.arg):
            yield from _longer(places, given.value)
    yield from _kept(places, node.args)


def _kept(places: Places, words: list[ast.expr]) -> Iterator[Change]:
    """Of a command to the server the time behind EX or PX, and the last word of an EXPIRE."""
    for at, word in enumerate(words[:-1]):
        if isinstance(word, ast.Constant) and word.value in LIFETIMES:
            yield from _longer(places, words[-1 if at == 0 else at + 1])


def _longer(places: Places, node: ast.expr) -> Iterator[Change]:
    if not isinstance(node, ast.Constant | ast.Starred) or (isinstance(node, ast.Constant) and type(node.value) is int):
        text = places.text(node)
        for other in lifetimes(text, "python"):
            yield places.replace(node, other, f"{places.line(node)}: {abridged(text)} -> {other}")


_FLAGS = {"NX", "XX", "GT", "LT", "REV"}  # conditions that the server checks
_GRANTED = {"lock": '__import__("contextlib").nullcontext(True)', "lease": '__import__("contextlib").nullcontext(None)'}
_LEASES = {"lock", "locks", "locked", "lease", "leases", "claim", "claims", "held", "due", "heartbeat", "busy"}
_LEASES |= {"superseded"}  # what whoever lost one is told
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


def python_mutants(path: str, source: str, *, whole: bool = True) -> list[Mutant]:
    """Every mutant of a module; unless `whole` of the functions alone that speak of locks, leases or the due index."""
    places, tree = Places(source), ast.parse(source)
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    functions = [node for body in bodies for node in body if isinstance(node, ast.FunctionDef)]
    roots = [tree] if whole else [node for node in functions if _words(node) & _LEASES]
    return name_all(path, source, (change for root in roots for node in _walk(root) for change in _all(places, node)))


def lifetimes_of(path: str, source: str) -> list[Mutant]:
    """The mutants of how long a module says that things are kept."""
    return name_all(path, source, lifetime_changes(Places(source), ast.parse(source)))


def _walk(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: no types of arguments, nothing for type checkers, no texts."""
    for name, value in ast.iter_fields(root):
        if name in {"annotation", "returns"} and not isinstance(root, ast.AnnAssign):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not _is_for_types(node):
                yield node
                yield from _walk(node)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _all(places: Places, node: ast.AST) -> Iterator[Change]:
    yield from _changes(places, node)
    yield from value_changes(places, node)


def _words(function: ast.FunctionDef) -> set[str]:
    """The words that names in a function are made of; a flag that makes a command conditional is a lock."""
    words: set[str] = set()
    for node in ast.walk(function):
        names = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
        words.update(word for name in names if isinstance(name, str) for word in name.lower().split("_"))
        if isinstance(node, ast.Constant) and node.value in _FLAGS:
            words.add("lock")
    return words


def _changes(places: Places, node: ast.AST) -> Iterator[Change]:
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
        yield from _flags(places, node.elts)
    elif isinstance(node, ast.Call):
        yield from _flags(places, node.args)


def _decided(places: Places, test: ast.expr, word: str, *values: str) -> Iterator[Change]:
    for value in values:
        yield places.replace(test, value, f"{word}{abridged(places.text(test))} -> {value}")


def _dropped(places: Places, node: ast.BoolOp) -> Iterator[Change]:
    joint = " and " if isinstance(node.op, ast.And) else " or "
    for operand in node.values:
        rest = joint.join(f"({places.text(other)})" for other in node.values if other is not operand)
        yield places.replace(node, f"({rest})", without(places.text(operand), places.text(node)))


def _granted(places: Places, call: ast.Call) -> Iterator[Change]:
    kind = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if kind in _GRANTED:
        says = "always granted" if kind == "lock" else "nothing is on lease"
        yield places.replace(call, _GRANTED[kind], f"with {abridged(places.text(call))} -> {says}")


def _flags(places: Places, words: list[ast.expr]) -> Iterator[Change]:
    for before, flag in pairwise(words):
        if isinstance(flag, ast.Constant) and flag.value in _FLAGS:
            yield Change(places.span(before)[1], places.span(flag)[1], "", f"without {flag.value}")
