"""What is a fact, whatever it looks like."""

import pytest

from om_workers.prompts.facts import FactKind, facts, leading


def found(text, kind):
    return [fact.key for fact in facts(text) if fact.kind is kind]


@pytest.mark.parametrize(
    ("kind", "text", "keys"),
    [
        (
            FactKind.NAME,
            "User met Ada and Dr. Okafor's sister in Görlitz on Monday",
            ["ada", "dr", "okafor", "görlitz"],
        ),
        (FactKind.NAME, "Works. Then reads. The user likes PDF", []),
        (FactKind.NAME, "A Lisbon trip", ["lisbon"]),
        (
            FactKind.NUMBER,
            "3,120 titles for $49.50 at 14:30, about 12k in 5 minutes",
            ["2:30", "3120", "49.5 $", "12000", "5 min"],
        ),
        (FactKind.DATE, "on Dec 4, 2025 or 5 January 2026, 2026-02-07", ["2025-12-4", "2026-1-5", "2026-2-7"]),
        (FactKind.URL, "see https://www.Example.org/a?b=1.", ["example.org/a?b=1"]),
        (
            FactKind.PATH,
            "and/or he/she read auth/session.py:45-60, ~/notes, C:\\x\\y.txt",
            ["auth/session.py", "~/notes", "c:/x/y.txt"],
        ),
        (FactKind.IDENTIFIER, "#214 ORD-4821 v2.4.1 `make up` max_loss getUser 7f3a9c1", []),
        (FactKind.IDENTIFIER, "ann@example.org @bob", ["ann@example.org", "bob"]),
    ],
)
def test_facts_are_told_by_how_they_look(kind, text, keys):
    expected = keys or ["214", "ord-4821", "2.4.1", "make up", "max_loss", "getuser", "7f3a9c1"]

    assert found(text, kind) == (expected if kind is FactKind.IDENTIFIER else keys)


def test_a_word_that_begins_a_sentence_is_a_name_only_if_others_say_so():
    assert [fact.key for fact in leading("Lotte sells. Reads a lot")] == ["lotte", "reads"]
    assert found("Lotte sells", FactKind.NAME) == []


@pytest.mark.parametrize("unit", ["a", "1", "a.", "0f-", "+", "-", "..", "#1", "a/", "C:\\ "])
@pytest.mark.timeout(20)
def test_no_line_makes_it_hang(unit):
    """Catches a regex that tries every place again: quadratic in the line, it would outlast the timeout."""
    text = unit * (300_000 // len(unit))

    assert len(facts(text)) <= len(text)
