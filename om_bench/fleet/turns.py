"""Whose turn it is among what is due: the fair queue of the due index (docs/decisions/0055), without a store."""

import heapq
import itertools
from typing import NamedTuple


class DueTask(NamedTuple):
    """One look at a scope of a resource: due since `due_s`, for so long its model thinks, and so much its turn costs."""

    resource: str
    due_s: float
    model_s: float
    cost_s: float = 1.0


class FairTurns:
    """Tasks that are due. Those that came since the last tick have no turn yet; `admit` gives it to them."""

    def __init__(self) -> None:
        self._come: list[DueTask] = []
        self._turns: list[tuple[float, int, DueTask]] = []
        self._clocks: dict[str, float] = {}
        self._common = 0.0
        self._numbers = itertools.count()

    def __len__(self) -> int:
        """How many are due, with a turn or without."""
        return len(self._come) + len(self._turns)

    def add(self, task: DueTask) -> None:
        """Have a task come due."""
        self._come.append(task)

    def admit(self) -> None:
        """Give their turn to all that came."""
        for task in self._come:
            turn = max(self._clocks.get(task.resource, 0.0), self._common) + task.cost_s
            self._clocks[task.resource] = turn
            heapq.heappush(self._turns, (turn, next(self._numbers), task))
        self._come.clear()

    def take(self, most: int) -> list[DueTask]:
        """Hand out those whose turn comes first."""
        handed = [heapq.heappop(self._turns) for _ in range(min(most, len(self._turns)))]
        if handed:
            self._common = max(self._common, handed[-1][0] - handed[-1][2].cost_s)
        if not len(self):
            self._clocks.clear()
        return [task for _, _, task in handed]
