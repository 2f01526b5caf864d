"""Which servers a run stands on, what befalls them, and what it must have seen of that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from chaos.plan import Least, Run
from chaos.run import Result, chaos
from chaos.server import AofServer
from rabbitmq import binary

from om_api.store.driver.partitions import CLUSTER
from scale.clusters import ClusterPlace
from scale.rabbit import RabbitPlace
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


class Ran(NamedTuple):
    """A topology, what was seen on it, and its servers' own count of failovers and of slots that were moved."""

    topology: Topology
    result: Result
    failovers: int
    moved: int


_NO_RABBITMQ = (
    "" if binary() else "rabbitmq-server is not installed, and cannot be: make scale installs it by apt as root"
)
_OF_SENTINEL = ("kill primary", "replace primary", "pause primary", "pause replica", "lose broker")
_OF_A_CLUSTER = ("kill primary", "move slots", "pause primary", "move slots", "lose broker")
_OF_RABBITMQ = ("kill broker", "kill server", "pause server", "drop connections")
_OF_ONE = ("kill server", "pause server", "drop connections", "lose broker")
TOPOLOGIES = (
    Topology("one server", lambda folder, run: AofServer(folder, run.fsync), _OF_ONE),
    Topology("Sentinel, wait_replicas: 1", lambda folder, _: SentinelPlace(folder), _OF_SENTINEL, 1),
    Topology("Sentinel, wait_replicas: 0", lambda folder, _: SentinelPlace(folder), _OF_SENTINEL, may_lose=True),
    Topology("RabbitMQ", lambda folder, run: RabbitPlace(folder, run.fsync), _OF_RABBITMQ, missing=_NO_RABBITMQ),
    Topology(
        "Cluster, wait_replicas: 1",
        lambda folder, run: ClusterPlace(folder, run.seed),
        _OF_A_CLUSTER,
        1,
        partitions=CLUSTER,
    ),
)


def run_of(topology: Topology, seconds: float, seed: int) -> Run:
    """A run of some seconds in which every kind of fault has its turn, at least once."""
    turns = max(1, round(seconds / (_STRETCH_S * len(topology.kinds))))
    minutes = seconds / 60
    least = Least(
        kills=round(6 * minutes),
        restarts=0,
        messages=round(500 * minutes),
        generations=round(3 * minutes),
        clears=0,
        migrations=0,
        due=300,
        hours=0,
    )
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


def ran(topology: Topology, run: Run) -> Ran:
    """Have a topology go through a run."""
    made: list[Any] = []

    def place(folder: Path, run: Run) -> Any:
        made.append(topology.place(folder, run))
        return made[-1]

    result = chaos(run, place)
    found = [getattr(made[0], name, 0) for name in ("failovers", "moved")]
    missed = [f"saw no {kind}" for kind in topology.kinds if not result.seen.happened[kind]]
    if {"kill primary", "replace primary", "kill broker"} & {*topology.kinds} and not found[0]:
        missed.append("saw no failover")
    return Ran(topology, result._replace(failures=[*missed, *result.failures]), *found)
