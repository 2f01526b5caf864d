"""What watches the system names only what there is: Prometheus' configuration, the alarms, Grafana's board and sources."""

import json
import re
from pathlib import Path

import promql_parser
import pytest
import yaml
from scraped import labels_of

from om_api.http import make_app
from om_api.settings import load_settings

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / "config"
PROMETHEUS = yaml.safe_load((CONFIG / "prometheus.yml").read_text())
RULES = [rule for group in yaml.safe_load((CONFIG / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
BOARD = json.loads((CONFIG / "grafana" / "dashboards" / "observational-memory.json").read_text())
SOURCE = yaml.safe_load((CONFIG / "grafana" / "provisioning" / "datasources" / "prometheus.yml").read_text())
PROVIDER = yaml.safe_load((CONFIG / "grafana" / "provisioning" / "dashboards" / "dashboards.yml").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
MONITORING = (ROOT / "docs" / "monitoring.md").read_text()
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
SHOWN = {f"{panel['title']} {target['refId']}": target["expr"] for panel in PANELS for target in panel["targets"]}
ALARMS = {rule["alert"]: rule["expr"] for rule in RULES}
EXPRESSIONS = {**ALARMS, **SHOWN}
TARGET = frozenset({"job", "instance"})  # what Prometheus adds to everything it scrapes


def wrong(expression: str) -> list[str]:
    """What of an expression nobody scrapes: series, and labels that are asked for or joined by."""
    found: list[str] = []
    available: set[str] = set()
    asked: set[str] = set()

    def look(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            labels = TARGET if node.name == "up" else labels_of(node.name)
            found.extend([node.name] if labels is None else [])
            available.update(labels or (), TARGET)
            named = {matcher.name for matcher in node.matchers.matchers}
            found.extend(sorted(named - (labels or named) - TARGET))
        elif isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            asked.update(node.modifier.labels)
        elif isinstance(node, promql_parser.BinaryExpr) and node.modifier and node.modifier.matching:
            asked.update(node.modifier.matching.labels)

    promql_parser.walk(promql_parser.parse(expression), look)
    return [*found, *sorted(asked - available)]


def test_every_expression_parses_and_names_only_series_and_labels_that_there_are():
    assert {name: found for name, text in EXPRESSIONS.items() if (found := wrong(text))} == {}


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("cortex_om_lag_minutes > 2", "cortex_om_lag_minutes"),
        ('cortex_om_lag_seconds{queue="ticks"} > 2', "queue"),
        ("sum by (thread_id) (cortex_om_messages_tokens)", "thread_id"),
        ("cortex_om_workers and on(work) cortex_om_resources", "work"),
        ("rate(cortex_om_observer_duration_seconds[5m])", "cortex_om_observer_duration_seconds"),
    ],
)
def test_an_expression_that_names_another_series_or_label_is_found(expression, missing):
    assert missing in wrong(expression)


@pytest.mark.parametrize("expression", ["sum by (", "increase(cortex_om_contexts_total) > 0", "cortex_om_workers >> 1"])
def test_an_expression_that_is_none_is_found(expression):
    with pytest.raises(ValueError, match=r"."):
        wrong(expression)


@pytest.mark.parametrize("rule", RULES, ids=list(ALARMS))
def test_every_alarm_says_how_bad_it_is_what_happened_and_where_it_is_explained(rule):
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    labels = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))

    assert rule["labels"]["severity"] in {"info", "warning", "critical"}
    assert anchor == rule["alert"].lower()
    assert re.search(rf"^### {rule['alert']}$", (ROOT / page).read_text(), re.MULTILINE)
    assert labels <= _labels_of(rule["expr"])


def _labels_of(expression):
    """The labels that the result of an alarm may have."""
    names = set(re.findall(r"cortex_om_\w+|(?<![\w.])up(?=\{)", expression))
    return set().union(*(TARGET if name == "up" else labels_of(name) for name in names))


def test_no_alarm_is_explained_that_is_not_raised():
    explained = MONITORING.split("\n## Alarms\n")[1].split("\n## ")[0]

    assert re.findall(r"^### (\w+)$", explained, re.MULTILINE) == list(ALARMS)


def test_what_is_to_be_noticed_raises_an_alarm():
    wanted = {"NoTick", "Lag", "NeverObserved", "ReflectionDoesNotShrink", "QuarantineGrows", "BudgetReached"}

    assert wanted | {"BreakerOpen", "NoWorker", "BacklogGrows"} <= set(ALARMS)


def test_no_alarm_looks_at_the_queues_which_are_short_by_construction():
    """Catches an alarm that a busy worker raises and a backlog does not: what waits, waits in the due index."""
    assert [name for name, expression in ALARMS.items() if "cortex_om_queue_tasks" in expression] == []


def test_what_is_to_be_seen_is_on_the_board():
    titles = {panel["title"] for panel in PANELS}

    assert {
        "Tokens by agent",
        "Compression over time",
        "Savings",
        "Tier distribution",
        "Lag over time",
        "Failures",
    } <= titles
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    assert all(panel["description"] for panel in PANELS)


def test_the_board_asks_the_source_that_is_provisioned_about_agents_that_there_are():
    (source,), (variable,) = SOURCE["datasources"], BOARD["templating"]["list"]
    asked = {target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]}
    series, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()

    assert asked == {source["uid"]}
    assert label in labels_of(series)
    assert set(re.findall(r"\$(\w+)", " ".join(SHOWN.values()))) == {variable["name"]}


def test_no_two_panels_of_the_board_overlap():
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in BOARD["panels"])
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23


def test_prometheus_asks_the_api_where_it_answers_with_a_key_that_compose_gives_it():
    (job,) = PROMETHEUS["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    service, _, port = target.partition(":")
    paths = make_app(load_settings(environ={})).openapi()["paths"]

    assert job["metrics_path"] in paths
    assert COMPOSE[service]["command"].endswith(f"--port {port}")
    assert job["authorization"]["credentials_file"] in COMPOSE["prometheus"]["entrypoint"][2]
    assert f'up{{job="{job["job_name"]}"}} == 0' == ALARMS["NoFigures"]


def test_everything_that_the_two_read_is_mounted_where_they_look_for_it():
    files = {mount.split(":")[1]: mount.split(":")[0] for mount in COMPOSE["prometheus"]["volumes"]}
    folders = {mount.split(":")[1]: mount.split(":")[0] for mount in COMPOSE["grafana"]["volumes"]}
    (provider,), (source,) = PROVIDER["providers"], SOURCE["datasources"]

    assert [files[path] for path in PROMETHEUS["rule_files"]] == ["./config/alerts.yml"]
    assert files["/etc/prometheus/prometheus.yml"] == "./config/prometheus.yml"
    assert folders[provider["options"]["path"]] == "./config/grafana/dashboards"
    assert folders["/etc/grafana/provisioning"] == "./config/grafana/provisioning"
    assert re.fullmatch(r"http://(\w+):9090", source["url"])[1] in COMPOSE
