"""Tallies: how many of how many."""

from collections.abc import Iterable

import msgspec
from msgspec import field


class Tally(msgspec.Struct):
    """How many of how many."""

    of: int = 0
    did: int = 0

    def add(self, did: int, of: int) -> None:
        """Count further ones."""
        self.did += did
        self.of += of

    @property
    def percent(self) -> float:
        """The share in percent, with one decimal."""
        return round(100 * self.did / self.of, 1) if self.of else 0.0

    @property
    def shown(self) -> str:
        """The same for people; `-` where there was nothing to count."""
        return str(self.percent) if self.of else "-"


class Scored(msgspec.Struct):
    """Questions whose evidence a context holds: of all, and of those to whose evidence a role's words belong."""

    all: Tally = field(default_factory=Tally)
    roles: dict[str, Tally] = {}

    def add(self, did: int, roles: Iterable[str]) -> None:
        """Count a question (1: held, 0: not) that these roles have said the evidence of."""
        self.all.add(did, 1)
        for role in sorted(set(roles)):
            self.roles.setdefault(role, Tally()).add(did, 1)

    def of(self, role: str) -> str:
        """S of a role's words, for people."""
        return self.roles.get(role, Tally()).shown
