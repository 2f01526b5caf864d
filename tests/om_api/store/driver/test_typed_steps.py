"""That `mypy --strict` knows what every step replies, because nobody but a step itself takes a bare reply."""

import ast
from pathlib import Path

import pytest

import om_api
import om_workers

ROOT = Path(om_api.__file__).parents[1]
ROOMS = [Path(room.__file__).parent for room in (om_api, om_workers)]
DRIVER = {"steps.py", "step_driver.py", "connection.py", "async_connection.py"}  # they pass on whatever it is
MODULES = sorted(path for room in ROOMS for path in room.rglob("*.py") if path.name not in DRIVER)
DECODES = {"Verb", "Batch", "command", "then"}
UNKNOWN = ("Steps[Any]", "Batch[Any]", "Verb[Any]")


def bare(tree):
    """The yields of a generator of steps: what such a `yield` gives is not known, `yield from` a step gives its value."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.returns]
    steps = [node for node in found if ast.unparse(node.returns).startswith("Steps[")]
    return [inner.lineno for node in steps for inner in ast.walk(node) if isinstance(inner, ast.Yield)]


def untyped(tree):
    """Functions that decode a reply into nobody knows what, and steps that are said to be of it."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.returns]
    anything = {node.name for node in functions if ast.unparse(node.returns) == "Any"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    decoding = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) in DECODES]
    given = [word for call in decoding for word in (*call.args, *(each.value for each in call.keywords))]
    said = [node.lineno for node in functions if any(word in ast.unparse(node.returns) for word in UNKNOWN)]
    return said + [word.lineno for word in given if isinstance(word, ast.Name) and word.id in anything]


@pytest.mark.parametrize("breach", [bare, untyped])
def test_no_reply_of_a_step_is_of_an_unknown_type(breach):
    found = {str(path.relative_to(ROOT)): breach(ast.parse(path.read_text("utf-8"))) for path in MODULES}

    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("breach", "text"),
    [
        (bare, "def read() -> Steps[int]:\n    reply = yield Batch([('GET', 'a')])\n    return int(reply)"),
        (
            untyped,
            "def _made(reply: Any) -> Any: ...\ndef read() -> Steps[int]:\n    yield from Verb('x', [], [], _made)",
        ),
        (untyped, "def read() -> Steps[Any]:\n    return (yield from Verb('x', [], [], outcome))"),
    ],
)
def test_a_step_that_tells_no_type_is_found(breach, text):
    assert breach(ast.parse(text))
