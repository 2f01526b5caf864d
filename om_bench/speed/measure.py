"""`om bench speed`: asks the rooms one after the other, and says what came of it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import msgspec

from om_bench.harness.figures import Figure
from om_bench.harness.page import table
from om_bench.speed.rooms import ROOMS
from om_bench.speed.stand import stand


class Measured(msgspec.Struct):
    """The figures of one run, and what they were measured on."""

    day: str
    machine: str
    figures: list[Figure]


def measure(url: str | None, names: Sequence[str]) -> Measured:
    """All figures of the named rooms, each on a store that is empty when it begins."""
    with stand(url) as made:
        server = made.bare.info("server")
        figures = [figure for name in names or ROOMS for figure in ROOMS[name](made)]
    return Measured(f"{datetime.now(UTC):%Y-%m-%d}", _machine(server), figures)


def _machine(server: dict[str, object]) -> str:
    store = f"Valkey {server['valkey_version']}" if "valkey_version" in server else f"Redis {server['redis_version']}"
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}, redis-py {version('redis')}, {store}"
    )


def as_table(measured: Measured) -> str:
    """The report in Markdown."""
    return "\n".join(_lines(measured))


def _lines(measured: Measured) -> Iterator[str]:
    yield f"Measured on {measured.day}: {measured.machine}."
    yield from table(["work", "ours", "reference", "value", "reach", "met"], map(_row, measured.figures))


def _row(figure: Figure) -> list[str]:
    reach = "-" if figure.reach is None else f"{'>=' if figure.at_least else '<='} {figure.reach:g} {figure.unit}"
    met = {True: "yes", False: "**no**", None: "-"}[figure.met]
    return [figure.work, figure.ours, figure.reference, f"{figure.value:,.2f} {figure.unit}", reach, met]
