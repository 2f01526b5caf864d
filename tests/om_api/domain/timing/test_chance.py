"""What a program draws from its own `random` is its own, and so is what we draw: threads of ours draw whenever they like."""

import ast
import random
from pathlib import Path

import om_api
import om_workers
from om_api.domain.values import new_id

_OURS = [path for package in (om_api, om_workers) for path in Path(package.__file__).parent.rglob("*.py")]


def _names(path):
    """The modules that a module imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_one_module_of_ours_knows_random_and_draws_apart():
    assert [path.name for path in _OURS if "random" in _names(path)] == ["chance.py"]


def test_a_program_that_seeds_its_own_neither_repeats_our_ids_nor_loses_its_numbers():
    random.seed(7)
    first, expected = new_id(1), random.random()
    random.seed(7)
    second = new_id(1)

    assert random.random() == expected
    assert first[-12:] != second[-12:]
