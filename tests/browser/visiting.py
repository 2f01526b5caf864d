"""A browser's tab that is watched: whatever goes wrong in it unasked fails the test."""

import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, expect

_AXE = Axe()
_SETTLES_MS = 60_000  # of a page to load, however slow the machine


class Visit:
    """One browser, signed in or not, on the pages at `url`; `faults` is what went wrong in any of its tabs."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context, self.url = context, url
        self.faults: list[str] = []
        self._expected: list[str] = []
        context.set_default_timeout(_SETTLES_MS)
        context.on("page", self._watch)
        self.page = context.new_page()

    def expect(self, pattern: str) -> None:
        """Let the console say this: a page was asked for on purpose that cannot be had."""
        self._expected.append(pattern)

    def go(self, path: str) -> int:
        """Open a page of ours; its status."""
        answer = self.page.goto(self.url + path)
        assert answer is not None
        return answer.status

    def press(self, name: str) -> None:
        """Press the button of this name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def told(self, text: str) -> None:
        """Wait until the page says that this was done."""
        expect(self.page.locator("p.done")).to_contain_text(text)

    def check(self) -> None:
        """Fail where anything went wrong."""
        wrong = [each for each in self.faults if not any(re.search(pattern, each) for pattern in self._expected)]
        assert wrong == [], wrong

    def _watch(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"error in {page.url}: {error}"))
        page.on("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type} on the console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/ui", "data:")):
            self.faults.append(f"asked elsewhere: {request.url}")


def barriers(page: Page) -> list[str]:
    """What axe finds that keeps somebody from using a page."""
    found: list[dict[str, Any]] = _AXE.run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"][:3]]


def overflow(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide
