"""An `om api` of its own that a measurement asks for pages, what they take it, and when a browser paints one first."""

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx2
from playwright.sync_api import sync_playwright

from om_api import Settings, load_settings
from om_api.cli.embedded import end, free_port, launch
from om_api.store.driver.connection import connected
from om_api.store.fleet import api_key_records, sessions
from om_api.store.memory.keys import Keys
from om_bench.harness.processes import cpu_s, wait

_API = "from om_api.cli import main; main()"
_STOP_S, _LOADS, _PAINTS, _PATIENCE_MS = 15, 20, 5, 120_000
_BROWSER = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


class PageLoad(NamedTuple):
    """What a page takes: seconds until it is there, the middle of many, and of those the API's processor time."""

    seconds: float
    own: float


class Viewer(NamedTuple):
    """Somebody who signed in: the header with their key, and the cookie of their session."""

    headers: dict[str, str]
    cookies: dict[str, str]


class Serving(NamedTuple):
    """An API at an address, in a process, that knows the keys of a store."""

    url: str
    pid: int
    settings: Settings

    def viewer(self) -> Viewer:
        """Somebody with a key of their own, who may see everything."""
        keys = Keys(self.settings.prefix)
        with connected(self.settings.redis_url) as connection:
            _, token = connection.run(api_key_records.create(keys, ["*"], "operator"))
            session = connection.run(sessions.begin(keys, token.proof))
        return Viewer({"Authorization": f"Bearer {token}"}, {"om_session": session})

    def load(self, path: str) -> PageLoad:
        """What it takes to answer for a page."""
        with httpx2.Client(base_url=self.url, timeout=120, cookies=self.viewer().cookies) as client:
            client.get(path).raise_for_status()
            before, took = cpu_s(self.pid), [_seconds(client, path) for _ in range(_LOADS)]
        return PageLoad(median(took), (cpu_s(self.pid) - before) / _LOADS)

    def first_paint(self, path: str) -> float | None:
        """Seconds until Chromium paints something of a page, the middle of some; None where there is no Chromium."""
        browsers = shutil.which("chromium")
        if browsers is None:
            return None
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=browsers, args=_BROWSER, timeout=_PATIENCE_MS)
            context = browser.new_context()
            cookies = self.viewer().cookies
            context.add_cookies([{"name": name, "value": text, "url": self.url} for name, text in cookies.items()])
            page, took = context.new_page(), list[float]()
            for _ in range(_PAINTS):
                page.goto(f"{self.url}{path}", timeout=_PATIENCE_MS)
                wait(lambda: page.evaluate(_PAINTED) > 0, "the first paint")
                took.append(float(page.evaluate(_PAINTED)) / 1e3)
            browser.close()
        return median(took)


@contextmanager
def serving(environ: Mapping[str, str]) -> Iterator[Serving]:
    """An API with these settings while the block runs."""
    port, clean = free_port(), {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    command = [sys.executable, "-c", _API, "api", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    with Path(os.devnull).open("wb") as nowhere:
        process = launch(command, output=nowhere, environ={**clean, **environ})
    try:
        wait(lambda: _answers(url), "om api")
        yield Serving(url, process.pid, load_settings(environ=environ))
    finally:
        end(process, _STOP_S)


def _answers(url: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{url}/healthz").is_success
    return False


def _seconds(client: httpx2.Client, path: str) -> float:
    began = time.perf_counter()
    client.get(path).raise_for_status()
    return time.perf_counter() - began
