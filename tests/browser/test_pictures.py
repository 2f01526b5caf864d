"""Pictures of the main pages for docs/ui.md: the memories of `om demo`'s three agents. `make pages WRITE=1` writes them anew."""

import io
import os
import secrets
from datetime import UTC, datetime

import pytest
from pages import ROOT
from PIL import Image

from browser.serving import Site
from om_api.cli.demo import recording
from om_workers.llm.extractive import Extractive

FOLDER = ROOT / "docs" / "pictures"
PICTURES = {
    "ui-agents": "/ui/agents",
    "ui-agent": "/ui/agents/harold?thread=harold-release",
    "ui-context": "/ui/agents/harold/context?thread=harold-release",
    "ui-generations": "/ui/agents/harold/generations",
    "ui-recall": "/ui/agents/codie/recall?query=checkout+timeout+payment",
    "ui-live": "/ui/live",
    "ui-settings": "/ui/agents/harold/settings",
}
_MOST_BYTES = 120_000
_COLORS = 160
_WRITES = os.environ.get("OM_TEST_PAGES") == "write"


@pytest.fixture(scope="module")
def demo(server_url, tmp_path_factory):
    """The demo's agents after all that they said, observed and reflected by rules."""
    folder, prefix = tmp_path_factory.mktemp("demo"), f"pages-{secrets.token_hex(4)}:om"
    small = {"OM_MESSAGE_THRESHOLD": "1000", "OM_OBSERVATION_THRESHOLD": "1000"}
    with Site(folder, server_url, prefix, "--without-keys", model=Extractive(), **small) as site:
        said = recording(datetime(2026, 11, 1, tzinfo=UTC))
        for n in range(0, len(said), 4):
            site.world.om.add_messages(said[n : n + 4])
            site.world.settle()
        for thread in ("harold-release", "harold-team", "codie-search"):
            site.world.om.get_context(thread, thread.partition("-")[0])
        yield site


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
    visit.page.wait_for_timeout(500)
    picture = _taken(visit.page)
    if _WRITES:
        (FOLDER / f"{name}.png").write_bytes(picture)

    assert 5_000 < len(picture) <= _MOST_BYTES
