"""The report of a run: its score and how sure that is, by kind of question, and what it took."""

from collections.abc import Iterator, Sequence
from statistics import mean

import msgspec

from om_bench.harness.page import table
from om_bench.judged.asking import SCRIPTED
from om_bench.judged.journal import Journal, SpentTokens
from om_bench.judged.protocols import JudgedProtocol
from om_bench.judged.running import AskedQuestion
from om_bench.judged.scores import f1, wilson

_RIGHT = 1.0
_LONGEST = 300


class KindScore(msgspec.Struct, frozen=True):
    """The mean score of some answers in percent, between which bounds it lies (95 %), and of how many; `f1` where compared."""

    of: int
    score: float
    low: float
    high: float
    f1: float | None = None


class WrongAnswer(msgspec.Struct, frozen=True):
    """An answer that was not wholly right, with what was to be said and what the judge said."""

    key: str
    kind: str
    question: str
    right: str
    answer: str
    score: float
    judged: tuple[str, ...]


class JudgedReport(msgspec.Struct, frozen=True):
    """All that a run says. `failed` answers are none that could be used, `unread` judgements no verdict: both count as wrong."""

    protocol: str
    model: str
    judge: str
    observer: str
    whole: KindScore
    kinds: dict[str, KindScore]
    context: float
    recalls: float
    failed: int
    unread: int
    spent: dict[str, SpentTokens]
    wrong: list[WrongAnswer]


def report(
    asked: Sequence[AskedQuestion], kept: Journal, protocol: JudgedProtocol, names: tuple[str, str, str]
) -> JudgedReport:
    """What came of these questions; `names` are model, judge and observer."""
    kinds = dict.fromkeys(kind for each in asked for kind in protocol.kinds(each.question))
    answers = [kept.answers[each.key] for each in asked]
    judged = [kept.judgements[each.key] for each in asked]
    return JudgedReport(
        protocol.name,
        *names,
        _scored([each for each in asked if protocol.counts(each.question)], kept, protocol),
        {
            kind: _scored([each for each in asked if kind in protocol.kinds(each.question)], kept, protocol)
            for kind in sorted(kinds)
        },
        round(mean(each.context for each in answers), 1) if answers else 0.0,
        round(mean(len(each.recalls) for each in answers), 2) if answers else 0.0,
        sum(bool(each.failed) for each in answers),
        sum(each.unread for each in judged),
        {
            "notes": sum((each.spent for each in kept.memories.values()), SpentTokens()),
            "answers": sum((each.spent for each in answers), SpentTokens()),
            "judgements": sum((each.spent for each in judged), SpentTokens()),
        },
        [_wrong(each, kept, protocol) for each in asked if kept.judgements[each.key].score < _RIGHT],
    )


def _scored(asked: Sequence[AskedQuestion], kept: Journal, protocol: JudgedProtocol) -> KindScore:
    scores = [kept.judgements[each.key].score for each in asked]
    score = mean(scores) if scores else 0.0
    low, high = (round(100 * bound, 1) for bound in wilson(score, len(scores)))
    words = [
        f1(kept.answers[each.key].text, each.question.answer, each.question.kind)
        for each in asked
        if protocol.f1 and not each.question.declined
    ]
    return KindScore(len(scores), round(100 * score, 1), low, high, _percent(words))


def _percent(shares: Sequence[float]) -> float | None:
    return round(100 * mean(shares), 1) if shares else None


def _wrong(each: AskedQuestion, kept: Journal, protocol: JudgedProtocol) -> WrongAnswer:
    question, answered, judged = each.question, kept.answers[each.key], kept.judgements[each.key]
    right = "; ".join(question.rubric) or question.answer or "(to be declined)"
    kind = protocol.kinds(question)[0]
    return WrongAnswer(
        each.key, kind, question.text, right, answered.text or answered.failed, judged.score, judged.said
    )


def as_lines(found: JudgedReport, *, wrong: bool = False) -> Iterator[str]:
    """The figures as Markdown; with the `wrong` answers where that is asked for."""
    yield f"{found.protocol}: answered by {_named(found.model)}, judged by {_named(found.judge)}, notes by {found.observer}."
    if SCRIPTED in {found.model, found.judge}:
        yield "Rules answered or judged here: the figures prove the way, and say nothing of the memory."
    compared = any(each.f1 is not None for each in found.kinds.values())
    yield from table(["questions", "of", "score", "95 % of cases", *(["F1"] if compared else [])], [
        [name, each.of, f"{each.score} %", f"{each.low} – {each.high} %", *([_f1(each)] if compared else [])]
        for name, each in {"all that count": found.whole, **found.kinds}.items()
    ])  # fmt: skip
    yield from table(["what it took", ""], [
        ["tokens of a context, on average", found.context], ["recalls for a question, on average", found.recalls],
        ["answers that could not be used", found.failed], ["judgements that were none", found.unread],
    ])  # fmt: skip
    yield from table(["for", "calls", "tokens sent", "tokens answered", "dollars"], [
        [role, each.calls, f"{each.input:,}", f"{each.output:,}", _dollars(each)] for role, each in found.spent.items()
    ])  # fmt: skip
    if wrong:
        yield from _wrongs(found.wrong)


def _named(name: str) -> str:
    return f"{name} (rules, no model)" if name == SCRIPTED else name


def _f1(each: KindScore) -> str:
    return "-" if each.f1 is None else str(each.f1)


def _dollars(spent: SpentTokens) -> str:
    unpriced = f", and {spent.unpriced} calls of unknown price" if spent.unpriced else ""
    return f"${spent.dollars:.4f}{unpriced}"


def _wrongs(wrong: Sequence[WrongAnswer]) -> Iterator[str]:
    yield from table(["wrong", "kind", "question", "right", "answer", "score"], [
        [each.key, each.kind, *map(_cell, (each.question, each.right, each.answer)), each.score] for each in wrong
    ])  # fmt: skip


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
