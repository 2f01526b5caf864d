"""The house keeps its rooms: every module stands under a contract, no cycle hides, and the measure itself can fail."""

from __future__ import annotations

import re
import sys

import pytest
from pages import ROOT

sys.path.insert(0, str(ROOT / ".ci"))
import house

sys.path.pop(0)


@pytest.fixture(scope="module")
def known():
    return house.modules()


def test_every_module_is_within_a_room_that_a_contract_holds(known):
    assert house.uncovered(known.keys() - set(house.PACKAGES), house.contracts()) == []


@pytest.mark.parametrize("stray", ["om_api.stray", "om_api.cellar.wine", "om_workers.loose"])
def test_a_module_outside_of_every_room_is_found(stray):
    assert house.uncovered([stray, "om_api.store.memory.due"], house.contracts()) == [stray]


def test_no_module_and_no_folder_imports_in_a_circle(known):
    graph = house.imports(known)

    assert house.cycles(graph) == []
    assert house.cycles(house.by_folder(graph, known)) == []


def test_a_circle_is_found_and_its_way_told():
    (circle,) = house.cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})

    assert set(circle) == {"a", "b", "c"}


def test_what_is_imported_for_a_type_or_within_a_function_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(house, "ROOT", tmp_path)
    room = tmp_path / "om_api"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "one.py").write_text("if TYPE_CHECKING:\n    from om_api import two\n")
    (room / "two.py").write_text("def late():\n    from om_api.one import thing\n")
    graph = house.imports(house.modules(tmp_path))

    assert graph["om_api.one"] == {"om_api.two"}
    assert graph["om_api.two"] == {"om_api.one"}
    assert len(house.cycles(graph)) == 1


def test_a_class_name_is_given_once(known):
    assert house.classes_twice(known) == []


def test_a_module_is_tested_where_it_would_be_looked_for(known):
    assert "om_api.context.rendering" not in house.without_a_test(known)
    assert "om_api.context.rendering" in house.without_a_test(known, ROOT / "docs")


_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+(?!,)")  # `()*+,` is of a class


def test_no_pattern_has_a_possessive_group():
    """Python before 3.11.5 gives back what such a group took (gh-106052): `user_id` was the words `user_i` and `d`."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in house.PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if _POSSESSIVE_GROUP.search(line)
    ]

    assert _POSSESSIVE_GROUP.search(r"(?:[-_]{1,3}\w++)*+")
    assert found == []
