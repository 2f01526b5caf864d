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


@pytest.mark.parametrize(("share", "of_recall", "did"), [(0.5, None, 0), (200.0, 1_000, 2)])
def test_recall_finds_what_notes_leave_out_and_takes_its_tokens_from_them(monkeypatch, share, of_recall, did):
    """As many as `recall.tokens` says, but no more than half; and two hundredths of the talk."""
    size, whole, wanted = int(share * JUDGED[0].whole), JUDGED[0].whole, []
    monkeypatch.setattr("om_bench.memory.budgets.observed", lambda _, tokens: wanted.append(tokens) or "")

    found = at_budget(JUDGED, share)

    assert wanted == [size, size - (of_recall or size // 2), size - int(0.02 * whole)]
    assert (found.extractive.all.did, found.recalled.all.did, found.recalled.all.of) == (0, did, 2)
    assert found.fixed.all.of == 2


def test_unasked_a_context_shows_less_than_recall_is_asked_for(monkeypatch):
    """A talk of a few messages has no word that is rare enough."""
    monkeypatch.setattr("om_bench.memory.budgets.observed", lambda *_: "")

    found = at_budget(JUDGED, 200.0)

    assert (found.recalled.all.did, found.unasked.all.did) == (2, 0)


def test_where_recall_would_take_all_nothing_is_counted():
    assert at_budget(JUDGED, 0.02).fixed.all.shown == "-"


def test_notes_are_compared_with_what_fits_into_the_same_tokens():
    found = compare(JUDGED, at_budget(JUDGED, 1.0))

    assert (found.last.percent, found.bm25.percent) == (100.0, 100.0)
    assert found.random.of == 2


def test_the_evidence_of_every_question_is_looked_for():
    found = evidence_recall(JUDGED)

    assert (found.hits.of, found.hits.percent) == (2, 100.0)
    assert found.around == found.hits
