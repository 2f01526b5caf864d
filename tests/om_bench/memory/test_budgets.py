"""What contexts of so many tokens hold of a talk of our own."""

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


def test_recall_finds_what_notes_leave_out_and_takes_its_tokens_from_them(monkeypatch):
    wanted = []
    monkeypatch.setattr("om_bench.memory.budgets.observed", lambda _, tokens: wanted.append(tokens) or "")
    monkeypatch.setattr("om_bench.memory.budgets.OF_RECALL", 1.5)
    found = at_budget(JUDGED, 2.0)

    assert wanted == [int(2.0 * JUDGED[0].whole), int((2.0 - 1.5) * JUDGED[0].whole)]
    assert found.extractive.all.did == 0
    assert found.recalled.all.did > 0


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
