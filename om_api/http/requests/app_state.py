"""What every handler works with: the memory, the keys, the settings; made once for an app."""

import asyncio
from contextlib import suppress
from typing import NamedTuple, TypeVar

from fastapi import Request

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.api_keys import ApiKey, Proof
from om_api.domain.errors import NotFoundError, StoreError
from om_api.http.serving.server import Shutdown
from om_api.http.serving.shares import Shares, aside
from om_api.http.serving.streams import Streams
from om_api.http.serving.uses import Uses
from om_api.metrics.scraper import Scraper
from om_api.settings import Settings
from om_api.settings.change import PlannedChange
from om_api.settings.saving import save
from om_api.settings.stored_layers import StoredTexts, version_of
from om_api.store.driver.async_connection import AsyncConnection
from om_api.store.driver.steps import Steps
from om_api.store.fleet import api_key_records, request_pace, sessions, stored_settings, stream_tokens
from om_api.store.memory.keys import Keys

T = TypeVar("T")
SESSION_S = sessions.LASTS_S  # how long a browser stays signed in


class SharedMemory(AsyncObservationalMemory):
    """A memory whose large replies are taken up off the event loop, one of each key at a time."""

    async def _run(self, steps: Steps[T]) -> T:
        return await self._connection.run(steps, aside)


class AppState(NamedTuple):
    """One app's memory and figures, and the connection on which it looks up API keys.

    `locked` is False where whoever reaches it may do everything.
    """

    settings: Settings
    memory: AsyncObservationalMemory
    keys: Keys
    connection: AsyncConnection
    scraper: Scraper
    shares: Shares
    streams: Streams
    stopping: Shutdown
    locked: bool
    uses: Uses

    async def recognise(self, proof: Proof | None) -> ApiKey | None:
        """The key of whoever has this proof, None for any other; raises ExpiredKeyError."""
        key = await self.connection.run(api_key_records.recognise(self.keys, proof))
        if key:
            self.uses.note(key.id)
        return key

    async def stream_token(self, proof: Proof) -> str:
        """A token that stands for a proof for a moment."""
        return await self.connection.run(stream_tokens.create(self.keys, proof))

    async def proof_of(self, token: str) -> Proof | None:
        """What a token stands for; None for one that nobody knows (any more)."""
        return await self.connection.run(stream_tokens.proof_of(self.keys, token))

    async def sign_in(self, proof: Proof) -> str:
        """A token by which a browser shows whose pages it may see."""
        return await self.connection.run(sessions.begin(self.keys, proof))

    async def signed_in(self, token: str) -> Proof | None:
        """Who shows it; None for one that nobody knows (any more)."""
        return await self.connection.run(sessions.proof_of(self.keys, token))

    async def sign_out(self, token: str) -> None:
        """Have it open nothing any more."""
        await self.connection.run(sessions.end(self.keys, token))

    async def pace(self, key: ApiKey) -> float:
        """Count a request of a key; 0.0, or in how many seconds it may be made."""
        return await self.connection.run(request_pace.take(self.keys, key))

    async def save_settings(self, planned: PlannedChange, by: str) -> bool:
        """Save a change of settings made with the API key `by`, and take it up; False where another one was first."""
        if planned.file:
            saved = await asyncio.to_thread(save, planned.file, planned.after, version_of(planned.before))
        else:
            saved = await self.connection.run(
                stored_settings.keep(self.keys, planned.agent, planned.before, planned.after, planned.relied_on, by)
            )
        await self.refresh()
        return saved

    async def tell_uses(self) -> None:
        """Send which keys were used since they were last sent; raises nothing, and what is not taken is sent another time."""
        ids = self.uses.since()
        try:
            if ids:
                await self.connection.run(api_key_records.use(self.keys, ids))
        except StoreError:
            self.uses.note(*ids)

    async def refresh(self) -> None:
        """Take up settings that changed, in files or in the store; while it is away, what it said last holds."""
        stored: StoredTexts | None = None
        with suppress(StoreError):
            stored = await self.connection.run(stored_settings.read(self.keys, self.settings.stored))
        await asyncio.to_thread(self.settings.refresh, stored)

    async def close(self) -> None:
        """Send what was not sent yet, and give the connections back."""
        await self.tell_uses()
        await self.memory.close()
        await self.connection.close()
        await self.scraper.close()
        self.shares.close()


def app_state(request: Request) -> AppState:
    """The state of the app that a request came to."""
    found: AppState = request.app.state.app_state
    return found


def memory(request: Request) -> AsyncObservationalMemory:
    """Its memory."""
    return app_state(request).memory


async def memory_of(request: Request, resource: str, thread: str | None = None) -> AsyncObservationalMemory:
    """The same, for what nobody wants of a resource that is not there; raises NotFoundError where nothing is kept of it."""
    if not await memory(request).is_known(resource, thread):
        raise NotFoundError(
            f"{resource} is not known here: nothing of it was ever kept, or all of it was cleared; check the name "
            "(GET /v1/resources lists who is)"
        )
    return memory(request)
