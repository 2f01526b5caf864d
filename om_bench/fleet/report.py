"""What `om bench fleet` says: what was measured and simulated, what millions of agents take, and what is full first."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version

import msgspec

from om_bench.cost.bills import PRICED
from om_bench.fleet.load import ASSUMED, Ground, Load
from om_bench.fleet.reproduced import reproduced
from om_bench.fleet.simulation import Played
from om_bench.fleet.sizing import Limit, Sizes, Sizing
from om_bench.fleet.unit_costs import UnitCosts
from om_bench.harness.page import table

_OFF = 0.15


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    """The busiest hour: waits in seconds, the longest queue, what worked for which share of the time, what was not done."""

    seconds: float
    tasks: int
    p50: float
    p99: float
    queue: int
    places: int
    busy: dict[str, float]


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A measured point beside the simulation's; `cores` of the machine were left for it by whatever else ran there."""

    what: str
    measured: float
    simulated: float
    unit: str
    by: str
    off: float
    cores: float | None


class FleetReport(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. Nothing depends on the machine it is made on, so two runs write the same bytes."""

    costs: UnitCosts
    load: Load
    ground: Ground
    compared: list[Compared]
    sizes: list[Sizes]
    limits: list[list[Limit]]
    simulated: list[Simulated]


def measure(costs: UnitCosts, load: Load, ground: Ground, agents: Sequence[float]) -> FleetReport:
    """Everything for some numbers of agents; raises InvalidInputError for a model whose price nobody knows."""
    sizing = Sizing(costs, load, ground)
    sizes = [sizing.sizes(each) for each in agents]
    return FleetReport(
        costs=costs,
        load=load,
        ground=ground,
        compared=[
            Compared(
                what=each.point.what, measured=each.point.value, simulated=round(each.simulated, 2),
                unit=each.point.unit, by=each.point.by, off=round(each.off, 3), cores=each.point.setup.get("cores"),
            )
            for each in reproduced(costs)
        ],
        sizes=sizes,
        limits=[list(sizing.limits(each)) for each in agents],
        simulated=[
            _told(sizing.played(size.agents), size.workers * ground.threads) for size in sizes
        ],
    )  # fmt: skip


def _told(played: Played, places: int) -> Simulated:
    return Simulated(
        seconds=round(played.seconds, 1), tasks=len(played.waits), p50=round(played.wait(0.5), 1), queue=played.queue,
        p99=round(played.wait(0.99), 1), places=places, busy={name: round(share, 3) for name, share in played.busy.items()},
    )  # fmt: skip


def as_lines(found: FleetReport) -> Iterator[str]:
    """The figures as Markdown."""
    costs = found.costs
    yield "### What was measured, and what the simulation makes of it"
    yield f"\nMeasured on {costs.day}: {costs.machine}; all processes of a fleet, its store, its broker and its model"
    yield "share them with whatever else ran."
    yield from table(
        ["what", "cores left", "measured", "simulated", "off by", "measured by"],
        [_compared(each) for each in found.compared],
    )
    yield from _bases(found)
    yield "\n### How large"
    yield from _sizes(found)
    yield "\n### How much a month"
    yield from _dollars(found)
    yield "\n### What is full first"
    yield from _limits(found)
    yield "\n### The busiest hour, simulated"
    yield from _simulated(found)


def _compared(each: Compared) -> Sequence[str]:
    cores = f"{each.cores:g}" if each.cores else "-"
    both = (_number(value, each.unit) for value in (each.measured, each.simulated))
    return [each.what, cores, *both, _off(each.off), f"`{each.by}`"]


def _off(share: float) -> str:
    return f"**{share:+.0%}**" if abs(share) > _OFF else f"{share:+.0%}"


def _number(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1  # noqa: PLR2004 -- three digits are enough for anybody
    return f"{value:,.{digits}f} {unit}".rstrip()


def _bases(found: FleetReport) -> Iterator[str]:
    yield "\n### What it stands on"
    yield "\n*Measured*:"
    yield from table(
        ["unit cost", "value", "measured by"],
        [(each.what, f"{each.value:,.6g} {each.unit}".rstrip(), f"`{each.by}`") for each in found.costs.units.values()],
    )
    yield "\n*Assumed*, each to be said otherwise where an option stands:"
    stated = {**msgspec.structs.asdict(found.load), **msgspec.structs.asdict(found.ground)}
    yield from table(
        ["assumption", "value", "said otherwise by"],
        [
            (what, _plain(stated[name]), f"`{by}`" if by.startswith("--") else by)
            for name, (what, by) in ASSUMED.items()
        ],
    )


def _plain(value: object) -> str:
    return f"{value:,.10g}" if isinstance(value, int | float) else f"`{value}`"


def _sizes(found: FleetReport) -> Iterator[str]:
    rows = (
        ("pushes a second", lambda each: _number(each.pushes, "")),
        ("contexts a second", lambda each: _number(each.contexts, "")),
        ("calls of models a second", lambda each: _number(each.calls, "")),
        ("calls in flight", lambda each: _number(each.in_flight, "")),
        ("tokens a minute, to and from models", lambda each: f"{each.tokens_a_minute / 1e6:,.1f} million"),
        ("memory, what contexts read", lambda each: _bytes(each.now_bytes)),
        ("memory, the sources behind it", lambda each: _bytes(each.past_bytes)),
        ("the same sources in an archive", lambda each: _bytes(each.archive_bytes)),
        ("cores of stores at work", lambda each: _number(each.store_cores, "")),
        ("primaries, everything in memory", lambda each: f"{each.primaries:,}, and a replica each"),
        ("primaries, sources in an archive", lambda each: f"{each.primaries_archive:,}, and a replica each"),
        ("partitions", lambda each: f"{each.partitions:,}"),
        ("worker processes", lambda each: f"{each.workers:,}"),
        ("memory of these", lambda each: _bytes(each.workers_bytes)),
        ("an hour without workers is made good in", lambda each: f"{each.made_good_s / 3600:.1f} h"),
        ("cores of workers at work", lambda each: _number(each.worker_cores, "")),
        ("cores of the agents' own processes, for pushes and contexts", lambda each: _number(each.client_cores, "")),
    )  # fmt: skip
    yield from table(_head(found), [(what, *map(show, found.sizes)) for what, show in rows])


def _head(found: FleetReport) -> list[str]:
    return ["in the busiest hour", *(f"{_agents(each.agents)} agents" for each in found.sizes)]


def _agents(count: float) -> str:
    return f"{float(f'{count:.2g}'):,.0f}"


def _bytes(size: float) -> str:
    unit, name = next((unit, name) for unit, name in ((1e12, "TB"), (1e9, "GB"), (0, "MB")) if size >= unit)
    return f"{size / (unit or 1e6):,.1f} {name}"


def _dollars(found: FleetReport) -> Iterator[str]:
    head = ["dollars a month", *_head(found)[1:]]
    yield (
        f"\nModels by genai-prices {version('genai-prices')}, of {PRICED:%Y-%m-%d %H:%M} UTC, without any cache; servers with a"
        " replica each."
    )
    names = found.sizes[0].dollars
    yield from table(head, [(name, *(f"{each.dollars[name]:,.0f}" for each in found.sizes)) for name in names])


def _limits(found: FleetReport) -> Iterator[str]:
    first = found.limits[0]
    yield (
        f"\nOf servers and workers there are as many as are wanted. What there is one of, by the agents with which it is full:"
        f" *{first[0].what}* comes first, at {_agents(first[0].full_at)} agents; of what is our own *"
        f"{next(each for each in first if not each.what.startswith('model:')).what}*."
    )
    shares = [{limit.what: limit.share for limit in limits} for limits in found.limits]
    yield from table(
        ["what", "full at", *_head(found)[1:], "then"],
        [(each.what, f"{_agents(each.full_at)} agents", *(_share(share[each.what]) for share in shares), each.then)
         for each in first],
    )  # fmt: skip


def _share(share: float) -> str:
    said = f"{share:,.0%}" if share > 0.1 else f"{share:.1%}"  # noqa: PLR2004 -- digits enough for anybody
    return f"**{said}**" if share > 1 else said


def _simulated(found: FleetReport) -> Iterator[str]:
    yield from table(
        ["agents", "seconds played", "tasks begun", "wait, p50", "p99", "longest queue (bound)", *(
            f"{name} busy" for name in found.simulated[0].busy)],
        [(_agents(size.agents), f"{each.seconds:g}", f"{each.tasks:,}", f"{each.p50:g} s", f"{each.p99:g} s",
          f"{each.queue:,} ({each.places:,})", *(f"{share:.0%}" for share in each.busy.values()))
         for size, each in zip(found.sizes, found.simulated, strict=True)],
    )  # fmt: skip
