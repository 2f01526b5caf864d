"""`om bench cost --sweep`: what thresholds make of the costs, so that the settings we recommend are chosen and not guessed."""

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import mean

import msgspec

from om_api.domain.tokens import counter
from om_bench.cost.calls import AgentCall
from om_bench.cost.compare import EXTRACTIVE, Comparison, CostPlan, twice
from om_bench.cost.histories import prompt, rendered
from om_bench.harness.page import table

_MESSAGES = (30_000, 16_000, 8_000, 4_000)
_OBSERVATIONS = (40_000, 20_000, 10_000, 6_000)
_OTHERS = (
    "buffer_tokens=0.2",
    "buffer_tokens=0.45",
    "buffer_activation=0.8",
    "buffer_activation=0.95",
    "reflection.buffer_activation=0.5",
    "reflection.buffer_activation=1",
)


class Tried(msgspec.Struct, frozen=True):
    """One set of settings: tokens read a call, how many of them are memory, and factors by actor and observer."""

    settings: tuple[str, ...]
    read: int
    remembered: int
    factors: dict[str, dict[str, float]]


class ThresholdSweep(msgspec.Struct, frozen=True):
    """All that was tried; a model is taken to note as much as the extractive observer does."""

    plan: CostPlan
    tried: list[Tried]


def sweep(calls: Sequence[AgentCall], plan: CostPlan, url: str | None) -> ThresholdSweep:
    """Replay a conversation with every set of settings. Raises what `report.measure` raises."""
    count = counter()
    added = rendered(calls, count)
    stages = {actor: Comparison(actor, calls, plan, prompt(plan.system), added) for actor in plan.actors}
    tried = []
    for settings in _grid(plan):
        found = twice(calls, settings, None, count, url)
        factors = {
            actor: {
                observer: round(stage.remembered("", observer, found).factor, 2)
                for observer in (EXTRACTIVE, *plan.observers)
            }
            for actor, stage in stages.items()
        }
        tried.append(Tried(settings, round(mean(found.steady.read)), found.steady.remembered, factors))
    return ThresholdSweep(plan, tried)


def _grid(plan: CostPlan) -> Iterator[tuple[str, ...]]:
    """The plan's own settings; then its last ones with other thresholds, and with one other setting each."""
    chosen = [*plan.settings.values()][-1]
    thresholds = product(_MESSAGES, _OBSERVATIONS)
    yield from plan.settings.values()
    yield from (_but(chosen, f"message_threshold={t}", f"observation_threshold={r}") for t, r in thresholds)
    yield from (_but(chosen, other) for other in _OTHERS)


def _but(settings: Sequence[str], *changed: str) -> tuple[str, ...]:
    return tuple({each.partition("=")[0]: each for each in (*settings, *changed)}.values())


def as_lines(found: ThresholdSweep) -> list[str]:
    """What was tried as Markdown: a factor for each observer, in the plan's order, the extractive one first."""
    names = ", ".join(f"`{name}`" for name in (EXTRACTIVE, *found.plan.observers))
    title, chosen = [*found.plan.settings.items()][-1]
    head = ["settings", "read a call", "memory", *(f"`{actor}`" for actor in found.plan.actors)]
    rows = [
        [
            _named(each.settings, found.plan), f"{each.read:,}", f"{each.remembered:,}",
            *(" / ".join(f"{factor:.1f}" for factor in row.values()) for row in each.factors.values()),
        ]
        for each in found.tried
    ]  # fmt: skip
    said = (
        f"How many times cheaper than the cached full history, with the observers {names}. What a row does not state is"
    )
    return [f"{said} as in *{title}*: {', '.join(f'`{each}`' for each in chosen)}.", *table(head, rows)]


def _named(settings: tuple[str, ...], plan: CostPlan) -> str:
    """A set of settings by its name in the plan, else by what differs from the plan's last one."""
    names = {each: f"*{name}*" for name, each in plan.settings.items()}
    chosen = [*plan.settings.values()][-1]
    return names.get(settings) or ", ".join(f"`{each}`" for each in settings if each not in chosen) or "the same"
