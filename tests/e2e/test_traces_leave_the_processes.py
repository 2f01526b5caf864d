"""Server, beat and worker, each a process, and a collector: a trace leads on over the queue, and figures come with it."""

import re

import httpx2
import pytest
from processes import BEAT, WORKER, api_started
from traced import Collector
from world import wait_until

from om_api.metrics.series import SERIES

_CANARY = "zebrafinch"
_CREATED = "cortex_om_observations_created_total"
_CALLER = f"00-{7:032x}-{9:016x}-01"
_SMALL = {"message_threshold": "1000", "observation_threshold": "150", "min_recent_messages": "0"}
_FAST = {"OTEL_BSP_SCHEDULE_DELAY": "200", "OTEL_METRIC_EXPORT_INTERVAL": "1000"}


@pytest.fixture
def collector():
    with Collector() as made:
        yield made


@pytest.fixture
def house(run, tmp_path, collector):
    """Everything that runs, and the address of a thread."""
    running = run(commands=(), telemetry__endpoint=collector.url, **_SMALL)
    running.spawn(*BEAT, **_FAST)
    running.spawn(*WORKER, **_FAST, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20of-the-collector")
    with api_started({**running.environment, **_FAST}, "--without-keys", cwd=tmp_path) as url:
        yield running, f"{url}/v1/resources/harold/threads/t-1"


@pytest.mark.timeout(240)
def test_what_is_pushed_is_traced_from_the_request_over_the_queue_to_the_workers(house, collector):
    """How a context leads back to its pushes is the promise's, in promises/test_tracing.py."""
    running, url = house
    given = [{"role": "user", "content": f"{_CANARY} {n}", "tokens": 100} for n in range(15)]
    headers = {"traceparent": _CALLER}
    httpx2.post(f"{url}/messages", json={"messages": given}, headers=headers).raise_for_status()
    wait_until(lambda: running.om.observations("harold"), "the worker", 60)
    wait_until(lambda: collector.named("om.observe") and "harold" in _counted(collector), "spans and figures", 60)
    served = collector.named("POST /v1/resources/{resource}/threads/{thread}/messages")
    pushed, observed = collector.named("om.push"), collector.named("om.observe")

    assert {(span.trace_id, span.parent_span_id) for span in served} == {((7).to_bytes(16), (9).to_bytes(8))}
    assert {span.parent_span_id for span in pushed} == {span.span_id for span in served}
    assert any(of.name == "om.tick" for span in observed for of in collector.linked(span))
    assert {each["service.name"] for each in collector.resources} == {"cortex-om-worker", "cortex-om-api"}
    assert any(each.get("authorization") == "Bearer of-the-collector" for each in collector.headers)
    assert _CANARY.encode() not in collector.raw
    logged = set(re.findall(r'"trace_id": ?"(\w+)"', running.log.read_text()))
    assert logged & {span.trace_id.hex() for span in observed}
    assert {each.name for each in SERIES} >= collector.metrics.keys()
    assert collector.metrics[_CREATED].sum.is_monotonic


def _counted(collector):
    """Whose observations the collector was told of."""
    points = collector.metrics[_CREATED].sum.data_points if _CREATED in collector.metrics else ()
    return {each.value.string_value for point in points for each in point.attributes}
