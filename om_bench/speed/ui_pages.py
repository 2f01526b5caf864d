"""`om bench pages`: what a long memory's page takes `om api`, what open pages take it, and when a browser paints first."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx2
from playwright.sync_api import sync_playwright

from om_api import Message, ObservationalMemory, load_settings
from om_api.cli.embedded import end, free_port, launch
from om_bench.harness.processes import cpu_s, wait
from om_bench.speed.measure import Measured, machine
from om_bench.speed.stand import Figure, Stand, stand

_PREFIX = "om-bench:pages"
_BATCH, _LOADS = 500, 20
_SAID = "Parcel {} lies in Oslo, and waits for somebody who takes it home before the winter comes."
_WARM_S, _STOP_S = 2.0, 15
_API = "from om_api.cli import main; main()"
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


class PagesPlan(NamedTuple):
    """How many messages an agent has, how many pages are open, how often something happens, and for how many seconds."""

    messages: int = 10_000
    open: int = 200
    rate: float = 5
    seconds: float = 20


class _Serving(NamedTuple):
    url: str
    pid: int


def measure(plan: PagesPlan, url: str | None) -> Measured:
    """All of it on one store."""
    with stand(url) as made:
        environ = _environ(made, plan)
        with ObservationalMemory(load_settings(environ=environ)) as om, _serving(environ) as api:
            figures = [*_of_agents(om, api, plan), _of_open_pages(om, api, plan), *_of_a_browser(api)]
        return Measured(f"{datetime.now(UTC):%Y-%m-%d}", machine(made.bare.info("server")), figures)


def _environ(made: Stand, plan: PagesPlan) -> dict[str, str]:
    """Settings with which all messages stay raw."""
    threshold = str(min(10_000_000, 1_000 * plan.messages))
    return {
        "OM_REDIS_URL": made.url,
        "OM_PREFIX": _PREFIX,
        "OM_MESSAGE_THRESHOLD": threshold,
        "OM_TOKENIZER": "estimate",
    }


@contextmanager
def _serving(environ: dict[str, str]) -> Iterator[_Serving]:
    port, clean = free_port(), {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    command = [sys.executable, "-c", _API, "api", "--without-keys", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    with Path(os.devnull).open("wb") as nowhere:
        process = launch(command, output=nowhere, environ=clean | environ)
    try:
        wait(lambda: _answers(url), "om api")
        yield _Serving(url, process.pid)
    finally:
        end(process, _STOP_S)


def _answers(url: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{url}/healthz").is_success
    return False


def _of_agents(om: ObservationalMemory, api: _Serving, plan: PagesPlan) -> Iterator[Figure]:
    """An agent's page: of a single thread, and of a hundred."""
    for agent, threads in (("single", 1), ("hundred", 100)):
        for start in range(0, plan.messages, _BATCH):
            numbers = range(start, min(start + _BATCH, plan.messages))
            om.add_messages([_message(agent, n, n * threads // plan.messages) for n in numbers])
        with httpx2.Client(base_url=api.url, timeout=120) as browser:
            browser.get(f"/ui/agents/{agent}").raise_for_status()
            before, took = cpu_s(api.pid), [_load(browser, agent) for _ in range(_LOADS)]
        own = (cpu_s(api.pid) - before) / _LOADS
        work = f"an agent's page, {plan.messages:,} messages in {threads} threads"
        yield Figure(
            work=work,
            ours=f"{1e3 * median(took):,.0f} ms",
            reference=f"{1e3 * own:,.0f} ms of processor time",
            value=1e3 * median(took),
            reach=150,
            unit="ms",
        )


def _message(agent: str, n: int, thread: int) -> Message:
    return Message(role="user", content=_SAID.format(n), resource_id=agent, thread_id=f"t-{thread}")


def _load(browser: httpx2.Client, agent: str) -> float:
    began = time.perf_counter()
    browser.get(f"/ui/agents/{agent}").raise_for_status()
    return time.perf_counter() - began


def _of_open_pages(om: ObservationalMemory, api: _Serving, plan: PagesPlan) -> Figure:
    """What pages that listen take of a core, while something happens."""
    share, heard = asyncio.run(_listened(om, api, plan))
    return Figure(
        work=f"{plan.open} open pages, {plan.rate:g} events a second",
        ours=f"{100 * share:.1f} % of a core",
        reference=f"{heard:,} bytes were heard",
        value=100 * share,
        reach=10,
        unit="%",
    )


async def _listened(om: ObservationalMemory, api: _Serving, plan: PagesPlan) -> tuple[float, int]:
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=api.url, timeout=None, limits=limits) as browser:
        heard = [0] * plan.open
        pages = [asyncio.create_task(_listen(browser, heard, n)) for n in range(plan.open)]
        await asyncio.sleep(_WARM_S)
        before, until = cpu_s(api.pid), time.perf_counter() + plan.seconds
        began = time.perf_counter()
        while time.perf_counter() < until:
            await asyncio.to_thread(om.pause if time.perf_counter() % 1 < 1 / 2 else om.resume, "single")
            await asyncio.sleep(1 / plan.rate)
        share = (cpu_s(api.pid) - before) / (time.perf_counter() - began)
        for page in pages:
            page.cancel()
        await asyncio.gather(*pages, return_exceptions=True)
        return share, sum(heard)


async def _listen(browser: httpx2.AsyncClient, heard: list[int], n: int) -> None:
    async with browser.stream("GET", "/ui/live/changes") as answer:
        async for piece in answer.aiter_raw():
            heard[n] += len(piece)


def _of_a_browser(api: _Serving) -> Iterator[Figure]:
    """When Chromium paints the agents' page first; nothing where there is none."""
    path = shutil.which("chromium")
    if path is None:
        return
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=Path(path), args=options, timeout=120_000)
        page, took = browser.new_page(), list[float]()
        for _ in range(5):
            page.goto(f"{api.url}/ui/agents", timeout=120_000)
            page.wait_for_timeout(500)
            took.append(float(page.evaluate(_PAINT)))
        browser.close()
    yield Figure(
        work="first paint of the agents' page in Chromium",
        ours=f"{median(took):,.0f} ms",
        reference="-",
        value=median(took),
        reach=1_000,
        unit="ms",
    )
