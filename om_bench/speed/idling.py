"""What ticks cost: as much as is due, however many agents there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from om_api.store.memory.keys import queued
from om_bench.harness.figures import Figure, beside, timed
from om_bench.speed.agents import Town, town
from om_bench.speed.stand import Stand

_REACH = 1.3
_DUE = 100
_FEW, _MANY, _ALL = 1_000, 100_000, 1_000_000
_TICKS, _SWEEPS = 300, 3


def observer_tick(_stand: Stand) -> Iterator[Figure]:
    """A tick of the observer's with 100 scopes due, where there are 100,000 agents and where there are 1,000."""
    with town(_FEW) as few, town(_MANY) as many:
        yield _beside(
            f"observer tick, {_DUE} due of {_MANY:,} agents beside {_FEW:,}", _observe(_DUE), many, few, _TICKS
        )


def idle_agents(_stand: Stand) -> Iterator[Figure]:
    """Every tick that a beat sends, with nothing due, where there are 1,000,000 agents and where there are 1,000."""
    with town(_FEW) as few, town(_ALL) as all_:
        for name, tick, rounds in (
            ("observer tick", _observe(0), _TICKS),
            ("reflector tick", _reflect, _TICKS),
            ("sweep", _sweep, _SWEEPS),
        ):
            yield _beside(f"{name}, {_ALL:,} idle agents beside {_FEW:,}", tick, all_, few, rounds)


def _beside(work: str, tick: Callable[[Town], float], many: Town, few: Town, rounds: int) -> Figure:
    """The same tick in both in turns; what came before it is not timed."""
    pairs = [(tick(many), tick(few)) for _ in range(rounds)]
    return beside(work, [one for one, _ in pairs], [other for _, other in pairs], _REACH)


def _observe(due: int) -> Callable[[Town], float]:
    def tick(town: Town) -> float:
        if due:
            town.bare.zadd(town.keys.due_observe, dict.fromkeys(town.names[:: len(town.names) // due], 0))
        town.bare.delete(town.keys.tick("observer"), queued(town.keys.due_observe))
        return timed(town.rounds.observe)

    return tick


def _reflect(town: Town) -> float:
    town.bare.delete(town.keys.tick("reflector"))
    return timed(town.rounds.reflect)


def _sweep(town: Town) -> float:
    town.bare.delete(town.keys.tick("sweep"))
    return timed(town.rounds.sweep)
