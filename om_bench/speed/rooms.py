"""What is measured, by name: the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from om_bench.harness.figures import Figure
from om_bench.speed import activating, context, extracting, idling, working, writing
from om_bench.speed.stand import Stand

ROOMS: Mapping[str, Callable[[Stand], Iterator[Figure]]] = {
    "add_message": writing.add_message,
    "add_messages": writing.add_messages,
    "memory": writing.memory_of_a_message,
    "get_context": context.context,
    "observer_tick": idling.observer_tick,
    "idle_agents": idling.idle_agents,
    "activation": activating.activation,
    "extractive_observer": extracting.extractive_observer,
    "worker_cpu": working.worker_cpu,
    "calls_in_flight": working.calls_in_flight,
}
