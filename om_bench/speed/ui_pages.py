"""`om bench pages`: what a long memory's page takes `om api`, and what pages take it that stay open while something happens."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import NamedTuple

import httpx2

from om_api import Message, ObservationalMemory, load_settings
from om_api.domain.errors import StoreError
from om_bench.harness.processes import cpu_s
from om_bench.harness.serving import Serving, serving
from om_bench.speed.measure import Measured, machine
from om_bench.speed.stand import Figure, Stand, stand

_PREFIX = "om-bench:pages"
_BATCH = 500
_SAID = "Parcel {} lies in Oslo, and waits for somebody who takes it home before the winter comes."
_WARM_S = 5.0
_OF_ONE = 20  # pages that one viewer has open
_CHANGED = "event: om-change"


class PagesPlan(NamedTuple):
    """How many messages an agent has, how many pages are open, how often something happens, and for how many seconds."""

    messages: int = 10_000
    open: int = 200
    rate: float = 5
    seconds: float = 20


class _Open(NamedTuple):
    """A page as a browser holds it open: its address, whose events it hears, and how long it waits before it looks again."""

    path: str
    resource: str
    pause_s: float


def measure(plan: PagesPlan, url: str | None) -> Measured:
    """All of it on one store."""
    with stand(url) as made:
        environ = _environ(made, plan)
        with ObservationalMemory(load_settings(environ=environ)) as om, serving(environ) as api:
            figures = [*_of_agents(om, api, plan), *_of_open_pages(om, api, plan)]
        return Measured(f"{datetime.now(UTC):%Y-%m-%d}", machine(made.bare.info("server")), figures)


def _environ(made: Stand, plan: PagesPlan) -> dict[str, str]:
    """Settings with which all messages stay raw."""
    threshold = str(min(10_000_000, 1_000 * plan.messages))
    return {
        "OM_REDIS_URL": made.url,
        "OM_PREFIX": _PREFIX,
        "OM_MESSAGE_THRESHOLD": threshold,
        "OM_TOKENIZER": "estimate",
        "OM_API__CONNECTIONS_PER_ADDRESS": "800",  # everybody looks from this machine
    }


def _of_agents(om: ObservationalMemory, api: Serving, plan: PagesPlan) -> Iterator[Figure]:
    """An agent's page: of a single thread, and of a hundred."""
    for agent, threads in (("single", 1), ("hundred", 100)):
        for start in range(0, plan.messages, _BATCH):
            numbers = range(start, min(start + _BATCH, plan.messages))
            om.add_messages([_message(agent, n, n * threads // plan.messages) for n in numbers])
        took = api.load(f"/ui/agents/{agent}")
        yield Figure(
            work=f"an agent's page, {plan.messages:,} messages in {threads} threads",
            ours=f"{1e3 * took.seconds:,.0f} ms",
            reference=f"{1e3 * took.own:,.0f} ms of processor time",
            value=1e3 * took.seconds,
            reach=150,
            unit="ms",
        )


def _message(agent: str, n: int, thread: int) -> Message:
    return Message(role="user", content=_SAID.format(n), resource_id=agent, thread_id=f"t-{thread}")


def _of_open_pages(om: ObservationalMemory, api: Serving, plan: PagesPlan) -> Iterator[Figure]:
    """What pages that are open take of a core: each of another agent, and all of them the table of agents."""
    agents = [f"agent-{n}" for n in range(plan.open)]
    om.add_messages([_message(agent, n, 0) for agent in agents for n in range(10)])
    for what, pages in (
        ("pages, each of another agent,", [_Open(f"/ui/agents/{agent}", agent, 1) for agent in agents]),
        ("tables of agents", [_Open("/ui/agents", "", 2)] * plan.open),
    ):
        share, looked = asyncio.run(_listened(om, api, plan, pages))
        yield Figure(
            work=f"{plan.open} {what} open, {plan.rate:g} events a second",
            ours=f"{100 * share:.1f} % of a core",
            reference=f"{looked} looked again in {plan.seconds:g} s",
            value=100 * share,
            reach=10,
            unit="%",
        )


async def _listened(
    om: ObservationalMemory, api: Serving, plan: PagesPlan, pages: Sequence[_Open]
) -> tuple[float, int]:
    """The share of a core that the API took, and how often pages looked again."""
    limits = httpx2.Limits(max_connections=None)
    viewers = [api.viewer().cookies for _ in range(0, len(pages), _OF_ONE)]
    async with AsyncExitStack() as held:
        made = [httpx2.AsyncClient(base_url=api.url, timeout=None, limits=limits, cookies=each) for each in viewers]
        browsers = [await held.enter_async_context(each) for each in made]
        looked = [0] * len(pages)
        opened = [asyncio.create_task(_opened(browsers[n // _OF_ONE], page, looked, n)) for n, page in enumerate(pages)]
        await asyncio.sleep(_WARM_S)
        before, began, seen = cpu_s(api.pid), time.perf_counter(), sum(looked)
        while time.perf_counter() < began + plan.seconds:
            agent = f"agent-{random.randrange(plan.open)}"
            await asyncio.to_thread(random.choice([om.pause, om.resume]), agent)
            await asyncio.sleep(1 / plan.rate)
        share = (cpu_s(api.pid) - before) / (time.perf_counter() - began)
        ended = [page.exception() for page in opened if page.done()]
        for page in opened:
            page.cancel()
        await asyncio.gather(*opened, return_exceptions=True)
    if ended:
        raise StoreError(f"{len(ended)} of {len(opened)} pages did not stay open: {ended[0]!r}")
    return share, sum(looked) - seen


async def _opened(browser: httpx2.AsyncClient, page: _Open, looked: list[int], n: int) -> None:
    """Listen as the page's script does, and look again when something changed."""
    changed = asyncio.Event()

    async def look() -> None:
        while await changed.wait():
            changed.clear()
            (await browser.get(page.path)).raise_for_status()
            looked[n] += 1
            await asyncio.sleep(page.pause_s)

    async def listen() -> None:
        async with browser.stream("GET", "/ui/live/changes", params={"resource": page.resource}) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line == _CHANGED:
                    changed.set()

    await asyncio.gather(look(), listen())
