"""Two worker processes, and every series beside what the store says when it is asked with plain commands."""

import signal
from collections import Counter

import pytest
import redis
from processes import BEAT, WORKER
from prometheus_client.parser import text_string_to_metric_families
from scraped import labels_of, scraped
from starlette.testclient import TestClient
from world import wait_until

from om_api import Message, ObservationalMemory, load_settings
from om_api.billing.costs import CACHED
from om_api.domain.events import BOUNDS
from om_api.http import make_app
from om_api.metrics.series import OTHER, SERIES
from om_api.store.fleet.health import QUEUES

_YAML = """
observational_memory:
  {tokenizer: estimate, model: paid, actor_model: actor, message_threshold: 1000, observation_threshold: 150,
   min_recent_messages: 0, budget: {calls_per_day: 1000}, metrics: {resources: 2},
   hooks: {after_reflect: [{entry_point: nobody}]}}
models:
  paid: {provider: scripted, prices: {input: 1, output: 2}}
  actor: {provider: scripted, prices: {input: 3, cached: 0.3, output: 9}}
  nowhere: {base_url: "http://127.0.0.1:1/v1", model: none}
"""
_FILES = {
    "observational-memory.yaml": _YAML,
    "agents/albert/memory.yaml": "observational_memory: {scope: thread}",
    "agents/broken/memory.yaml": "observational_memory: {model: nowhere}",
}
_LABELS = {"harold": "harold", "albert": "albert", "broken": OTHER}
_PER_MEMORY = {each.name for each in SERIES if each.kind == "gauge" and "resource_id" in each.labels}
_COUNTED = {name for each in SERIES if each.kind != "gauge" for name in scraped(each)}
_COUNTS = {f"cortex_om_{name}" for name in ("due_scopes", "queue_tasks", "resources", "measured_resources")}
WORK = ("observe", "reflect")


@pytest.mark.timeout(300)
def test_every_series_is_what_the_store_says_and_outlives_the_workers(run, tmp_path):
    house = run(_FILES, commands=(), archive__url=f"sqlite:///{tmp_path}/archive.db")
    crew = _crew(house)
    for resource in ("harold", "albert", "broken"):  # the first two have a label of their own
        _talk(house, resource)
    _leave_what_is_no_message(house)
    while_alive = _scrape(house)
    _stop(crew)

    first = _scrape(house)
    assert {name for name, *_ in while_alive} == {name for series in SERIES for name in scraped(series)}
    assert (while_alive["cortex_om_workers",], first["cortex_om_workers",]) == (2, 0)
    assert _of(first, _PER_MEMORY) == pytest.approx(_memories(house))
    assert _of(first, _COUNTED) == pytest.approx(_counters(house))
    wait_until(lambda: _of(_scrape(house), _COUNTS) == _service(house), "the same of queues and due scopes")

    crew = _crew(house)
    _talk(house, "harold")
    _stop(crew)
    again = _scrape(house)
    grown, before = (_of(found, _COUNTED) for found in (again, first))
    assert all(grown[labels] >= value for labels, value in before.items())
    assert grown == pytest.approx(_counters(house))
    assert _of(again, _PER_MEMORY) == pytest.approx(_memories(house))


def _crew(house):
    """A beat, and two workers that share the work: one observes, the other does the rest."""
    return [
        house.spawn(*BEAT),
        house.spawn(*WORKER, "-n", "observes@%h", "-Q", "observe"),
        house.spawn(*WORKER, "-n", "rests@%h", "-Q", "ticks,reflect,maintenance"),
    ]


def _stop(crew):
    """End them in order, the beat first: what they hold is finished, and nothing happens any more."""
    for process in crew:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def _talk(house, resource):
    """A conversation of two threads that is observed and reflected; what its contexts came to is told at its end."""
    with ObservationalMemory(load_settings(house.config, house.environment)) as om:
        for n in range(40):
            thread = f"t-{n % 2}"
            om.add_message(
                Message(role="user", content=f"message {n}", thread_id=thread, resource_id=resource, tokens=100)
            )
            om.get_context(thread, resource)
        if resource != "broken":
            wait_until(lambda: om.generations(resource), f"a generation of {resource}", 90)
        else:
            wait_until(lambda: _events(house, "failed", resource), "a failure", 90)


def _leave_what_is_no_message(house):
    key = f"{house.prefix}:{{harold}}:messages:t-0"
    house.client.zadd(key, {b'{"role": "robot"}': 1_763_600_000_000})
    house.client.zadd(f"{house.prefix}:adopt", {key: 0})
    wait_until(lambda: _events(house, "quarantined", "harold"), "the quarantine", 60)


def _scrape(house):
    """Every sample by its name and its labels' values, in the order of the labels' names."""
    settings = load_settings(house.config, house.environment)
    with TestClient(make_app(settings, locked=False), base_url="http://localhost") as http:
        text = http.get("/metrics").text
    found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert [sample.name for sample in found if set(sample.labels) != labels_of(sample.name)] == []
    return {(each.name, *dict(sorted(each.labels.items())).values()): each.value for each in found}


def _of(found, names):
    """The samples of some series that are not 0."""
    return {labels: value for labels, value in found.items() if labels[0] in names and value}


def _memories(house):
    """How full the memories with a label are, what they saved and spent, by plain commands and by `om costs`."""
    found = {("cortex_om_quarantine_messages", "harold"): 1}
    day = house.om.costs("harold", 1).last
    for resource in ("harold", "albert"):
        tiers = _tiers(house, resource)
        calls = int(house.client.hget(f"{house.prefix}:spent:{day}:{resource}", "all|calls"))
        found |= {(f"cortex_om_{name}", resource): value for name, value in tiers.items()}
        found["cortex_om_budget_used_ratio", resource, "budget.calls_per_day"] = calls / 1000
    for resource, label in _LABELS.items():
        costs, served = house.om.costs(resource, 1), _served(house, resource)
        (saved,) = [each.saved_dollars for each in costs.savings if each.baseline == CACHED]
        found["cortex_om_cost_savings_total", label] = saved
        found["cortex_om_prefix_stable_share", label] = served["cached"] / served["tokens"]
    return {labels: value for labels, value in found.items() if value}


def _tiers(house, resource):
    base = f"{house.prefix}:{{{resource}}}"
    tails = [""] if house.client.get(f"{base}:scope") == b"resource" else [":t-0", ":t-1"]
    records = [_numbers(house.client.hgetall(f"{base}:record{tail}")) for tail in tails]
    unsealed = _numbers(house.client.hgetall(f"{base}:tokens"))
    raw = [
        unsealed.get(tail[1:] or "*", 0) + record["chunk_tokens"] for tail, record in zip(tails, records, strict=True)
    ]
    sums = {name: sum(record[name] for record in records) for name in records[0]}
    tiers = {
        "messages_tokens": unsealed.get("*", 0),
        "observations_tokens": sums["observation_tokens"],
        "reflections_tokens": sums["reflection_tokens"],
    }
    return {
        **tiers,
        **{f"{name}_total": tokens for name, tokens in tiers.items()},
        "chunks_tokens": sums["chunk_tokens"],
        "compression_ratio": sums["observed_tokens"] / (sums["observation_tokens"] + sums["reflection_tokens"]),
        "message_pressure_ratio": max(raw) / 1000,
        "observation_pressure_ratio": max(record["observation_tokens"] for record in records) / 150,
    }


def _numbers(fields):
    return Counter({name.decode(): int(value) for name, value in fields.items() if value.isdigit()})


def _served(house, resource):
    day = house.om.costs(resource, 1).last
    counted = _numbers(house.client.hgetall(f"{house.prefix}:spent:{day}:{resource}"))
    return {name.partition("|")[2]: amount for name, amount in counted.items() if name.startswith("served|")}


def _counters(house):
    """What was made, told, billed and served, by what the memories hold, the stream, the bills and the clients' tally."""
    found = {("cortex_om_quarantined_total", "harold"): 1}
    found["cortex_om_hook_failures_total", "nobody", "after_reflect"] = _hook_failures(house)
    for resource, label in _LABELS.items():
        bill = dict.fromkeys(("observe", "reflect"), 0.0)
        for line in house.om.costs(resource, 1).lines:
            bill[line.purpose] += line.cost or 0
        found["cortex_om_observer_cost_total", label] = bill["observe"]
        found["cortex_om_reflector_cost_total", label] = bill["reflect"]
        found["cortex_om_observations_created_total", label] = _observed(house, resource)
        found["cortex_om_reflections_created_total", label] = len(house.om.generations(resource))
        found["cortex_om_contexts_total", label] = _served(house, resource)["contexts"]
        found["cortex_om_context_tokens_total", label] = _served(house, resource)["tokens"]
        for why, times in Counter(event["why"] for event in _events(house, "failed", resource)).items():
            found["cortex_om_failures_total", why, label] = times
        found |= _durations("observer", label, _events(house, "buffered", resource))
        found |= _durations("reflector", label, _events(house, ("drafted", "reflected"), resource))
    return {labels: value for labels, value in found.items() if value}


def _hook_failures(house):
    """As often as something was condensed: the hook that was to see it is not installed."""
    kept = house.client.hgetall(f"{house.prefix}:counted")
    return sum(int(n) for name, n in kept.items() if name == b"hook|after_reflect|nobody")


def _observed(house, resource):
    """How many observations there ever were: in force, replaced, and ready to be activated."""
    base, count = f"{house.prefix}:{{{resource}}}", 0
    for key in house.client.scan_iter(f"{base}:*", count=1000):
        kind = key.decode()[len(base) + 1 :].split(":")[0]
        if kind in {"observations", "reflected"}:
            count += house.client.zcard(key)
        elif kind == "chunk":
            count += house.client.hget(key, "state") == b"ready"
    return count


def _durations(who, label, events):
    seconds = [float(event["seconds"]) for event in events if "seconds" in event]
    series = f"cortex_om_{who}_duration_seconds"
    bounds = {**{str(float(bound)): bound for bound in BOUNDS}, "+Inf": float("inf")}
    found = {
        (f"{series}_bucket", name, label): sum(each <= bound for each in seconds) for name, bound in bounds.items()
    }
    return {**found, (f"{series}_count", label): len(seconds), (f"{series}_sum", label): sum(seconds)}


def _events(house, kinds, resource):
    """What the stream says of some kinds."""
    every = (fields for _, fields in house.client.xrange(f"{house.prefix}:events"))
    told = ({name.decode(): value.decode() for name, value in fields.items()} for fields in every)
    return [event for event in told if event["kind"] in kinds and event["resource"] == resource]


def _service(house):
    """What waits, and who is known: by plain commands."""
    now, prefix = house.om.ping(), house.prefix
    found = {("cortex_om_due_scopes", work): house.client.zcount(f"{prefix}:due:{work}", "-inf", now) for work in WORK}
    with redis.Redis.from_url(house.broker) as queues:
        found |= {("cortex_om_queue_tasks", name): queues.llen(name) for name in QUEUES}
    found["cortex_om_resources",] = house.client.zcard(f"{prefix}:resources")
    found["cortex_om_measured_resources",] = house.client.zcard(f"{prefix}:measured")
    return {labels: value for labels, value in found.items() if value}
