"""A browser, and pages that it opens. Without TEST_PAGES, which `make pages` sets, nothing here is collected."""

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from programs import program

from browser.serving import Site
from browser.visiting import Visit

collect_ignore_glob = [] if os.environ.get("TEST_PAGES") else ["test_*.py"]
_BUSY_MS = 60_000  # in which a page shows what it is to show, however slow the machine
_OPTIONS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """`make nightly` uses every page; one journey is a smoke test."""
    if not item.get_closest_marker("smoke"):
        item.add_marker("nightly")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser of the machine; without one skipped, in CI failed."""
    path = program("chromium")
    expect.set_options(timeout=_BUSY_MS)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=_OPTIONS, timeout=90_000)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Pages that need a key, of a store that the tests of one file share."""
    folder: Path = tmp_path_factory.mktemp("site")
    with Site(folder, server_url, f"pages-{secrets.token_hex(4)}:om") as started:
        yield started


@pytest.fixture
def agent() -> str:
    """The name of an agent that no other test uses."""
    return f"harold-{secrets.token_hex(3)}"


@pytest.fixture
def browsers(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Open a browser that knows nothing yet on the pages at an address; what went wrong in it fails the test."""
    visits: list[Visit] = []

    def opened(url: str, **options: Any) -> Visit:
        visits.append(Visit(chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options}), url))
        return visits[-1]

    yield opened
    for visit in visits:
        visit.context.close()
    for visit in visits:
        visit.check()


@pytest.fixture
def signed_in(site: Site, browsers: Callable[..., Visit]) -> Callable[..., Visit]:
    """Open a browser that is signed in: `signed_in("reader", "harold")`; as operator of all agents by default."""

    def begun(role: str = "operator", *resources: str, **options: Any) -> Visit:
        return holding(browsers(site.api.url, **options), site, *site.key(role, *resources)[1:])

    return begun


def holding(visit: Visit, site: Site, token: Any) -> Visit:
    """A browser with the cookie of a session that a key began."""
    cookie: Any = {"name": "om_session", "value": site.session(token), "domain": "127.0.0.1", "path": "/ui"}
    visit.context.add_cookies([cookie])
    return visit
