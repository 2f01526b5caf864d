"""Every type that is read from JSON is known to msgspec before there are threads."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILES = [
    path for package in ("om_api", "om_workers") for path in (ROOT / package).rglob("*.py") if "bench" not in path.parts
]


def _read(call):
    """What a call reads or converts to, if it names a class."""
    given = [word.value for word in call.keywords if word.arg == "type"]
    name = ast.unparse(call.func)
    kinds = given if name == "msgspec.json.decode" else call.args[1:2] if name == "msgspec.convert" else []
    return {kind.id for kind in kinds if isinstance(kind, ast.Name) and not kind.id.islower()}


def test_every_struct_that_is_read_was_learned_when_it_was_defined():
    """What it was before: 24 threads of a new worker read their first answers together, and it ended with signal 11."""
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text()))]
    learned = {
        node.name
        for node in nodes
        if isinstance(node, ast.ClassDef) and "learned" in map(ast.unparse, node.decorator_list)
    }
    read = set().union(*(_read(node) for node in nodes if isinstance(node, ast.Call)))

    assert {"RecordedSettings", "Draft"} <= read
    assert read - learned == set()
    assert {
        "Worker",
        "Ticked",
        "Completion",
        "GeminiAnswer",
    } <= learned  # whose name is a variable's where they are read
