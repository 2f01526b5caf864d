"""`om bench agents`: what a page of all agents costs, once the table is filled, what filling it takes, and the page itself."""

import time
import tracemalloc
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from statistics import median, quantiles
from typing import Any

import httpx2
import msgspec

from om_api import ObservationalMemory
from om_api.client.fleet.agent_rows import Row
from om_api.client.fleet.agent_table import AgentTable, Column, Filter
from om_api.client.fleet.agents import Agents
from om_bench.harness.page import table
from om_bench.harness.processes import wait
from om_bench.harness.serving import PageLoad, Serving, serving
from om_bench.scale.population import Population, population
from om_bench.speed.measure import machine

_ORDERS: tuple[Column, ...] = ("pressure", "lag", "cost", "activity")
_PATH = "/ui/agents"
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
    """What was found of so many agents: seconds until the first page, until all were read, bytes of a row, and the pages.

    `html` is what the one under /ui takes an `om api`, `paint` the seconds until a browser paints it (None: there is none).
    """

    agents: int
    day: str
    machine: str
    first_page: float
    fill: float
    row_bytes: float
    pages: list[PageCost]
    html: PageLoad
    paint: float | None


def measure(agents: int) -> Paging:
    """Fill a store, then a table of it, and turn its pages."""
    with population(agents) as made, ObservationalMemory(made.running.om.settings) as memory:
        began = time.perf_counter()
        memory.agents()
        first_page = time.perf_counter() - began
        fill = _filled(memory)
        pages = [_pages(memory, kind, asked) for kind, asked in _KINDS.items()]
        html, paint = _in_a_browser(made)
        return Paging(
            agents=agents,
            day=f"{datetime.now(UTC):%Y-%m-%d}",
            machine=machine(made.servers.nodes[0].info("server")),
            first_page=first_page,
            fill=first_page + fill,
            row_bytes=_row_bytes(agents),
            pages=pages,
            html=html,
            paint=paint,
        )


def _in_a_browser(made: Population) -> tuple[PageLoad, float | None]:
    """The page of an API that has read all of them."""
    with serving(made.environ) as api:
        wait(lambda: _has_read_all(api), "all agents", 1, 600)
        return api.load(_PATH), api.first_paint(_PATH)


def _has_read_all(api: Serving) -> bool:
    answer = httpx2.get(f"{api.url}/v1/agents", headers=api.viewer().headers, timeout=60)
    return bool(answer.raise_for_status().json()["complete"])


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
    painted = f"Chromium paints it first after {1e3 * found.paint:,.0f} ms" if found.paint else "there was no Chromium"
    yield (
        f"\nThe page of them of an `om api` that read them all: {1e3 * found.html.seconds:,.0f} ms,"
        f" {1e3 * found.html.own:,.0f} ms of its processor time; {painted}."
    )


def _cells(page: PageCost) -> list[str]:
    return [page.kind, *(f"{1e3 * each:,.1f} ms" for each in (page.first, page.middle, page.slowest, page.own))]
