"""Figures for a collector: what /metrics shows, sent now and then, where there is an endpoint for it."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from om_api.domain.errors import StoreError
from om_api.domain.extras import missing
from om_api.metrics.scraper import Scraper
from om_api.metrics.series import SERIES, Histogram, Sample
from om_api.settings import Settings
from om_api.settings.logs import library_log
from om_api.telemetry.opening import endpoint, resource

if TYPE_CHECKING:
    from om_api.telemetry.figures import Sender, SeriesValue

EVERY_S = 60.0  # as OpenTelemetry has it, unless OTEL_METRIC_EXPORT_INTERVAL says otherwise
_LEAST_S = 1.0
_BY_NAME = {series.name: series for series in SERIES}


async def keep_pushing(settings: Settings, scraper: Scraper) -> None:
    """Send the figures of one store until cancelled; return at once where they go nowhere."""
    whereto = endpoint(settings, "metrics")
    sender = _sender(settings, whereto) if whereto else None
    while sender:
        with suppress(StoreError):  # another time
            await _apart(partial(sender.send, figures(await scraper.samples())))
        await asyncio.sleep(interval_s(settings))


async def _apart(do: Callable[[], object]) -> None:
    """Do something in a thread that the end of the process does not wait for, as it does for those of asyncio."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def work() -> None:
        try:
            do()
        finally:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(done.set)

    threading.Thread(target=work, daemon=True).start()
    await done.wait()


def interval_s(settings: Settings) -> float:
    """Seconds between two times."""
    said = settings.variable("OTEL_METRIC_EXPORT_INTERVAL") or ""
    return max(_LEAST_S, int(said) / 1000) if said.isdecimal() else EVERY_S


def figures(samples: Iterable[Sample]) -> "list[SeriesValue]":
    """Samples as they are sent, under the names and with the labels that Prometheus reads."""
    from om_api.telemetry.figures import Distribution, SeriesValue  # noqa: PLC0415 -- it brings the SDK

    found = list[SeriesValue]()
    for sample in samples:
        series, value = _BY_NAME[sample.series], sample.value
        said = Distribution(value.buckets, value.seconds) if isinstance(value, Histogram) else value
        labels = dict(zip(series.labels, sample.labels, strict=True))
        found.append(SeriesValue(series.name, series.help, labels, said, series.kind == "counter"))
    return found


def _sender(settings: Settings, whereto: str) -> "Sender | None":
    try:
        from om_api.telemetry.figures import Sender  # noqa: PLC0415 -- the same
    except ModuleNotFoundError as error:
        library_log().warning("telemetry_not_available", error=str(missing(error, "telemetry")))
        return None
    return Sender(whereto, resource(settings, "cortex-om-api"))
