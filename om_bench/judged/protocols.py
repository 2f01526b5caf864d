"""The protocols: which of a question's kinds are told apart, by which rule it is judged, and what counts for the score."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from om_bench.harness.talks import TalkQuestion

_SAID = {"yes": 1.0, "no": 0.0}
_MARKS = (0.0, 0.5, 1.0)


class JudgedProtocol(NamedTuple):
    """A benchmark's way to judge; `title` is its publisher's name for it, `sample` the file that comes with us.

    `rule` names the rule that a question is judged by, "" where its rubric is; `kinds` are the rows of a report that it stands
    in; `counts` is whether it is part of the whole score. With `f1` the words of answers are compared too.
    """

    name: str
    title: str
    sample: str
    rule: Callable[[TalkQuestion], str]
    kinds: Callable[[TalkQuestion], tuple[str, ...]]
    counts: Callable[[TalkQuestion], bool] = lambda _: True
    f1: bool = False


_TEMPORAL, _UPDATE, _PREFERENCE = "temporal-reasoning", "knowledge-update", "single-session-preference"
_RULES = {_TEMPORAL: "temporal", _UPDATE: "update", _PREFERENCE: "preference"}
_CATEGORIES = {
    "category 1": "multi-hop",
    "category 2": "temporal",
    "category 3": "open-domain",
    "category 4": "single-hop",
    "category 5": "adversarial",
}


def _of_longmemeval(question: TalkQuestion) -> str:
    return "declined" if question.declined else _RULES.get(question.kind, "plain")


def _of_locomo(question: TalkQuestion) -> str:
    return "declined" if question.declined else "generous"


def _of_beam(question: TalkQuestion) -> str:
    return "" if question.rubric else _of_longmemeval(question)


def _with_abstention(question: TalkQuestion) -> tuple[str, ...]:
    return (question.kind, "abstention") if question.declined else (question.kind,)


_ALL = (
    JudgedProtocol("longmemeval", "LongMemEval", "longmemeval.json", _of_longmemeval, _with_abstention),
    JudgedProtocol(
        *("locomo", "LoCoMo", "locomo.json"),
        _of_locomo,
        lambda question: (_CATEGORIES.get(question.kind, question.kind),),
        lambda question: not question.declined,
        f1=True,
    ),
    JudgedProtocol("beam", "BEAM", "beam/chat.json", _of_beam, lambda question: (question.kind,)),
)
PROTOCOLS: Mapping[str, JudgedProtocol] = {each.name: each for each in _ALL}


def verdict(text: str) -> float | None:
    """What a judge that was asked for yes or no said, first or last: 1, 0, or None where it said neither."""
    words = re.findall(r"[a-z]+", text.lower())
    ends = [_SAID[word] for word in (words[:1] + words[-1:]) if word in _SAID]
    return ends[0] if ends else None


def mark(text: str) -> float | None:
    """What a judge of a rubric gave: 0, 0.5 or 1, None where it gave something else."""
    figures = re.findall(r"\d*\.?\d+", text)
    value = float(figures[0]) if len(figures) == 1 else None
    return value if value in _MARKS else None
