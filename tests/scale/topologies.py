"""Which servers a run stands on, what befalls them, what it must have seen of that, and the table of docs/scale.md."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import reports
from chaos.plan import Least, Run
from chaos.report import Seen
from chaos.run import Result, chaos
from chaos.server import AofServer
from rabbitmq import binary

from om_api.store.driver.partitions import CLUSTER
from scale.places import ClusterPlace, RabbitPlace
from scale.sentinels import SentinelPlace

_STRETCH_S = 22  # of a fault of servers, and until all is whole again
_DOWN_S = (4.0, 6.0)


class Topology(NamedTuple):
    """A name, what makes its servers, the faults of them that take turns, and how many replicas a push waits for.

    `may_lose`: what was acknowledged may be lost by a failover, and is counted. `missing` says what cannot be run here, and why.
    """

    name: str
    place: Callable[[Path, Run], Any]
    kinds: tuple[str, ...]
    wait_replicas: int = 0
    may_lose: bool = False
    partitions: int = 1
    missing: str = ""


_NO_RABBITMQ = (
    "" if binary() else "rabbitmq-server is not installed, and cannot be: make scale installs it by apt as root"
)
_OF_SENTINEL = ("kill primary", "replace primary", "pause primary", "pause replica", "lose broker")
_OF_A_CLUSTER = ("kill primary", "move slots", "pause primary", "move slots", "lose broker")
_OF_RABBITMQ = ("kill broker", "kill server", "pause server", "drop connections")
_OF_ONE = ("kill server", "pause server", "drop connections", "lose broker")
TOPOLOGIES = (
    Topology("one server", lambda folder, run: AofServer(folder, run.fsync), _OF_ONE),
    Topology("Sentinel, wait_replicas: 1", SentinelPlace, _OF_SENTINEL, 1),
    Topology("Sentinel, wait_replicas: 0", SentinelPlace, _OF_SENTINEL, may_lose=True),
    Topology("RabbitMQ", RabbitPlace, _OF_RABBITMQ, missing=_NO_RABBITMQ),
    Topology("Cluster, wait_replicas: 1", ClusterPlace, _OF_A_CLUSTER, 1, partitions=CLUSTER),
)


def run_of(topology: Topology, seconds: float, seed: int) -> Run:
    """A run of some seconds in which every kind of fault has its turn, at least once."""
    turns, minutes = max(1, round(seconds / (_STRETCH_S * len(topology.kinds)))), seconds / 60
    made = {"kills": round(6 * minutes), "messages": round(500 * minutes), "generations": round(3 * minutes)}
    least = Least(**made, restarts=0, clears=0, migrations=0, due=300, hours=0)
    return Run(
        seconds,
        seed,
        least=least,
        message_threshold=1_000,
        observation_threshold=400,
        quiet_limit=120,
        compares=False,
        leap_s=0,
        kinds=topology.kinds * turns,
        down_s=None if topology.kinds == _OF_ONE else _DOWN_S,
        wait_replicas=topology.wait_replicas,
        may_lose=topology.may_lose,
        partitions=topology.partitions,
    )


def ran(topology: Topology, run: Run) -> Result:
    """Have a topology go through a run."""
    seen, failures = chaos(run, topology.place)
    missed = [f"saw no {kind}" for kind in topology.kinds if not seen.happened[kind]]
    if {"kill primary", "replace primary", "kill broker"} & {*topology.kinds} and not seen.failovers:
        missed.append("saw no failover")
    return Result(seen, [*missed, *failures])


def table(runs: Mapping[str, Seen], before: str = "") -> str:
    """A row for each topology: of a run, or as it stands in the table of before."""
    kept = [line.strip("| ").split(" | ") for line in before.splitlines() if line.startswith("| ")]
    rows: dict[str, Sequence[object]] = {row[0]: row for row in kept}
    rows |= {name: [*_row(name, seen).values()] for name, seen in runs.items()}
    return reports.table([*_row("", Seen(Run()))], [rows[each.name] for each in TOPOLOGIES if each.name in rows])


def _row(name: str, seen: Seen) -> dict[str, object]:
    happened = seen.happened
    killed, paused = (sum(n for what, n in happened.items() if what.startswith(verb)) for verb in ("kill ", "pause "))
    killed -= happened["kill worker"] + happened["kill beat"]
    return {
        "topology": name,
        "seconds of faults": f"{seen.run.seconds:.0f}",
        "messages acknowledged": seen.acknowledged,
        "kills of workers": happened["kill worker"],
        "servers or brokers killed / paused": f"{killed} / {paused}",
        "failovers": seen.failovers,
        "slots moved": seen.moved,
        "lost": seen.verdict.lost,
        "twice": seen.verdict.doubled,
        "`om verify`": f"{len(seen.breaches)} breaches" if seen.breaches else "clean",
        "tasks in the queues, at most": f"{seen.longest_queue} of {seen.run.queue_limit}",
        "seconds to quiet": f"{seen.quiet_s:.0f}",
    }
