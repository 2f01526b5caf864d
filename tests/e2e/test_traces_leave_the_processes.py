"""Server, beat and worker, each a process, and a collector: a trace leads on over the queue, and figures come with it."""

import os
import re
import sys
from pathlib import Path

import httpx2
import pytest
from ports import reserve_port
from processes import BEAT, WORKER, started
from traced import Collector, attributes
from world import wait_until

from om_api.metrics.series import SERIES

_CANARY = "zebrafinch"
_CREATED = "cortex_om_observations_created_total"
_CALLER = f"00-{7:032x}-{9:016x}-01"
_SMALL = {"MESSAGE_THRESHOLD": "1000", "OBSERVATION_THRESHOLD": "150", "MIN_RECENT_MESSAGES": "0"}
_FAST = {"OTEL_BSP_SCHEDULE_DELAY": "200", "OTEL_METRIC_EXPORT_INTERVAL": "1000"}


@pytest.fixture
def collector():
    with Collector() as made:
        yield made


@pytest.fixture
def house(run, tmp_path, collector):
    """Everything that runs, and the address of the server."""
    running = run(commands=(), telemetry__endpoint=collector.url, **{name.lower(): n for name, n in _SMALL.items()})
    running.spawn(*BEAT, **_FAST)
    running.spawn(*WORKER, **_FAST, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20of-the-collector")
    port = str(reserve_port())
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    with (tmp_path / "api.log").open("wb") as log:
        command = [str(Path(sys.executable).with_name("om")), "api", "--port", port, "--without-keys"]
        with started(
            command, env={**clean, **running.environment, **_FAST}, cwd=tmp_path, stdout=log, stderr=log
        ) as api:
            wait_until(lambda: _answers(port), "the server", 60)
            yield running, f"http://127.0.0.1:{port}/v1/resources/harold/threads/t-1"
            api.terminate()
            api.wait(15)


def _answers(port):
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/readyz").is_success
    except httpx2.TransportError:
        return False


def _say(url, *numbers):
    given = [{"role": "user", "content": f"{_CANARY} {n}", "tokens": 100} for n in numbers]
    return httpx2.post(f"{url}/messages", json={"messages": given}, headers={"traceparent": _CALLER}).raise_for_status()


@pytest.mark.timeout(240)
def test_a_context_leads_back_to_the_request_by_which_a_message_came(house, collector):
    running, url = house
    for n in range(0, 40, 4):
        _say(url, *range(n, n + 4))
        wait_until(lambda seen=n // 4: _observed(running) > seen, "the worker")
        if running.om.generations("harold"):
            break
    wait_until(lambda: running.om.generations("harold"), "a generation", 60)
    httpx2.get(f"{url}/context", params={"format": "blocks"}).raise_for_status()
    wait_until(lambda: collector.named("om.context") and _back(collector), "spans that lead back", 60)
    pushed, served = _back(collector)[0], collector.named("POST /v1/resources/{resource}/threads/{thread}/messages")
    told = running.log.read_text()
    assert {(span.trace_id, span.parent_span_id) for span in served} == {((7).to_bytes(16), (9).to_bytes(8))}
    assert pushed.parent_span_id in {span.span_id for span in served}
    assert any(of.name == "om.tick" for span in collector.named("om.observe") for of in collector.linked(span))
    assert {each["service.name"] for each in collector.resources} == {"cortex-om-worker", "cortex-om-api"}
    assert any(each.get("authorization") == "Bearer of-the-collector" for each in collector.headers)
    assert _CANARY.encode() not in collector.raw
    assert set(re.findall(r'"trace_id": ?"(\w+)"', told)) & {
        span.trace_id.hex() for span in collector.named("om.observe")
    }
    wait_until(lambda: "harold" in _counted(collector), "harold's figures")  # the first ones may know nobody yet
    assert {each.name for each in SERIES} >= collector.metrics.keys()
    assert collector.metrics[_CREATED].sum.is_monotonic


def _observed(running):
    """How many observations were ever stored."""
    return int(running.client.hget(f"{running.prefix}:counted", "observations") or 0)


def _counted(collector):
    """Whose observations the collector was told of."""
    points = collector.metrics[_CREATED].sum.data_points if _CREATED in collector.metrics else ()
    return {each.value.string_value for point in points for each in point.attributes}


def _back(collector):
    """The pushes that the last context leads back to."""
    reading = collector.named("om.context")[-1]
    reflecting = [s for s in collector.linked(reading) if attributes(s)["cortex_om.outcome"] == "reflected"]
    observing = [
        of for s in reflecting for of in collector.linked(s) if attributes(of)["cortex_om.outcome"] == "buffered"
    ]
    return [of for s in observing for of in collector.linked(s) if of.name == "om.push"]
