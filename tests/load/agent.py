"""An agent of the run: asks for something else every time, at its pace, for its own memories and for others'."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import httpx2
from chaos.journal import Journal
from chaos.plan import Member
from chaos.writers import Composer

from load.plan import cast
from load.seen import Tally

_ABSENT, _AWAY = 404, 503
PATIENCE_S = 60.0


class Answer(NamedTuple):
    """An answer: whether it is the one that was wanted, its body, when it was asked for, and what became of a write."""

    good: bool
    body: Any = None
    began: float = 0.0
    stored: bool | None = None


class Asker:
    """Asks for one agent. `asked` counts its requests."""

    def __init__(self, http: httpx2.AsyncClient, tally: Tally) -> None:
        self._http, self._tally = http, tally
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
            if self._tally.api.during(began, time.monotonic()):
                self._tally.cut[type(error).__name__] += 1
            else:
                said = f"{type(error).__name__} {error}, though nobody restarted the API"
                self._tally.fault(f"{kind} {method} {path}: {said}")
            return Answer(good=False, stored=False if isinstance(error, httpx2.ConnectError) else None)
        ended = time.monotonic()
        if answer.status_code == want or (absent and answer.status_code == _ABSENT):
            self._tally.good(kind, began, ended)
            return Answer(good=True, body=answer.content, began=began)
        store, api = self._tally.store.during(began, ended), self._tally.api.during(began, ended)
        if answer.status_code == _AWAY and (store or api) and _is_sound(answer):
            if store:
                self._tally.away[kind] += 1
            else:
                self._tally.cut["503"] += 1
            return Answer(good=False, stored=answer.json()["stored"])
        self._tally.fault(f"{kind} {method} {path}: {answer.status_code}, not {want}: {answer.text[:300]}")
        return Answer(good=False)


def _is_sound(answer: httpx2.Response) -> bool:
    """Whether a refusal says when to come back and what became of a write."""
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    return is_problem and "retry-after" in answer.headers and "stored" in answer.json()


class Agent(Asker):
    """One of many; `badges` are tokens by role and resource, `quarantined` says which ids of one a placeholder stands for."""

    def __init__(
        self,
        name: str,
        http: httpx2.AsyncClient,
        tally: Tally,
        journal: Journal,
        badges: Mapping[tuple[str, str], str],
        dice: random.Random,
        quarantined: Callable[[str], set[str]],
    ) -> None:
        super().__init__(http, tally)
        self.journal, self.badges, self.dice, self.quarantined = journal, badges, dice, quarantined
        self.cast, self.composer = cast(), Composer(name, dice)
        self.kept: list[Any] = []  # said and acknowledged, to be repeated
        self.halted = False
        self._weights = [member.weight for member in self.cast]

    async def ask_of(self, kind: str, resource: str, path: str, role: str = "reader", **options: Any) -> Answer:
        """Ask below a resource, with a key for it."""
        return await self.ask(kind, path_of(resource, path), self.badges[role, resource], **options)

    async def live(self, kinds: "Mapping[Callable[[Agent], Awaitable[None]], float]", every: float) -> None:
        """Ask for one thing after the other, a request every so many seconds on average, until halted."""
        began = time.monotonic()
        while not self.halted:
            (kind,) = self.dice.choices(list(kinds), list(kinds.values()))
            await kind(self)
            await asyncio.sleep(max(0.0, began + self.asked * every - time.monotonic()))

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
        await asyncio.sleep(self.dice.uniform(0.1, 0.6))


def path_of(resource: str, path: str) -> str:
    """A path below a resource, or its own."""
    return f"/v1/resources/{resource}/{path}".rstrip("/")
