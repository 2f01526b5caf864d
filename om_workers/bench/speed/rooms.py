"""What is measured, by name: the order of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from om_workers.bench.figures import Figure
    from om_workers.bench.speed.stand import Stand

ROOMS: Mapping[str, Callable[[Stand], Iterator[Figure]]] = {}
