from om_workers.prompts.facts import FactKind
from om_workers.prompts.statements import bodies, statements

NOTES = """Date: Mar 6, 2026
* 🔴 (09:00) User met Ada
  * -> in Graz
<thread id="t-1">
* 🟡 Pattern: meets people
  * -> often
* 🟢 (10:00) Ada likes tea
</thread>"""


def test_a_line_is_taken_apart_with_its_importance_place_and_facts():
    header, met, where, tea = statements([NOTES])

    assert (header.header, header.kind, header.place) == (True, None, 0.0)
    assert (met.text, met.priority, met.kind) == ("User met Ada", 5, FactKind.IMPORTANT)
    assert (where.text, where.nested, where.priority, where.kind) == ("in Graz", True, 5, None)
    assert (tea.priority, tea.place, [fact.key for fact in tea.facts]) == (1, 1.0, ["ada"])


def test_an_answer_is_read_without_marks_and_thread_tags():
    assert list(bodies(NOTES))[:3] == ["Date: Mar 6, 2026", "User met Ada", "in Graz"]
    assert len(list(bodies(NOTES))) == 6


def test_the_oldest_line_stands_at_0_and_the_newest_at_1():
    assert [line.place for line in statements(["* a\n* b"])] == [0.0, 1.0]
    assert [line.place for line in statements(["* a"])] == [0.0]
