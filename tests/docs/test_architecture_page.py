"""ARCHITECTURE.md, CONTRIBUTING.md and tests/README.md are a map of what is there: every path, function and target exists."""

import ast
import re
from pathlib import Path

import pytest
from pages import ROOT, section, spans

MAP = (ROOT / "ARCHITECTURE.md").read_text()
GUIDES = {name: (ROOT / name).read_text() for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md")}
LIVES = ("The life of a message", "The life of a context", "The life of a recall", "The life of an event")
WALKS = [row.strip("| ").split(" | ") for title in LIVES
         for row in section(MAP, title).splitlines() if row.startswith("| ") and "`" in row]  # fmt: skip
ROOMS = {table: re.findall(r"^\| (`.*?) \| ", section(MAP, "The rooms").split(f"| `{table}/` | holds |")[1].split("\n\n")[0],
                           re.MULTILINE) for table in ("om_api", "om_workers")}  # fmt: skip


def paths(text: str) -> set[str]:
    """What stands in backticks and looks like a file or folder of ours."""
    return {span for span in spans(text) if re.fullmatch(r"(om_\w+|tests|config|docs)/[\w./-]*", span)}


def defined(file: Path) -> set[str]:
    """The functions, classes and methods of a file; a script's is its own name."""
    if file.suffix != ".py":
        return {file.stem}
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("name", GUIDES)
def test_every_path_exists(name):
    assert {path for path in paths(GUIDES[name]) if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize(("what", "functions", "files"), WALKS, ids=[row[0] for row in WALKS])
def test_every_function_of_a_walk_is_in_a_file_of_its_row(what, functions, files):
    there = set().union(*(defined(ROOT / file) for file in re.findall(r"`([^`]+)`", files)))

    assert set(re.findall(r"`([^`]+)`", functions)) - there == set()


@pytest.mark.parametrize("package", ROOMS)
def test_every_room_is_on_the_map(package):
    named = {span.strip("/") for row in ROOMS[package] for span in re.findall(r"`([\w/]+/)`", row)}
    there = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}

    assert there - named == set()


@pytest.mark.parametrize("name", GUIDES)
def test_every_target_of_make_exists(name):
    made = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(re.findall(r"`make ([a-z]+)", GUIDES[name])) - made == set()
