"""Mutants of the values in a module: its numbers, comparisons, `min` and `max`, and how long the server keeps something."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from mutants.mutant import Change, abridged
from mutants.places import Places
from mutants.values import COMPARED, EXTREMES, LIFETIMES, lifetimes, others

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
    for text in others(node.value):  # type: ignore[arg-type]  # a number
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
