"""What a run will cost, before it starts: of a few talks that are pushed through the pipeline without a model, what is sent."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import msgspec

from om_api.billing.prices import MICROS, rates
from om_api.domain.message_tokens import Count, count_message
from om_api.domain.tokens import counter
from om_api.settings import ModelSettings, Settings
from om_bench.harness.page import table
from om_bench.harness.talks import Talk
from om_bench.judged.asking import SCRIPTED
from om_bench.judged.memories import AskedContexts, JudgedGround, asked_at, fill, standing
from om_bench.judged.prompts import prompt
from om_bench.judged.running import AskedQuestion, RunManner
from om_workers.calls.registry import Registry
from om_workers.llm.base import Model, Reply, Request
from om_workers.llm.extractive import Extractive

SAMPLE = 3  # talks that are tried
_RATIOS = (10.0, 4.0)  # tokens of messages to one of notes: at least, at most
_FOUND = 1_500  # tokens that a recall brings at most
_ANSWER, _VERDICT = (40, 500), (2, 300)  # tokens of an answer, and of a judgement, thoughts included
_RULE = 100  # tokens of the rule in a judge's prompt


class CostSpan(NamedTuple):
    """A figure at least and at most."""

    low: float
    high: float

    def __mul__(self, factor: float) -> "CostSpan":  # type: ignore[override]
        """So many times as much."""
        return CostSpan(self.low * factor, self.high * factor)

    def plus(self, other: "CostSpan") -> "CostSpan":
        """Both together."""
        return CostSpan(self.low + other.low, self.high + other.high)


NONE = CostSpan(0, 0)


class ModelWork(msgspec.Struct, frozen=True):
    """What is asked of one model: calls, and the tokens sent and answered in all of them."""

    calls: CostSpan = NONE
    input: CostSpan = NONE
    output: CostSpan = NONE

    def dollars(self, name: str, models: Mapping[str, ModelSettings]) -> CostSpan | None:
        """What it costs by a model's prices; None where nobody knows them."""
        price = rates(name, models)
        if price is None:
            return None
        spans = (self.input * (price.fresh / MICROS), self.output * (price.output / MICROS))
        return spans[0].plus(spans[1])


class Estimate(msgspec.Struct, frozen=True):
    """What is still to be done of a run, by who does it, and what that costs: None where a price is not known.

    `as_if` says the same of models that were not named, for notes, answers and judgements.
    """

    talks: int
    questions: int
    work: dict[str, ModelWork]
    names: dict[str, str]
    dollars: dict[str, CostSpan | None]
    as_if: dict[str, dict[str, CostSpan | None]]

    @property
    def may_cost(self) -> bool:
        """Whether somebody is asked who may want money."""
        return any(each is None or each.high > 0 for each in self.dollars.values())


class Metered(Extractive):
    """Notes by rules, a token for each `ratio` of messages, and what a model would have been sent."""

    def __init__(self, count: Count, ratio: float) -> None:
        self._count, self._ratio = count, ratio
        self.calls, self.input, self.output = 0, 0, 0

    def complete(self, request: Request) -> Reply:
        """Answer, and count what it took."""
        if request.purpose == "observe":
            tokens = sum(count_message(message, self._count) for message in request.messages)
            request = msgspec.structs.replace(request, target_tokens=max(1, int(tokens / self._ratio)))
        reply = super().complete(request)
        self.calls += 1
        self.input += self._count(request.system) + self._count(request.prompt)
        self.output += self._count(reply.text)
        return reply


class MeteredRegistry(Registry):
    """Has the metered model answer for every name."""

    def __init__(self, settings: Settings, model: Model) -> None:
        super().__init__(settings)
        self._one = model

    def model_for(self, name: str, tokens: int) -> Model | None:  # noqa: ARG002  the Registry's signature
        """The one model."""
        return self._one


class SampledWork(NamedTuple):
    """Of the talks that were tried: what is asked of an observer for one token of messages, and the tokens of a context."""

    calls: float
    input: float
    output: float
    context: float


def estimate(
    asked: Sequence[AskedQuestion],
    made: set[int],
    ground: JudgedGround,
    manner: RunManner,
    observer: str,
    as_if: Sequence[str],
) -> Estimate:
    """What it takes to answer and judge these questions; of the talks `made` the notes are taken already.

    Raises StoreError and SettingsError.
    """
    talks = {each.place: each.talk for each in asked}
    work = _work(asked, talks, made, ground, manner) if asked else {}
    names = {"notes": observer, "answers": manner.model, "judgements": manner.judge}
    models = ground.models.models
    dollars = {role: _price(each, names[role], models) for role, each in work.items()}
    others = {name: {role: each.dollars(name, models) for role, each in work.items()} for name in as_if}
    return Estimate(len(talks), len(asked), work, names, dollars, others)


def _price(work: ModelWork, name: str, models: Mapping[str, ModelSettings]) -> CostSpan | None:
    return NONE if name == SCRIPTED or work.calls == NONE else work.dollars(name, models)


def _work(
    asked: Sequence[AskedQuestion], talks: Mapping[int, Talk], made: set[int], ground: JudgedGround, manner: RunManner
) -> dict[str, ModelWork]:
    count = counter()
    tried = [next(each for each in asked if each.place == place) for place in _spread(sorted(talks))]
    least, most = (_sampled(tried, ground, ratio, count) for ratio in _RATIOS)
    tokens = sum(_size(talk, count) for place, talk in talks.items() if place not in made)
    calls, sent, noted = (CostSpan(*pair) * tokens for pair in zip(least[:3], most[:3], strict=True))
    return {
        "notes": ModelWork(calls, sent, noted),
        "answers": _answers(len(asked), CostSpan(least.context, most.context), manner.recalls, count),
        "judgements": _judgements(asked, count),
    }


def _spread(places: Sequence[int]) -> list[int]:
    """A few of them, from beginning to end."""
    return sorted({places[number * len(places) // SAMPLE] for number in range(SAMPLE)})


def _sampled(tried: Sequence[AskedQuestion], ground: JudgedGround, ratio: float, count: Count) -> SampledWork:
    model, tokens, contexts = Metered(count, ratio), 0, list[int]()
    for asked in tried:
        metered = ground._replace(registry=MeteredRegistry(ground.models, model))
        with standing(metered, f"estimate-{asked.place}") as running:
            fill(running, asked.talk)
            context = AskedContexts(running).asked(asked.question, asked_at(asked.question, asked.talk))
        contexts.append(context.tokens)
        tokens += _size(asked.talk, count)
    return SampledWork(model.calls / tokens, model.input / tokens, model.output / tokens, mean(contexts))


def _size(talk: Talk, count: Count) -> int:
    return max(1, sum(count_message(message, count) for message in talk.messages))


def _answers(questions: int, context: CostSpan, recalls: int, count: Count) -> ModelWork:
    """At least one call each; at most as many more as there are recalls, each with all that was found before."""
    own = count(prompt("reader")) + count(prompt("recall"))
    rounds = recalls + 1
    most = rounds * (context.high + own) + _FOUND * recalls * rounds / 2
    each = ModelWork(CostSpan(1, rounds), CostSpan(context.low + own, most), CostSpan(_ANSWER[0], _ANSWER[1] * rounds))
    return ModelWork(each.calls * questions, each.input * questions, each.output * questions)


def _judgements(asked: Sequence[AskedQuestion], count: Count) -> ModelWork:
    calls = sent = 0
    for each in asked:
        items = each.question.rubric or (each.question.answer,)
        calls += len(items)
        own = count(prompt("judge")) + _RULE + count(each.question.text)
        sent += sum(own + count(item) for item in items)
    answers = CostSpan(_ANSWER[0], _ANSWER[1]) * calls
    return ModelWork(CostSpan(calls, calls), CostSpan(sent, sent).plus(answers), CostSpan(*_VERDICT) * calls)


def as_lines(found: Estimate) -> Iterator[str]:
    """The figures as Markdown."""
    yield f"Still to do: {found.questions:,} questions about {found.talks:,} conversations. A figure says at least – at most."
    yield from table(["for", "model", "calls", "tokens sent", "tokens answered", "dollars"], [
        [role, found.names[role], *map(_plain, (each.calls, each.input, each.output)), shown(found.dollars[role])]
        for role, each in found.work.items()
    ])  # fmt: skip
    yield f"\nAltogether: {shown(total(found.dollars))}."
    if found.as_if and found.work:
        yield from table(["if it were", *found.work, "altogether, dollars"], [
            [name, *map(shown, roles.values()), shown(total(roles))] for name, roles in found.as_if.items()
        ])  # fmt: skip


def total(dollars: Mapping[str, CostSpan | None]) -> CostSpan | None:
    """What all roles cost together; None where one of them has no known price."""
    spent = NONE
    for each in dollars.values():
        if each is None:
            return None
        spent = spent.plus(each)
    return spent


def shown(dollars: CostSpan | None) -> str:
    """Dollars for people."""
    if dollars is None:
        return "price unknown: state `prices` of the model"
    return "nothing" if dollars == NONE else " – ".join(map(_dollars, dollars))


def _dollars(each: float) -> str:
    return f"${each:,.2f}" if each >= 1 else f"${each:.3f}"


def _plain(span: CostSpan) -> str:
    low, high = round(span.low), round(span.high)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"
