"""`om bench agents`: what a page of all agents costs, once the table is filled, and what filling it takes."""

import time
import tracemalloc
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from statistics import median, quantiles
from typing import Any

import msgspec

from om_api import ObservationalMemory
from om_api.client.fleet.agent_rows import Row
from om_api.client.fleet.agent_table import AgentTable, Column, Filter
from om_api.client.fleet.agents import Agents
from om_bench.harness.page import table
from om_bench.scale.population import population
from om_bench.speed.measure import machine

_ORDERS: tuple[Column, ...] = ("pressure", "lag", "cost", "activity")
_PAGES = 60  # of each kind, one behind the other
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "by pressure, the fullest first": {},
    "by lag": {"sort": "lag"},
    "by cost": {"sort": "cost"},
    "by name": {"sort": "resource", "descending": False},
    "those in one state": {"state": "ok"},
    "with a text in their names": {"search": "77"},
}


class PageCost(msgspec.Struct, frozen=True, kw_only=True):
    """Pages of a kind: seconds of the middle one and of one in twenty, and of that the middle of our own processor time."""

    kind: str
    first: float
    middle: float
    slowest: float
    own: float


class Paging(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of so many agents: seconds until the first page, until all were read, bytes of a row, and the pages."""

    agents: int
    day: str
    machine: str
    first_page: float
    fill: float
    row_bytes: float
    pages: list[PageCost]


def measure(agents: int) -> Paging:
    """Fill a store, then a table of it, and turn its pages."""
    with population(agents) as made, ObservationalMemory(made.running.om.settings) as memory:
        began = time.perf_counter()
        memory.agents()
        first_page = time.perf_counter() - began
        fill = _filled(memory)
        return Paging(
            agents=agents,
            day=f"{datetime.now(UTC):%Y-%m-%d}",
            machine=machine(made.servers.nodes[0].info("server")),
            first_page=first_page,
            fill=first_page + fill,
            row_bytes=_row_bytes(agents),
            pages=[_pages(memory, kind, asked) for kind, asked in _KINDS.items()],
        )


def _filled(memory: ObservationalMemory) -> float:
    """Seconds until the table holds every agent, as a server fills it that has nothing else to do."""
    began = time.perf_counter()
    while memory.read_agents():
        pass
    return time.perf_counter() - began


def _row_bytes(agents: int) -> float:
    """Bytes of this process for each agent of a table of so many, four orders of it included."""
    tracemalloc.start()
    filled = AgentTable()
    for n in range(agents):
        filled.put({f"agent-{n:07}": Row(pressure=n)})
    for column in _ORDERS:
        filled.page(Filter(), column, None, 1, descending=True)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / agents


def _pages(memory: ObservationalMemory, kind: str, asked: Mapping[str, Any]) -> PageCost:
    cursor, took, own = None, list[float](), list[float]()
    for _ in range(_PAGES):
        _filled(memory)  # as a server does in the background
        began, busy = time.perf_counter(), time.process_time()
        page: Agents = memory.agents(**asked, cursor=cursor)
        took.append(time.perf_counter() - began)
        own.append(time.process_time() - busy)
        cursor = page.next
    rest = took[1:]
    return PageCost(
        kind=kind, first=took[0], middle=median(rest), slowest=quantiles(rest, n=20)[-1], own=median(own[1:])
    )


def as_lines(found: Paging) -> Iterator[str]:
    """What was found, as Markdown."""
    yield (
        f"Measured on {found.day}: {found.machine}. {found.agents:,} agents: the first page after {found.first_page:.2f} s,"
        f" all of them read after {found.fill:.1f} s, {found.row_bytes:,.0f} bytes of the process for each."
    )
    head = ["pages of 50 agents", "the first", "median", "95th percentile", "our processor time"]
    yield from table(head, map(_cells, found.pages))


def _cells(page: PageCost) -> list[str]:
    return [page.kind, *(f"{1e3 * each:,.1f} ms" for each in (page.first, page.middle, page.slowest, page.own))]
