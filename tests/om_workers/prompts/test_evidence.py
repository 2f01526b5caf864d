"""When a fact is still there."""

import pytest

from om_workers.prompts.evidence import Evidence
from om_workers.prompts.facts import facts, leading


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
