"""One HTTP client of the run: it knows which answer it should get, and tells everything else."""

import time
from typing import Any, NamedTuple

import httpx2

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
