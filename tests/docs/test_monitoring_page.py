"""docs/monitoring.md is true of the code: its series, its labels and their values, its numbers."""

import re
from pathlib import Path
from typing import get_args

import pytest

from om_api.domain.errors import Why
from om_api.metrics import gauges
from om_api.metrics.series import DELIVERIES, EVERYBODY, OTHER, SERIES, STATES
from om_api.settings.catalogue import SETTINGS
from om_api.store.fleet import event_stream, health, resource_tiers
from om_api.store.memory.quarantine import UNKNOWN

PAGE = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text()
LABELS = dict(
    line.strip("| ").split(" | ", 1)
    for line in PAGE.split("\n## Labels\n")[1].split("\n## ")[0].splitlines()
    if line.startswith("| `")
)


def named(label):
    """What stands in backticks in a label's row."""
    return re.findall(r"`([^`]+)`", LABELS[f"`{label}`"])


def test_the_table_of_series_has_a_row_for_each_one():
    assert PAGE.count("| `cortex_om_") == len(SERIES)


def test_every_label_is_explained_and_no_other():
    assert {name.strip("`") for name in LABELS} == {label for series in SERIES for label in series.labels} | {"le"}


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("kind", get_args(Why)),
        ("work", ("observe", "reflect")),
        ("queue", health.QUEUES),
        ("tick", health.TICKS),
        ("state", STATES),
        ("outcome", ("webhooks.md", *DELIVERIES)[1:]),
        ("resource_id", ("metrics.resources", OTHER, EVERYBODY, UNKNOWN)),
    ],
)
def test_the_values_of_a_label_are_those_that_the_code_gives_it(label, values):
    assert tuple(named(label)) == tuple(values)


def test_the_settings_that_a_budget_may_be_called_by_are_those_there_are():
    stated = [".".join(path) for path in SETTINGS if path[0] == "budget" and path[1] != "then"]

    assert named("setting") == [*stated, "total_budget"]


def test_the_numbers_are_those_of_the_code():
    default = SETTINGS["metrics", "resources"].default
    told = [
        f"({default})",
        f"{resource_tiers.THREADS:,} records",
        f"{resource_tiers.ELSEWHERE:,} agents",
        f"{event_stream.KEPT_S // 86_400} days",
    ]

    assert [text for text in told if text not in PAGE] == []
    assert f"{gauges.MODELS} at most" in PAGE
