"""What is a fact, whatever it looks like, and when it is still there."""

from __future__ import annotations

import pytest

from om_workers.prompts.dates import Day, days, spans
from om_workers.prompts.evidence import Evidence
from om_workers.prompts.facts import Kind, facts, leading


def found(text, kind):
    return [fact.key for fact in facts(text) if fact.kind is kind]


@pytest.mark.parametrize(
    ("kind", "text", "keys"),
    [
        (Kind.NAME, "User met Ada and Dr. Okafor's sister in Görlitz on Monday", ["ada", "dr", "okafor", "görlitz"]),
        (Kind.NAME, "Works. Then reads. The user likes PDF", []),
        (Kind.NAME, "A Lisbon trip", ["lisbon"]),
        (
            Kind.NUMBER,
            "3,120 titles for $49.50 at 14:30, about 12k in 5 minutes",
            ["2:30", "3120", "49.5 $", "12000", "5 min"],
        ),
        (Kind.DATE, "on Dec 4, 2025 or 5 January 2026, 2026-02-07", ["2025-12-4", "2026-1-5", "2026-2-7"]),
        (Kind.URL, "see https://www.Example.org/a?b=1.", ["example.org/a?b=1"]),
        (
            Kind.PATH,
            "and/or he/she read auth/session.py:45-60, ~/notes, C:\\x\\y.txt",
            ["auth/session.py", "~/notes", "c:/x/y.txt"],
        ),
        (Kind.IDENTIFIER, "#214 ORD-4821 v2.4.1 `make up` max_loss getUser 7f3a9c1", []),
        (Kind.IDENTIFIER, "ann@example.org @bob", ["ann@example.org", "bob"]),
    ],
)
def test_facts_are_told_by_how_they_look(kind, text, keys):
    expected = keys or ["214", "ord-4821", "2.4.1", "make up", "max_loss", "getuser", "7f3a9c1"]

    assert found(text, kind) == (expected if kind is Kind.IDENTIFIER else keys)


def test_a_word_that_begins_a_sentence_is_a_name_only_if_others_say_so():
    assert [fact.key for fact in leading("Lotte sells. Reads a lot")] == ["lotte", "reads"]
    assert found("Lotte sells", Kind.NAME) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("3,120 titles", "3120 titles"),
        ("3 children", "three children"),
        ("€49 a month", "49 euros a month"),
        ("at 14:30", "at 2:30 PM"),
        ("90 seconds", "90s"),
        ("by Dec 4, 2025", "by 4 December"),
        ("until Sep 2027", "until September 2027"),
        ("read auth/session.py:45", "session.py was read"),
        ("Jonas drives", "Jonas' car"),
        ("with Anna-Lena", "Anna Lena came"),
        ("released as 2.4.1", "v2.4.1 is out"),
        ("see https://example.org/a/", "(http://www.example.org/a)"),
    ],
)
def test_a_fact_is_still_there_when_it_is_written_another_way(before, after):
    evidence = Evidence([after])

    assert [fact for fact in [*facts(before), *leading(before)] if not evidence.has(fact)] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("50 mg", "50 kg"),
        ("12 guests", "112 guests"),
        ("Dec 4, 2025", "Dec 4, 2024"),
        ("Dec 4, 2025", "Dec 1 - Dec 9, 2025"),
        ("order ORD-4821", "order ORD-48215"),
        ("in etl/load.py", "in etl/loader.py"),
        ("with Ada", "with Adam"),
    ],
)
def test_another_fact_is_no_evidence(before, after):
    evidence = Evidence([after])

    assert [fact for fact in facts(before) if evidence.has(fact)] == []


def test_a_date_above_lines_may_be_merged_into_a_span():
    (fact,) = facts("Dec 4, 2025")

    assert Evidence(["Date: Nov 20 - Dec 9, 2025"]).has(fact, within=True)
    assert not Evidence(["Date: Dec 5 - Dec 9, 2025"]).has(fact, within=True)


def test_spans_are_read_however_they_are_written():
    texts = ["Nov 2 - Nov 28, 2025", "Dec 3-5, 2025", "2025-11-02 to 2025-11-28", "Dec 28, 2025 – Jan 3, 2026"]
    first, second, third, over_new_year = (spans(text)[0] for text in texts)

    assert (first.first, first.last, second.last) == (Day(2025, 11, 2), Day(2025, 11, 28), Day(2025, 12, 5))
    assert third == first
    assert over_new_year.holds(Day(0, 1, 1))
    assert not over_new_year.holds(Day(0, 2, 1))


def test_a_span_holds_its_two_ends_and_nothing_beyond_them():
    (span,) = spans("Nov 20 - Dec 9, 2025")

    assert list(filter(span.holds, days("Nov 19, Nov 20, Dec 9, Dec 10"))) == days("Nov 20, Dec 9")


@pytest.mark.parametrize("text", ["Dec 28 - Jan 3, 2026", "Dec 28, 2025 - Jan 3"])
def test_a_span_over_new_year_is_of_two_years_whichever_end_says_one(text):
    (span,) = spans(text)

    asked = days("Dec 27, 2025, Dec 30, 2025, Jan 1, 2026, Jan 4, 2026, Jan 1, 2025, Dec 30, 2026")
    assert list(filter(span.holds, asked)) == days("Dec 30, 2025, Jan 1, 2026")


@pytest.mark.parametrize("text", ["moved from Dec 20 to Dec 4, 2025", "Nov 28 - Nov 2025", "from Jul 9 to Jan 3, 2025"])
def test_a_later_date_before_an_earlier_one_is_no_span_of_most_of_a_year(text):
    """Catches notes that count as dated, all of them, since somebody put a meeting forward."""
    asked = days("Jan 5, 2025, Mar 1, 2025, Jul 1, 2025, Dec 30, 2024, Dec 10, 2025")

    assert not [day for span in spans(text) for day in asked if span.holds(day)]


def test_a_span_of_one_day_holds_no_other():
    (span,) = spans("Dec 4 - Dec 4")

    assert list(filter(span.holds, days("Dec 3, Dec 4, Dec 5"))) == days("Dec 4")


def test_what_is_no_date_is_none():
    assert days("13/14 of them may 5 times, 2025-13-99, May I?") == []


@pytest.mark.parametrize("unit", ["a", "1", "a.", "0f-", "+", "-", "..", "#1", "a/", "C:\\ "])
@pytest.mark.timeout(20)
def test_no_line_makes_it_hang(unit):
    """Catches a regex that tries every place again: quadratic in the line, it would outlast the timeout."""
    text = unit * (300_000 // len(unit))

    assert len(facts(text)) <= len(text)
