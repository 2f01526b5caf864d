"""`om bench speed`: asks the rooms one after the other, and says what came of it."""

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import msgspec

from om_bench.harness.page import table
from om_bench.speed import (
    activating,
    archiving,
    context,
    extracting,
    idling,
    recalling,
    remembering,
    syncing,
    tracing,
    working,
    writing,
)
from om_bench.speed.stand import Figure, Stand, stand

ROOMS: Mapping[str, Callable[[Stand], Iterator[Figure]]] = {
    "add_message": writing.add_message,
    "add_messages": writing.add_messages,
    "memory": writing.memory_of_a_message,
    "known_ids": remembering.known_ids,
    "sync": syncing.sync,
    "get_context": context.context,
    "recall": recalling.recall,
    "archive": archiving.archive,
    "observer_tick": idling.observer_tick,
    "idle_agents": idling.idle_agents,
    "activation": activating.activation,
    "extractive_observer": extracting.extractive_observer,
    "worker_cpu": working.worker_cpu,
    "calls_in_flight": working.calls_in_flight,
    "tracing": tracing.tracing,
}


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
    return Measured(f"{datetime.now(UTC):%Y-%m-%d}", machine(server), figures)


def machine(server: dict[str, object]) -> str:
    """What something was measured on, its server by what INFO says of it."""
    store = f"Valkey {server['valkey_version']}" if "valkey_version" in server else f"Redis {server['redis_version']}"
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}, redis-py {version('redis')}, {store}"
    )


def as_lines(measured: Measured) -> Iterator[str]:
    """The report in Markdown."""
    yield f"Measured on {measured.day}: {measured.machine}."
    yield from table(["work", "ours", "reference", "value", "reach", "met"], map(_row, measured.figures))


def _row(figure: Figure) -> list[str]:
    reach = "-" if figure.reach is None else f"{'>=' if figure.at_least else '<='} {figure.reach:g} {figure.unit}"
    met = {True: "yes", False: "**no**", None: "-"}[figure.met]
    return [figure.work, figure.ours, figure.reference, f"{figure.value:,.2f} {figure.unit}", reach, met]
