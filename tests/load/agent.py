"""An agent of the run: asks for something else every time, at its pace, for its own memories and for others'."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import httpx2
from chaos.journal import Journal
from chaos.plan import Member
from chaos.writers import Composer

from load.seen import Away, Tally

_ABSENT = 404
_AWAY = 503
_PROBLEM = "application/problem+json"
_SHOWN = 300


class Answer(NamedTuple):
    """An answer: whether it is the one that was wanted, its body, when it was asked for, and what became of a write."""

    good: bool
    body: Any = None
    began: float = 0.0
    stored: bool | None = None


class Asker:
    """Asks for one agent. `asked` counts its requests."""

    def __init__(self, http: httpx2.AsyncClient, tally: Tally, store: Away, api: Away) -> None:
        self._http, self._tally, self._store, self._api = http, tally, store, api
        self.asked = 0

    async def ask(
        self,
        kind: str,
        path: str,
        token: str | None,
        *,
        method: str = "GET",
        want: int = 200,
        absent: bool = False,
        **options: Any,
    ) -> Answer:
        """Send one request; anything but the status that is wanted is excused by a restart, or a fault.

        A resource may be `absent`: nothing is kept of it yet, or any more.
        """
        self.asked += 1
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            answer = await self._http.request(method, path, headers=headers, **options)
        except httpx2.TransportError as error:
            return self._cut(f"{kind} {method} {path}", error, began)
        ended = time.monotonic()
        if answer.status_code == want or (absent and answer.status_code == _ABSENT):
            self._tally.good(kind, began, ended)
            return Answer(good=True, body=answer.content, began=began)
        if answer.status_code == _AWAY and self._store.during(began, ended) and _is_sound(answer):
            self._tally.away[kind] += 1
            return Answer(good=False, stored=answer.json()["stored"])
        self._tally.fault(f"{kind} {method} {path}: {answer.status_code}, not {want}: {answer.text[:_SHOWN]}")
        return Answer(good=False)

    def _cut(self, what: str, error: httpx2.TransportError, began: float) -> Answer:
        if self._api.during(began, time.monotonic()):
            self._tally.cut[type(error).__name__] += 1
        else:
            self._tally.fault(f"{what}: {type(error).__name__} {error}, though nobody restarted the API")
        return Answer(good=False, stored=False if isinstance(error, httpx2.ConnectError) else None)


def _is_sound(answer: httpx2.Response) -> bool:
    """Whether a refusal says when to come back and what became of a write."""
    said = answer.headers.get("content-type") == _PROBLEM and "retry-after" in answer.headers
    return said and "stored" in answer.json()


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
