from xml.etree import ElementTree as ET

from om_bench.harness import pictures
from om_bench.memory.budgets import BudgetScores
from om_bench.memory.memory_report import by_budget
from om_bench.memory.tally import Scored, Tally


def drawn(folder, name, picture):
    pictures.save(folder, {name: picture})
    return (folder / f"{name}.svg").read_bytes()


def words(picture):
    return {text for each in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text") if (text := each.text)}


def test_a_picture_names_its_axes_and_every_kind(tmp_path):
    at = [BudgetScores(share, extractive=Scored(Tally(100, 50)), bm25=Tally(100, 70)) for share in (0.1, 0.25)]

    shown = words(drawn(tmp_path / "new", "s", by_budget(at)))

    assert {
        "extractive observer",
        "extractive observer and recall",
        "BM25, asked per question",
        "newest turns",
        "random turns",
    } <= shown
    assert "share of the conversation's tokens, %" in shown


def test_the_same_figures_make_the_same_bytes(tmp_path):
    picture = pictures.tiers({"raw": [1, 2, 3], "observations": [0, 1, 1]}, ("call", "tokens"))

    assert drawn(tmp_path, "one", picture) == drawn(tmp_path, "two", picture)
