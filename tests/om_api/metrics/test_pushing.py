"""What a collector is sent is what Prometheus reads: one list of series, one look at the store."""

import asyncio
import select
import socket
import threading
from contextlib import suppress

import pytest
from prometheus_client.parser import text_string_to_metric_families
from traced import Collector
from world import SMALL, wait_until

from om_api import load_settings
from om_api.metrics import pushing
from om_api.metrics.pushing import keep_pushing
from om_api.metrics.scraper import Scraper
from om_api.metrics.series import SERIES


@pytest.fixture(autouse=True)
def _sending_ends(monkeypatch):
    """Ends what still sends after a test: it would write into the log of a later one."""
    senders, before, sender = [], {*threading.enumerate()}, pushing._sender
    monkeypatch.setattr(pushing, "_sender", lambda *given: senders.append(sender(*given)) or senders[-1])
    yield
    for each in senders:
        each._exporter.shutdown()
    for thread in {*threading.enumerate()} - before:
        thread.join()


def _settings(prefix, server_url, **more):
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, **more})


def test_a_collector_is_sent_what_prometheus_reads(server_url, server_client, prefix):
    with Collector() as collector:
        settings = _settings(prefix, server_url, OM_TELEMETRY__ENDPOINT=collector.url)

        async def once():
            scraper = Scraper(settings)
            pushing = asyncio.create_task(keep_pushing(settings, scraper))
            await asyncio.to_thread(wait_until, lambda: collector.metrics, "figures")
            pushing.cancel()
            with suppress(asyncio.CancelledError):
                await pushing
            text = (await scraper.scrape()).decode()
            await scraper.close()
            return text

        text = asyncio.run(once())
        read = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}

    assert read <= {each.name for each in SERIES} | {
        f"{each.name}_{end}" for each in SERIES for end in ("bucket", "sum", "count")
    }
    assert {name for name in collector.metrics if collector.metrics[name].WhichOneof("data") != "histogram"} <= read
    assert len(collector.metrics) > 5


def test_the_end_waits_for_no_answer_of_a_collector_that_hangs(prefix, server_url, monkeypatch):
    """Catches a thread that the end of the loop joins: it would hear of the end only once the exporter has given up."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "30")
    with socket.create_server(("127.0.0.1", 0)) as collector:
        endpoint = f"http://127.0.0.1:{collector.getsockname()[1]}"
        settings = _settings(prefix, server_url, OM_TELEMETRY__ENDPOINT=endpoint)

        async def until_asked():
            scraper = Scraper(settings)
            pushing = asyncio.create_task(keep_pushing(settings, scraper))
            asked, _ = await asyncio.to_thread(collector.accept)
            await asyncio.to_thread(asked.recv, 1)
            pushing.cancel()
            with suppress(asyncio.CancelledError):
                await pushing
            await scraper.close()
            return asked

        with asyncio.run(until_asked()) as asked:
            while (ended := select.select([asked], [], [], 0)[0]) and asked.recv(65_536):
                pass

    assert ended == []
