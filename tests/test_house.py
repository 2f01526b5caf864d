"""The checks of `make house`, which `make lint` runs, find what they look for."""

import re
import sys

from pages import ROOT

sys.path.insert(0, str(ROOT / ".ci"))
import house

sys.path.pop(0)


def test_house_finds_a_module_outside_of_every_contract():
    for stray in ("om_api.stray", "om_api.cellar.wine", "om_workers.loose"):
        assert house.uncovered([stray, "om_api.store.memory.due"], house.contracts()) == [stray]


def test_house_finds_a_cycle_also_through_types_and_within_functions(tmp_path, monkeypatch):
    (circle,) = house.cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert set(circle) == {"a", "b", "c"}

    monkeypatch.setattr(house, "ROOT", tmp_path)
    folder = tmp_path / "om_api"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "one.py").write_text("if TYPE_CHECKING:\n    from om_api import two\n")
    (folder / "two.py").write_text("def late():\n    from om_api.one import thing\n")
    assert len(house.cycles(house.imports(house.modules(tmp_path)))) == 1


def test_house_finds_a_handler_that_what_is_unreadable_passes(tmp_path):
    for caught, found in (("(OMError, ValueError)", ["one"]), ("(OMError, *UNREADABLE)", [])):
        (tmp_path / "one.py").write_text(f"try:\n    pass\nexcept {caught}:\n    pass\n")
        assert house.narrow_handlers({"one": tmp_path / "one.py"}) == found


_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+(?!,)")  # `()*+,` is a character class


def test_no_pattern_has_a_possessive_group():
    """Python before 3.11.5 backtracks into such a group (gh-106052): `user_id` was split into `user_i` and `d`."""
    paths = [path for package in house.PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]

    assert _POSSESSIVE_GROUP.search(r"(?:[-_]{1,3}\w++)*+")
    assert [str(path) for path in paths if _POSSESSIVE_GROUP.search(path.read_text("utf-8"))] == []
