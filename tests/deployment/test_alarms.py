"""The alarms of config/alerts.yml, as Prometheus' own promtool plays them: when each is raised, and when it is over."""

import re
import subprocess
from typing import Any

import pytest
import yaml
from pages import ROOT
from programs import program

pytestmark = pytest.mark.nightly  # promtool is started for each story
ALERTS = ROOT / "config" / "alerts.yml"
NAMES = {rule["alert"]: rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]}
HAROLD, TIMEOUT = '{resource_id="harold"}', '{resource_id="harold",kind="timeout"}'
QUARANTINED, QUARANTINE = f"cortex_om_quarantined_total{HAROLD}", f"cortex_om_quarantine_messages{HAROLD}"
REFLECTED, FULL = f"cortex_om_reflections_created_total{HAROLD}", f"cortex_om_observation_pressure_ratio{HAROLD}"
BEHIND, FAILING = "cortex_om_archive_behind_seconds", "cortex_om_archive_failing_seconds"
WEBHOOK = 'cortex_om_webhook_deliveries_total{outcome="dead"}'
FAILED = f"cortex_om_failures_total{TIMEOUT}"
# each fails once, one a minute
NEWCOMERS = {FAILED.replace("harold", f"agent-{n}"): f"_x{240 + n} 1x200" for n in range(30)}


@pytest.fixture(scope="module")
def promtool() -> str:
    return program("promtool")


def test_prometheus_takes_every_rule(promtool):
    done = subprocess.run([promtool, "check", "rules", ALERTS], capture_output=True, text=True, check=False)
    assert (done.returncode, f"{len(NAMES)} rules found" in done.stdout) == (0, True), done.stderr


@pytest.fixture
def raised(promtool, tmp_path) -> Any:
    """Whether an alarm is raised after so many minutes, by series with a value a minute as promtool writes them."""

    def play(alarm: str, minutes: int, series: dict[str, str]) -> bool:
        asked = {"eval_time": f"{minutes}m", "alertname": alarm, "exp_alerts": []}
        given = [{"series": name, "values": values} for name, values in series.items()]
        story = {"interval": "1m", "input_series": given, "alert_rule_test": [asked]}
        file = tmp_path / "story.yml"
        file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": [story]}))
        done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert (done.returncode == 0) != (f"alertname:{alarm}" in said or f"alertname: {alarm}" in said), said
        return done.returncode != 0

    return play


BORN_ABOVE_ZERO = [("QuarantineGrows", 5, {QUARANTINED: "_x240 3x200"}),
    ("QuarantineGrows", 5, {QUARANTINE: "_x240 3x200"}), ("WorkFails", 29, NEWCOMERS),
    ("ReflectionDoesNotShrink", 17, {REFLECTED: "_x240 3x200", FULL: "_x240 2x200"})]  # fmt: skip


@pytest.mark.parametrize(("alarm", "after", "series"), BORN_ABOVE_ZERO)
def test_what_begins_above_zero_raises_an_alarm_until_nothing_more_came(raised, alarm, after, series):
    """Catches `increase` alone, which sees nothing of a series that was never lower; and `offset` alone, which finds nothing in
    the hour that Prometheus missed."""
    assert raised(alarm, 240 + after, series)
    assert not raised(alarm, 240 + 90, series)
    back = {name: re.sub(r"_x(\d+) (\d+)x200", r"\2x100 _x140 \2x200", values) for name, values in series.items()}
    assert not raised(alarm, 240 + after, back)
    assert not raised(alarm, 240 + 65, back)


def test_what_grows_raises_it_and_what_shrinks_or_is_mended_none(raised):
    for alarm, after, series in (("QuarantineGrows", 20, {QUARANTINED: "0x240 1x60"}),
        ("QuarantineGrows", 20, {QUARANTINE: "1x240 2x60"}), ("WebhookGivesUp", 20, {WEBHOOK: "0x240 1x60"}),
        ("WorkFails", 40, {FAILED: "0x240 0+2x60"}),
        ("ReflectionDoesNotShrink", 50, {REFLECTED: "0x240 0+1x60", FULL: "2x300"}),
        ("ArchiveBehind", 20, {BEHIND: "0x240 0+60x60"}),
        ("ArchiveBehind", 20, {FAILING: "0x240 0+60x60"})):  # fmt: skip
        assert raised(alarm, 240 + after, series), (alarm, series)
    for alarm, minutes, series in (("ArchiveBehind", 20, {BEHIND: "0x5 0+60x8 0x60", FAILING: "0x300"}),
        ("QuarantineGrows", 250, {QUARANTINE: "9x240 2x60"}),
        ("WebhookGivesUp", 260, {WEBHOOK.replace("dead", "failed"): "0x240 1x60"})):  # fmt: skip
        assert not raised(alarm, minutes, series), (alarm, series)
