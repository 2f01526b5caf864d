"""`om bench scale`: the same work among many agents and among a thousand, in turns."""

import resource
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import median

import msgspec

from om_bench.harness.page import table
from om_bench.scale.population import population
from om_bench.scale.templates import MIX
from om_bench.scale.works import Stage, Work, works
from om_bench.speed.measure import machine

FEW = 1_000


class ScalePlan(msgspec.Struct, frozen=True, kw_only=True):
    """So many agents on so many servers, so many of them active in a minute."""

    agents: int
    active: int
    servers: int = 1


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What an act costs: seconds, those of processors meanwhile, ours and the servers', and requests to the servers."""

    seconds: float
    own: float
    server: float
    requests: float

    @property
    def work(self) -> float:
        """Seconds of all processors, which tell more than those that passed where others are at work too."""
        return self.own + self.server


class ScaleRow(msgspec.Struct, frozen=True, kw_only=True):
    """An act among few agents, and among all of them."""

    work: str
    few: Cost
    many: Cost


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What was found: the bytes that an agent takes, the seconds that filling took, and a row for each act."""

    plan: ScalePlan
    day: str
    machine: str
    bytes: float
    bytes_of_few: float
    filled: float
    rows: list[ScaleRow]


def measure(plan: ScalePlan) -> Scale:
    """Fill two populations, each on servers of its own, and measure in both."""
    with population(FEW, plan.servers) as few, population(plan.agents, plan.servers) as many:
        stages = [Stage(each, plan.active) for each in (few, many)]
        return Scale(
            plan=plan,
            day=f"{datetime.now(UTC):%Y-%m-%d}",
            machine=machine(many.servers.nodes[0].info("server")),
            bytes_of_few=few.bytes,
            bytes=many.bytes,
            filled=many.seconds,
            rows=[_row(work, stages) for work in works(plan.active)],
        )


def _row(work: Work, stages: Sequence[Stage]) -> ScaleRow:
    """An act in both populations in turns, so that what slows the machine down slows both."""
    rounds = [[_cost(work, stage, n) for stage in stages] for n in range(work.rounds)]
    few, many = (_middle(costs) for costs in zip(*rounds, strict=True))
    return ScaleRow(work=work.name, few=few, many=many)


def _cost(work: Work, stage: Stage, n: int) -> Cost:
    """What an act costs, without what it costs the servers to be asked for that."""
    servers = stage.population.servers
    work.before(stage, n)
    first, second, began, own = servers.spent(), servers.spent(), time.perf_counter(), _own()
    for again in range(work.times):
        work.do(stage, n * work.times + again)
    seconds, own, last = time.perf_counter() - began, _own() - own, servers.spent()
    shares = work.times * work.of(stage)
    server = max(0.0, last.cpu - second.cpu - (second.cpu - first.cpu))
    requests = last.requests - second.requests - (second.requests - first.requests)
    return Cost(seconds=seconds / shares, own=own / shares, server=server / shares, requests=requests / shares)


def _own() -> float:
    """Seconds of processor time of this process, and of those that it started and that have ended."""
    told = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in told)


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(**{name: median(getattr(each, name) for each in costs) for name in Cost.__struct_fields__})


def as_lines(found: Scale) -> Iterator[str]:
    """What was found, as Markdown."""
    plan = found.plan
    where = "one server" if plan.servers == 1 else f"a Cluster of {plan.servers} servers"
    yield (
        f"Measured on {found.day}: {found.machine}. {plan.agents:,} agents on {where}, made in {found.filled:,.0f} s:"
        f" {'; '.join(map(str, MIX))}. They take {found.bytes:,.0f} bytes each ({found.bytes_of_few:,.0f} where there"
        f" are {FEW:,})."
    )
    head = ["what", f"{FEW:,} agents", f"{plan.agents:,} agents", "ratio", "requests"]
    yield from table(head, map(_cells, found.rows))


def _cells(row: ScaleRow) -> list[str]:
    ratio = f"{row.many.work / max(row.few.work, 1e-9):.2f} x"
    return [row.work, _told(row.few), _told(row.many), ratio, f"{row.many.requests:,.1f}"]


def _told(cost: Cost) -> str:
    return f"{1e3 * cost.seconds:,.2f} ms ({1e3 * cost.own:,.2f} + {1e3 * cost.server:,.2f})"
