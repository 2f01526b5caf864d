"""docs/ui.md as a newcomer follows it, on `om up` as it is: from the first message to a corrected, pinned line that survives."""

import shlex
import subprocess

import pytest
from pages import ROOT, blocks
from playwright.sync_api import expect
from ports import reserve_port
from processes import OM

from browser.serving import Api

_PAGE = (ROOT / "docs" / "ui.md").read_text("utf-8")


class Everything(Api):
    """`om up` in a folder of its own; the page's commands are typed beside it."""

    def __init__(self, folder):
        super().__init__(folder, {"OM_DATA_DIR": str(folder / "om"), "OM_CONFIG_DIR": str(folder)})
        self.store = reserve_port()
        self._command = [OM, "up", "--no-flower", "--port", str(self.store)]
        self.environ["OM_API_PORT"] = str(self.port)

    def type(self, line):
        environ = {**self.environ, "OM_REDIS_URL": f"redis://127.0.0.1:{self.store}/0"}
        command = [OM, *shlex.split(line, comments=True)[1:]]
        return subprocess.run(command, env=environ, check=True, capture_output=True, text=True, timeout=120).stdout


@pytest.fixture
def everything(tmp_path):
    with Everything(tmp_path / "up") as started:
        yield started


def _region(visit, name):
    return visit.page.get_by_role("region", name=name)


def test_the_tour_can_be_followed(everything, browsers):
    said = [line for line in blocks(_PAGE, "sh")[0].splitlines() if line.startswith("om push")]
    for line in said:
        everything.type(line)
    visit = browsers(everything.url)
    visit.go("/ui")
    visit.page.get_by_role("link", name="harold").click()
    expect(_region(visit, "Raw messages")).to_contain_text("My passport lies in the blue drawer.")
    visit.press("Observe now")
    expect(_region(visit, "Observations")).to_contain_text("blue drawer")
    expect(_region(visit, "Raw messages")).not_to_contain_text("blue drawer")
    visit.page.get_by_text(f"The {len(said)} messages it came from").click()
    expect(_region(visit, "Observations")).to_contain_text("My sister lives in Bergen.")
    line = visit.page.locator("li", has_text="blue drawer", has=visit.page.get_by_role("button"))
    line.get_by_role("button").first.click()
    field = visit.page.get_by_label("It should say")
    field.fill(field.input_value().replace("blue", "red"))
    visit.press("Save")
    visit.told("Corrected")
    visit.page.locator("li", has_text="red drawer").get_by_role("button").first.click()
    visit.press("Pin as it was")
    visit.told("Pinned")
    visit.press("Reflect now")
    expect(_region(visit, "Reflection")).to_contain_text("Generation 1")
    expect(_region(visit, "Reflection").locator("li", has_text="red drawer").last).to_be_visible()
    assert "red drawer" in everything.type("om context harold thread-1")
