"""What contexts of so many tokens hold of a talk of our own."""

import pytest
from benches import TALKS

from om_api.domain.tokens import counter
from om_bench.harness.loading import load
from om_bench.memory.budgets import Judged, at_budget, calibrate, compare, evidence_recall

OWN = load(TALKS / "own.json")
JUDGED = [Judged(talk, counter()) for talk in OWN]


def test_all_of_a_talk_holds_all_of_its_evidence():
    assert calibrate(OWN, counter()).full.percent == 100.0


def test_notes_are_scored_by_whose_words_the_evidence_is():
    found = at_budget(JUDGED, 0.9)

    assert sorted(found.extractive.roles) == ["assistant", "tool"]
    assert [tally.of for tally in found.extractive.roles.values()] == [1, 1]
    assert found.used.of == int(0.9 * JUDGED[0].whole)
    assert found.used.did == found.tokens.did
    assert found.pairs.within.of > 0


@pytest.mark.parametrize(("share", "of_recall"), [(0.5, 0.5), (200.0, None)])
def test_recall_finds_what_notes_leave_out_and_takes_its_tokens_from_them(monkeypatch, share, of_recall):
    """As many as `recall.tokens` says, but no more than half; and two hundredths of the talk."""
    size, whole, wanted = int(share * JUDGED[0].whole), JUDGED[0].whole, []
    monkeypatch.setattr("om_bench.memory.budgets.observed", lambda _, tokens: wanted.append(tokens) or "")

    found = at_budget(JUDGED, share)

    shipped = size // 2 if of_recall else 1_000
    assert wanted == [size, size - shipped, size - int(0.02 * whole)]
    assert found.extractive.all.did == 0
    assert found.shipped.all.did == (2 if of_recall is None else found.shipped.all.did)
    assert found.recalled.all.of == 2


def test_where_recall_would_take_all_nothing_is_counted():
    assert at_budget(JUDGED, 0.02).recalled.all.shown == "-"


def test_notes_are_compared_with_what_fits_into_the_same_tokens():
    found = compare(JUDGED, at_budget(JUDGED, 1.0))

    assert (found.last.percent, found.bm25.percent) == (100.0, 100.0)
    assert found.random.of == 2


def test_the_evidence_of_every_question_is_looked_for():
    found = evidence_recall(JUDGED)

    assert (found.hits.of, found.hits.percent) == (2, 100.0)
    assert found.around == found.hits
