"""Two worker processes and a beat: every series is there, counts what was made, and outlives the workers."""

import signal

import pytest
from processes import BEAT, WORKER
from prometheus_client.parser import text_string_to_metric_families
from scraped import scraped
from starlette.testclient import TestClient
from world import wait_until

from om_api import Message, ObservationalMemory, load_settings
from om_api.http import make_app
from om_api.metrics.series import SERIES

_YAML = """
observational_memory:
  {tokenizer: estimate, model: paid, actor_model: actor, message_threshold: 1000, observation_threshold: 150,
   min_recent_messages: 0, budget: {calls_per_day: 1000}, hooks: {after_reflect: [{entry_point: nobody}]}}
models:
  paid: {provider: scripted, prices: {input: 1, output: 2}}
  actor: {provider: scripted, prices: {input: 3, cached: 0.3, output: 9}}
  nowhere: {base_url: "http://127.0.0.1:1/v1", model: none}
"""
_FILES = {"observational-memory.yaml": _YAML, "agents/broken/memory.yaml": "observational_memory: {model: nowhere}"}


@pytest.mark.timeout(300)
def test_every_series_is_there_counts_what_was_made_and_outlives_the_workers(run, tmp_path):
    house = run(_FILES, commands=(), archive__url=f"sqlite:///{tmp_path}/archive.db")
    crew = [house.spawn(*BEAT), house.spawn(*WORKER, "-n", "observes@%h", "-Q", "observe"),
        house.spawn(*WORKER, "-n", "rests@%h", "-Q", "ticks,reflect,maintenance")]  # fmt: skip
    for resource in ("harold", "broken"):
        _talk(house, resource)
    _leave_what_is_no_message(house)
    wait_until(lambda: _kinds(house) >= {"failed", "reflected", "quarantined"}, "a failure, a generation, an entry", 90)
    alive = _scrape(house)
    for process in crew:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    over, om = _scrape(house), house.om
    assert {name for name, _ in alive} == {name for series in SERIES for name in scraped(series)}
    assert (alive["cortex_om_workers", ""], over["cortex_om_workers", ""]) == (2, 0)
    assert over["cortex_om_reflections_created_total", "harold"] == len(om.generations("harold"))
    assert over["cortex_om_quarantine_messages", "harold"] == 1
    bill = sum(line.cost or 0 for line in om.costs("harold", 1).lines)
    paid = [over[f"cortex_om_{who}_cost_total", "harold"] for who in ("observer", "reflector")]
    assert sum(paid) == pytest.approx(bill) != 0
    counted = {name for series in SERIES if series.kind != "gauge" for name in scraped(series)}
    assert [key for key, value in alive.items() if key[0] in counted and over[key] < value] == []


def _talk(house, resource):
    """A conversation of two threads; what its contexts came to is told at its end."""
    with ObservationalMemory(load_settings(house.config, house.environment)) as om:
        for n in range(40):
            fields = {"thread_id": f"t-{n % 2}", "resource_id": resource, "tokens": 100}
            om.add_message(Message(role="user", content=f"message {n}", **fields))
            om.get_context(f"t-{n % 2}", resource)


def _leave_what_is_no_message(house):
    key = f"{house.prefix}:{{harold}}:messages:t-0"
    house.client.zadd(key, {b'{"role": "robot"}': 1_763_600_000_000})
    house.client.zadd(f"{house.prefix}:adopt", {key: 0})


def _kinds(house):
    return {fields[b"kind"].decode() for _, fields in house.client.xrange(f"{house.prefix}:events")}


def _scrape(house):
    """The sums of all samples, by name and resource."""
    with TestClient(make_app(load_settings(house.config, house.environment), locked=False)) as http:
        text = http.get("/metrics", headers={"host": "localhost"}).text
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name, sample.labels.get("resource_id", "")
            found[key] = found.get(key, 0) + sample.value
    return found
