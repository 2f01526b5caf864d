"""An agent of the run: asks for something else every time, at its pace, for its own memories and for others'."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from chaos.journal import Journal
from chaos.plan import Member
from chaos.writers import Composer

from load.asking import Asker

PATIENCE_S = 60.0
_SPREAD_S = (0.1, 0.6)


class Badges(NamedTuple):
    """Tokens: a writer's and a reader's for each resource, and an operator's for all."""

    writers: Mapping[str, str]
    readers: Mapping[str, str]
    operator: str


class Agent:
    """One of many; `quarantined` says which ids of a resource a placeholder stands for."""

    def __init__(
        self,
        name: str,
        asker: Asker,
        journal: Journal,
        badges: Badges,
        cast: Sequence[Member],
        dice: random.Random,
        quarantined: Callable[[str], set[str]],
    ) -> None:
        self.asker, self.journal, self.badges, self.cast, self.dice = asker, journal, badges, cast, dice
        self.composer = Composer(name, dice)
        self.quarantined = quarantined
        self.kept: list[Any] = []  # said and acknowledged, to be repeated
        self.halted = False
        self._weights = [member.weight for member in cast]

    async def live(self, kinds: "Mapping[Callable[[Agent], Awaitable[None]], float]", every: float) -> None:
        """Ask for one thing after the other, a request every so many seconds on average, until halted."""
        began = time.monotonic()
        while not self.halted:
            (kind,) = self.dice.choices(list(kinds), list(kinds.values()))
            await kind(self)
            await asyncio.sleep(max(0.0, began + self.asker.asked * every - time.monotonic()))

    def member(self, *fates: str) -> Member:
        """Somebody of the cast; of those with one of these fates, if any are named."""
        if not fates:
            return self.dice.choices(self.cast, self._weights)[0]
        return self.dice.choice([member for member in self.cast if member.fate in fates])

    def place(self) -> tuple[str, str]:
        """Somebody's name and thread."""
        member = self.member()
        return member.name, self.dice.choice(member.threads)

    async def pause(self) -> None:
        """Wait a little before something is asked for again."""
        await asyncio.sleep(self.dice.uniform(*_SPREAD_S))


def of(resource: str, *parts: str) -> str:
    """A path below a resource."""
    return "/".join((f"/v1/resources/{resource}", *parts))
