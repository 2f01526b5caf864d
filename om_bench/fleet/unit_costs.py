"""What single things cost, as they were measured, and what was measured of whole fleets: one file that both are kept in."""

from importlib.resources import files
from pathlib import Path

import msgspec

FILE = "unit_costs.yaml"


class UnitCost(msgspec.Struct, frozen=True, kw_only=True):
    """What one thing costs in which unit, in words, and the command that measures it."""

    value: float
    unit: str
    what: str
    by: str


class MeasuredPoint(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of a whole, which the simulation has to come to as well; `setup` is what it was measured on."""

    kind: str
    what: str
    value: float
    unit: str
    by: str
    setup: dict[str, float] = {}


class UnitCosts(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, and the machine that the measured fleets, their store and their model shared."""

    day: str
    machine: str
    units: dict[str, UnitCost]
    points: list[MeasuredPoint]

    def __getitem__(self, name: str) -> float:
        """The value of a unit cost."""
        return self.units[name].value

    def seconds(self, name: str) -> float:
        """The same in seconds: its name ends with `_ms` or `_us`."""
        return self[name] / {"ms": 1e3, "us": 1e6}[name.rpartition("_")[2]]


def read() -> UnitCosts:
    """What was measured last."""
    return msgspec.yaml.decode(files(__package__).joinpath(FILE).read_bytes(), type=UnitCosts)


def write(costs: UnitCosts) -> None:
    """Keep what was measured, beside this module."""
    (Path(__file__).parent / FILE).write_bytes(msgspec.yaml.encode(costs))
