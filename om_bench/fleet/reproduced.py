"""What was measured of whole fleets, beside what the simulation makes of the unit costs."""

from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import NamedTuple

from om_bench.fleet.clock import Clock, Servers
from om_bench.fleet.simulation import Duration, Fleet, backlog, simulate
from om_bench.fleet.unit_costs import MeasuredPoint, UnitCosts
from om_bench.fleet.weights import memory_bytes

_PUSHED_S = 5.0
_ROUNDS = 8  # of a task for each thread, after two that are not counted: as `om bench drain` does


class Reproduced(NamedTuple):
    """One measured point, and what the simulation came to."""

    point: MeasuredPoint
    simulated: float

    @property
    def off(self) -> float:
        """By how much of what was measured the simulation is too high."""
        return self.simulated / self.point.value - 1


def reproduced(costs: UnitCosts) -> Iterator[Reproduced]:
    """Every measured point, simulated."""
    return (Reproduced(point, SIMULATED[point.kind](costs, point.setup)) for point in costs.points)


def measured_fleet(costs: UnitCosts, setup: Mapping[str, float]) -> Fleet:
    """A fleet on the machine that it was measured on: store, broker and model share its cores."""
    cores, slow = _left(setup)
    return Fleet(
        workers=int(setup["workers"]), threads=int(setup["threads"]), cores=cores,
        worker_s=slow * costs.seconds("worker_ms"), store_s=slow * costs.seconds("store_ms"),
        broker_s=slow * costs.seconds("broker_ms"), beside_s=slow * costs.seconds("model_ms"),
    )  # fmt: skip


def _left(setup: Mapping[str, float]) -> tuple[int, float]:
    """What others at work left of the machine: so many cores, on which all takes so many times as long."""
    cores = ceil(setup["cores"])
    return cores, cores / setup["cores"]


def _drain(costs: UnitCosts, setup: Mapping[str, float]) -> float:
    """Observations a second of a fleet that has more to do than it can."""
    fleet = measured_fleet(costs, setup)
    ended = simulate(fleet, backlog(12 * fleet.places, Duration(setup["seconds"]))).ended
    first, last = 2 * fleet.places, (2 + _ROUNDS) * fleet.places
    return (last - first) / (ended[last - 1] - ended[first - 1])


def _push(costs: UnitCosts, setup: Mapping[str, float]) -> float:
    """Pushes a second of so many clients, each of which pushes again when its push was kept."""
    clock, pushed, (count, slow) = Clock(), 0, _left(setup)
    client_s, store_s = slow * costs.seconds("push_client_us"), slow * costs.seconds("push_store_us")
    cores = Servers(clock, count)
    store = Servers(clock, 1, cores)

    def go_on(client: Servers) -> None:
        nonlocal pushed
        pushed += 1
        client.use(client_s, lambda: store.use(store_s, lambda: go_on(client)))

    clients = [Servers(clock, 1, cores) for _ in range(int(setup["clients"]))]
    for client in clients:
        go_on(client)
    clock.run(_PUSHED_S)
    return (pushed - len(clients)) / _PUSHED_S


def _memory(_: UnitCosts, setup: Mapping[str, float]) -> float:
    return memory_bytes(**setup) / setup["agents"]


SIMULATED: Mapping[str, Callable[[UnitCosts, Mapping[str, float]], float]] = {
    "drain": _drain,
    "push": _push,
    "memory": _memory,
}
