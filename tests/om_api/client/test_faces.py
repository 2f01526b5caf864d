"""The blocking client is made of the asyncio one, so that neither can do what the other cannot."""

import ast
import inspect
import runpy
from pathlib import Path

import pytest

from om_api import AsyncObservationalMemory, ObservationalMemory

ROOT = Path(__file__).parents[3]
FACES = runpy.run_path(str(ROOT / ".ci" / "faces.py"))


def meaning(text):
    """What a module says, whatever its lines look like and whichever import comes first."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            node.names = [ast.alias(name) for name in sorted({each.name for each in node.names})]
    return sorted(ast.dump(node) for node in tree.body)


@pytest.mark.parametrize(("source", "target"), FACES["FACES"].items())
def test_the_blocking_face_says_what_its_source_says(source, target):
    made = FACES["without_waiting"]((ROOT / source).read_text())

    assert meaning(made) == meaning((ROOT / target).read_text()), "it is stale: make faces"


def test_both_faces_have_the_same_methods_with_the_same_arguments():
    faces = [vars(face) for face in (AsyncObservationalMemory, ObservationalMemory)]
    asked, blocking = [
        {
            name: FACES["without_waiting"](str(inspect.signature(method)))
            for name, method in face.items()
            if not name.startswith("_")
        }
        for face in faces
    ]

    assert asked == blocking
    assert {name for name in asked if not _is_awaited(faces[0][name])} == {
        "recall_tool",
        "working_memory_tool",
        "share_tool",
    }  # asks nobody
    assert not any(_is_awaited(faces[1][name]) for name in asked)


def _is_awaited(method):
    return inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)


def test_code_is_made_blocking_and_so_is_what_documents_say_of_it():
    given = (
        '"""`await om.close()`, see AsyncObservationalMemory."""\nasync with om:\n    x = [await y async for y in om]\n'
    )

    assert FACES["without_waiting"](given) == (
        '"""`om.close()`, see ObservationalMemory."""\nwith om:\n    x = [y for y in om]\n'
    )
