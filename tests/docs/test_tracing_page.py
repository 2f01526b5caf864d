"""docs/tracing.md names the spans, the settings and the bounds that there are."""

import re
from pathlib import Path

from om_api.settings.memory_settings import TelemetrySettings
from om_api.telemetry.opening import END_S
from om_api.telemetry.spans import LINKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tracing.md").read_text()
_SPAN = re.compile(r'(?<!each\.)\bspan\(\s*f?"([^"]+)"')


def _rows(title):
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| .* \| (.+) \|$", section, re.MULTILINE))


def _code():
    return "\n".join(path.read_text() for room in ("om_api", "om_workers") for path in (ROOT / room).rglob("*.py"))


def test_every_span_is_in_the_table_and_every_one_in_the_table_is_in_the_code():
    made = {re.sub(r"\{model\.name\}", "{model}", name) for name in _SPAN.findall(_code())}

    assert set(_rows("The spans")) - {"{METHOD} {route}"} == made


def test_every_attribute_of_a_span_is_in_the_table():
    noted = {
        name
        for words in re.findall(r"\.note\((?:\n\s+)?([^{}]*?)\n?\s*\)\n", _code())
        for name in re.findall(r"(\w+)=", words)
    }
    told = {name for words in _rows("The spans").values() for name in re.findall(r"`([\w.]+)`", words)}
    named = set(re.findall(r'"((?:gen_ai|http|url|server)\.[\w.]+)": ', _code()))

    assert noted - {"resource", "thread"} <= told
    assert {name for name in told if "." in name} - {"error.type"} == named


def test_every_setting_is_told_with_what_it_does():
    told = re.findall(r"^\| `telemetry\.(\w+)` \|", PAGE, re.MULTILINE)

    assert told == list(TelemetrySettings.model_fields)


def test_the_bounds_are_those_of_the_code():
    assert (LINKS, END_S) == (8, 3.0)
    assert "links to eight others at most" in PAGE
    assert "waits three seconds at most" in PAGE
