"""Budgets: what contexts of so many tokens hold of a talk, and whether the scorer can be believed."""

from collections.abc import Sequence

import msgspec
from msgspec import field

from om_api.domain.message_tokens import Count
from om_api.settings.memory_settings import RecallSettings
from om_bench.harness.talks import Talk
from om_bench.memory.baselines import Searched, at_random, last, shown
from om_bench.memory.days import spelled_out
from om_bench.memory.lookup import EvidenceRecall, Lookups
from om_bench.memory.pairs import SaidPairs, Torn
from om_bench.memory.support import Support
from om_bench.memory.tally import Scored, Tally
from om_workers.llm.base import Request
from om_workers.llm.extractive.observe import observe

OF_RECALL = 0.02  # of a talk's tokens: search results, where they have a fixed share beside notes


class Calibration(msgspec.Struct):
    """Whether the scorer can be believed: the whole talk, a half of its turns at random, another talk."""

    full: Tally
    half: Tally
    wrong: Tally


class BudgetScores(msgspec.Struct):
    """S of contexts that have `share` of the talk's tokens; `tokens` is what the extractive observer took of them.

    `recalled`: notes, and for each question what recall answers in as many of the tokens as `recall.tokens` is at its
    default, but no more than half; `unasked`: the same with what a context shows by itself; `fixed`: with two hundredths of
    the talk's tokens. `used`: the tokens of the notes, of those that they might have. `dates`: the questions that a day
    answers, and of how many of them the notes spell it out. `pairs`: neighbouring words of the notes that are neighbours in
    the source.
    """

    share: float
    tokens: Tally = field(default_factory=Tally)
    used: Tally = field(default_factory=Tally)
    extractive: Scored = field(default_factory=Scored)
    recalled: Scored = field(default_factory=Scored)
    unasked: Scored = field(default_factory=Scored)
    fixed: Scored = field(default_factory=Scored)
    last: Tally = field(default_factory=Tally)
    random: Tally = field(default_factory=Tally)
    bm25: Tally = field(default_factory=Tally)
    dates: Tally = field(default_factory=Tally)
    pairs: Torn = field(default_factory=Torn)


class Judged:
    """A talk with all that it is judged by, made once for every budget."""

    def __init__(self, talk: Talk, count: Count) -> None:
        self.talk, self.count = talk, count
        self.whole = count(shown(talk.messages))
        self.support, self.source, self.lookups = Support(talk), SaidPairs(talk), Lookups(talk, count)
        role = {message.id: message.role for message in talk.messages}
        self.roles = [{role[turn] for turn in question.evidence} for question in talk.questions]


def calibrate(talks: Sequence[Talk], count: Count) -> Calibration:
    """Score whole talks, halves of them, and each talk by the next one; a single talk by itself backwards is no other."""
    found = Calibration(Tally(), Tally(), Tally())
    texts = [shown(talk.messages) for talk in talks]
    for place, talk in enumerate(talks):
        support, asked = Support(talk), len(talk.questions)
        found.full.add(len(support.supported(texts[place])), asked)
        found.half.add(len(support.supported(at_random(talk.messages, count(texts[place]) // 2, count))), asked)
        if len(talks) > 1:
            found.wrong.add(len(support.supported(texts[(place + 1) % len(talks)])), asked)
    return found


def evidence_recall(talks: Sequence[Judged]) -> EvidenceRecall:
    """How much of the evidence a search for each question finds."""
    found = EvidenceRecall()
    for judged in talks:
        for question in judged.talk.questions:
            judged.lookups.judge(question, found)
    return found


def at_budget(talks: Sequence[Judged], share: float) -> BudgetScores:
    """What notes hold at one budget, and notes with recall."""
    found = BudgetScores(share)
    for judged in talks:
        size = int(share * judged.whole)
        _noted(judged, found)
        _recalled(judged, size, min(RecallSettings().tokens, size // 2), found.recalled, found.unasked)
        _recalled(judged, size, int(OF_RECALL * judged.whole), found.fixed)
    return found


def compare(talks: Sequence[Judged], found: BudgetScores) -> BudgetScores:
    """The same with what else a context could be made of at its budget."""
    for judged in talks:
        _compared(judged, found)
    return found


def _noted(judged: Judged, found: BudgetScores) -> None:
    size = int(found.share * judged.whole)
    notes = observed(judged.talk, size)
    found.tokens.add(judged.count(notes), judged.whole)
    found.used.add(judged.count(notes), size)
    held = judged.support.supported(notes)
    for place, roles in enumerate(judged.roles):
        found.extractive.add(place in held, roles)
    found.dates.add(*spelled_out(judged.talk, notes))
    judged.source.judge(notes, found.pairs)


def _recalled(judged: Judged, size: int, of_recall: int, asked: Scored, unasked: Scored | None = None) -> None:
    """Count what is held in `size` tokens, of which recall has some; nothing where it would take all."""
    if size <= of_recall:
        return
    support = judged.support
    held = support.held(observed(judged.talk, size - of_recall))
    for keys, question, roles in zip(support.questions, judged.talk.questions, judged.roles, strict=True):
        missed = set(keys) - held
        for scored in filter(None, (asked, unasked)):
            hits = judged.lookups.shown(question, of_recall, asked=scored is asked) if missed else ""
            scored.add(missed == support.held(hits, missed), roles)


def _compared(judged: Judged, found: BudgetScores) -> None:
    messages, size, count = judged.talk.messages, int(found.share * judged.whole), judged.count
    questions, support, searched = judged.talk.questions, judged.support, Searched(messages)
    found.last.add(len(support.supported(last(messages, size, count))), len(questions))
    found.random.add(len(support.supported(at_random(messages, size, count))), len(questions))
    for question, keys in zip(questions, support.questions, strict=True):
        hits = support.held(searched.find(question, size, count), keys)
        found.bm25.add(hits.issuperset(keys), 1)


def observed(talk: Talk, tokens: int) -> str:
    """The extractive observer's notes of a whole talk."""
    return observe(Request(purpose="observe", system="", prompt="", messages=talk.messages, target_tokens=tokens))
