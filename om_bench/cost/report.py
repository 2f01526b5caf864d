"""What `om bench cost` says, as tables to read and as JSON to draw."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from statistics import mean

import msgspec

from om_api.domain.tokens import counter
from om_bench.cost.bills import PRICED
from om_bench.cost.calls import AgentCall
from om_bench.cost.compare import EXTRACTIVE, MEMORY, Comparison, CostPlan, Memories, StrategyLine, replays
from om_bench.cost.histories import prompt, rendered
from om_bench.cost.wire import size
from om_bench.harness import pictures
from om_bench.harness.page import table
from om_bench.harness.pictures import Picture


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a memory is read with a call, in tokens on average and at most, how often its models are asked; what is cached.

    `phi` is tokens read afresh for each that was appended, `prefix_share` how much of a context the next one begins with.
    """

    settings: str
    observer: str
    read: int
    most: int
    remembered: int
    asked: int
    phi: float
    prefix_share: float


class CostReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that is said. Nothing in it depends on the machine, so two runs write the same bytes.

    `tiers` are tokens call by call, of each memory as the extractive observer notes.
    """

    conversation: str
    calls: int
    input: int
    output: int
    prices: str
    plan: CostPlan
    sizes: list[Size]
    tiers: dict[str, dict[str, list[int]]]
    lines: list[StrategyLine]


def measure(calls: Sequence[AgentCall], name: str, plan: CostPlan, url: str | None) -> CostReport:
    """All figures of a conversation's calls, through the pipeline once for each memory and way of observing.

    Raises InvalidInputError for a model whose prices or cache rules are not known, SettingsError and StoreError.
    """
    count = counter()
    added = rendered(calls, count)
    stages = [Comparison(actor, calls, plan, prompt(plan.system), added) for actor in plan.actors]
    memories = replays(calls, plan, count, url)
    outputs = [call.output for call in calls]
    return CostReport(
        conversation=name,
        calls=len(calls),
        input=round((sum(map(size, added)) - sum(outputs[:-1])) / len(calls)),
        output=round(mean(outputs)),
        prices=f"genai-prices {version('genai-prices')}, of {PRICED:%Y-%m-%d %H:%M} UTC",
        plan=plan,
        sizes=list(_sizes(memories)),
        tiers={name: memory.extractive.steady.tiers for name, memory in memories.items()},
        lines=[line for stage in stages for line in stage.lines(memories)],
    )


def _sizes(memories: Mapping[str, Memories]) -> Iterator[Size]:
    for settings, memory in memories.items():
        for observer, found in ((EXTRACTIVE, memory.extractive.steady), ("a model", memory.model.steady)):
            yield Size(
                settings=settings,
                observer=observer,
                read=round(mean(found.read)),
                most=max(found.read),
                remembered=found.remembered,
                asked=sum(map(len, found.asked)),
                phi=found.phi,
                prefix_share=found.prefix_share,
            )


def drawings(found: CostReport) -> dict[str, Picture]:
    """Dollars over calls for the first actor, and the tiers of the first memory."""
    shown = [line for line in found.lines if line.actor == found.plan.actors[0] and line.observer in {"", EXTRACTIVE}]
    money = {title(line): line.series for line in shown}
    return {
        "cost": pictures.lines(
            money, range(1, found.calls + 1), ("calls", f"dollars, {found.plan.actors[0]}"), log=True
        ),
        "tiers": pictures.tiers(next(iter(found.tiers.values())), ("calls", "tokens read with a call")),
    }


def as_lines(found: CostReport) -> Iterator[str]:
    """The figures as Markdown, which reads well on a terminal too."""
    yield (
        f"{found.conversation}: {found.calls} calls, {found.input:,} tokens in and {found.output} out a call, behind a"
        f" system prompt of {found.plan.system:,}. Windows are of {found.plan.window:,} tokens. A model makes one token of"
        f" notes of {found.plan.ratio:g} of messages. Prices: {found.prices}."
    )
    yield ""
    yield from (f"- *{name}*: {_written(settings)}" for name, settings in found.plan.settings.items())
    yield from _factors(found)
    sized = (
        "settings",
        "observer",
        "tokens read a call",
        "at most",
        "of these memory",
        "background calls",
        "phi",
        "prefix share",
    )
    yield from table(sized, [
        [
            each.settings, each.observer, f"{each.read:,}", f"{each.most:,}", f"{each.remembered:,}", each.asked,
            f"{each.phi:.2f}", f"{each.prefix_share:.1%}",
        ]
        for each in found.sizes
    ])  # fmt: skip
    for actor in found.plan.actors:
        yield f"\n`{actor}`"
        yield from _bills([line for line in found.lines if line.actor == actor])


def _written(settings: Sequence[str]) -> str:
    return ", ".join(f"`{each.replace('=', ': ')}`" for each in settings) or "every setting at its default"


def _factors(found: CostReport) -> Iterator[str]:
    """How many times cheaper than the cached full history, and the same where the user is away now and then."""
    rows: dict[str, list[str]] = {}
    for line in found.lines:
        rows.setdefault(title(line), []).append(f"{line.factor:.1f} ({line.with_breaks:.1f})")
    head = ["times cheaper (with breaks)", *(f"`{actor}`" for actor in found.plan.actors)]
    yield from table(head, [[name, *factors] for name, factors in rows.items()])


def title(line: StrategyLine) -> str:
    """A line by its name."""
    return f"memory, {line.settings}: {line.observer}" if line.strategy == MEMORY else line.strategy


def _bills(lines: Sequence[StrategyLine]) -> Iterator[str]:
    yield from table(["", "fresh", "cached", "written", "output", "background in", "out", "dollars", "times cheaper"], [
        [
            title(line), *(f"{each:,}" for each in (
                line.answering.fresh, line.answering.cached, line.answering.written, line.answering.output,
                line.remembering.fresh + line.remembering.cached + line.remembering.written, line.remembering.output,
            )), f"{line.dollars:.2f}", f"{line.factor:.1f}",
        ]
        for line in lines
    ])  # fmt: skip
