"""What is measured, by name: the order of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_workers.bench.speed import activating, context, extracting, idling, working, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from om_workers.bench.figures import Figure
    from om_workers.bench.speed.stand import Stand

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
