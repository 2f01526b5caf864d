"""Pictures of the main pages for docs/ui.md: the memories of `om demo`'s three agents. `make pages WRITE=1` writes them anew."""

import contextlib
import io
import os
import secrets
import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from pages import ROOT
from PIL import Image

from browser.serving import Site
from om_api.billing.prices import MICROS
from om_api.cli.demo import recording
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.store.fleet import samples, spending
from om_api.store.fleet.samples import TEN_MINUTES, TierSample
from om_workers.llm.extractive import Extractive

FOLDER = ROOT / "docs" / "pictures"
PICTURES = {"ui-agents": "/ui/agents", "ui-agent": "/ui/agents/harold",
    "ui-context": "/ui/agents/harold/context?thread=harold-release", "ui-generations": "/ui/agents/harold/generations",
    "ui-review": "/ui/agents/codie/review", "ui-recall": "/ui/agents/codie/recall?query=checkout+timeout+payment",
    "ui-figures": "/ui/agents/harold/figures", "ui-money": "/ui/money", "ui-live": "/ui/live",
    "ui-settings": "/ui/agents/harold/settings", "ui-manage": "/ui/agents/harold/manage",
    "ui-audit": "/ui/audit"}  # fmt: skip
OWN = {
    "harold": "timezone: Europe/Amsterdam\n  ttl_days: 30\n  observer: {instruction: Keep every ticket number and who owns it.}",
    "codie": "reflection: {review: ask}",
}
FOR_ALL = "actor_model: gemini-2.5-flash\n  budget: {dollars_per_day: 2, calls_per_day: 500}"
_MOST_BYTES = 120_000
_COLORS = 160
_WRITES = os.environ.get("TEST_PAGES") == "write"


@pytest.fixture(scope="module")
def demo(server_url, tmp_path_factory):
    """The demo's agents after all that they said, observed and reflected by rules; one of them has its reflections reviewed."""
    folder, prefix = tmp_path_factory.mktemp("demo"), f"pages-{secrets.token_hex(4)}:om"
    for name, text in (("", FOR_ALL), *OWN.items()):
        file = folder / "config" / (f"agents/{name}/memory.yaml" if name else "observational-memory.yaml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"observational_memory:\n  {text}\n")
    small = {"OM_MESSAGE_THRESHOLD": "1000", "OM_OBSERVATION_THRESHOLD": "1000", "OM_CONFIG_DIR": "config"}
    with (
        contextlib.chdir(folder),
        Site(folder, server_url, prefix, "--without-keys", model=Extractive(), **small) as site,
    ):
        said = recording(datetime(2026, 11, 1, tzinfo=UTC))
        for n in range(0, len(said), 4):
            site.world.om.add_messages(said[n : n + 4])
            site.world.settle()
            if n < len(said) // 2 and site.world.om.proposal("codie"):
                site.world.om.approve("codie")
        for thread in ("harold-release", "harold-team", "codie-search"):
            site.world.om.get_context(thread, thread.partition("-")[0])
        _lived(site.world)
        yield site


def _ms(days_ago):
    return round((time.time() - days_ago * 86_400) * 1000)


def _lived(world):
    """What agents of some weeks have: figures, bills, and people who looked after them."""
    for n, name in enumerate(("harold", "codie", "albert"), 1):
        for ago in range(10):
            _billed(world, name, "gemini-2.5-flash", "observe", ago, (0.9 + 0.07 * (ago * 5 % 7)) / n)
            _billed(world, name, "deepseek-chat", "reflect", ago, (0.2 + 0.04 * (ago * 3 % 5)) / n)
            served = {"contexts": 320, "tokens": 9_000_000, "cached": 8_200_000}
            served |= {"raw": 80_000_000, "raw_cached": 79_000_000}
            clock = SimpleNamespace(ms=lambda ago=ago: _ms(ago))
            world.services.run(spending.tell(world.services.keys, clock, {name: served}))
    for n in range(7 * 144):  # every ten minutes of a week: notes grow, then are condensed
        notes, kept = 2_000 + 300 * (n % 100), 3_000 + 40 * (n // 100)
        taken = TierSample(messages=6_000 + 1_500 * (n % 8), chunks=2_000 * (n % 3), observations=notes,
            reflections=kept, observed=(notes + kept) * (6 + n // 200), micros=900 * n, contexts=2 * n,
            tokens=50_000 * n, cached=42_000 * n, raw=80_000 * n + 200 * n * n,
            raw_cached=70_000 * n + 190 * n * n)  # fmt: skip
        held = {"harold": taken, None: taken}
        world.services.run(samples.add(world.services.keys, [TEN_MINUTES], _ms(7 - n / 144), held))
    for did, via, who, of in (("settings_changed", "cli", "lotte@laptop", "reflection.review"),
        ("line_corrected", "http", "0f3c21aa97de", "01a21727c22d"), ("approved", "http", "0f3c21aa97de", ""),
        ("exported", "cli", "lotte@laptop", "")):  # fmt: skip
        label = "Bram's key" if via == "http" else ""
        world.om.add_audit(AuditEntry(did=did, via=via, who=who, label=label, resource="codie", of=of))


def _billed(world, resource, model, purpose, ago, dollars):
    """20 calls of a model on a day that is so long ago, of 2,000 tokens each, half of them cached."""
    keys, day, micros = world.services.keys, spending.day_of(_ms(ago)), round(dollars * MICROS)
    bill = {"micros": micros, "calls": 20, "input": 40_000, "cached": 20_000, "output": 8_000}
    named = {spending.field(model, purpose, what): amount for what, amount in bill.items()}
    named |= {"all|micros": micros, "all|calls": 20, "all|tokens": 48_000}
    world.client.zincrby(keys.spenders(day), micros, resource)
    for key in (keys.spent_by(day, resource), keys.spent(day)):
        for name, amount in named.items():
            world.client.hincrby(key, name, amount)
        world.client.expire(key, spending.KEPT_S)
    world.client.expire(keys.spenders(day), spending.KEPT_S)


def _acted(visit, name):
    """Do what a picture shows the outcome of."""
    page = visit.page
    if name == "ui-settings":
        page.locator('[name="set.ttl_days"]').fill("90")
        page.locator('[name="set.message_threshold"]').fill("20000")
        visit.press("Show what would change")
        page.get_by_label("Changed file").wait_for()
    if name == "ui-manage":
        page.get_by_label("Whatever holds this text").fill("Sanne")
        visit.press("Show what would go")
        page.get_by_role("button", name="Erase it for good").wait_for()


def _taken(page):
    """What a window shows, in few colours: it is text on plain ground, and kept with the sources."""
    image = Image.open(io.BytesIO(page.screenshot()))
    file = io.BytesIO()
    image.convert("RGB").quantize(_COLORS).save(file, "png", optimize=True)
    return file.getvalue()


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_is_pictured(demo, browsers, name):
    visit = browsers(demo.api.url, color_scheme="light", timezone_id="Europe/Berlin", locale="en-GB")
    assert visit.go(PICTURES[name]) == 200
    _acted(visit, name)
    visit.page.wait_for_timeout(500)
    picture = _taken(visit.page)
    if _WRITES:
        (FOLDER / f"{name}.png").write_bytes(picture)
    assert 5_000 < len(picture) <= _MOST_BYTES
