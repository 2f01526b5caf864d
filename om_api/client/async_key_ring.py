"""AsyncKeyRing: who may ask the HTTP API for what. key_ring.py is made of this file by `make faces`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from om_api.domain.api_keys import ApiKey, Token
from om_api.domain.values import Outcome
from om_api.settings import Settings
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.fleet import api_key_records
from om_api.store.memory.keys import Keys


class AsyncKeyRing:
    """The API keys of a store. Safe for the tasks of one event loop.

    Raises StoreError when the store cannot be asked, InvalidInputError for what no key can be.
    """

    def __init__(self, settings: Settings, *, timeout: float = 5.0, client: Any = None) -> None:
        self._connection = AsyncConnection(
            client if client is not None else open_async_client(settings.redis_url, timeout)
        )
        self._keys = Keys(settings.prefix)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._connection.close()

    async def create(self, resources: Sequence[str], role: str) -> tuple[ApiKey, Token]:
        """A new key, bound to resources (`*`: every one) and a role, and its token, which is kept nowhere."""
        return await self._connection.run(api_key_records.create(self._keys, resources, role))

    async def list(self) -> list[ApiKey]:
        """Every key, the oldest first."""
        return await self._connection.run(api_key_records.every(self._keys))

    async def revoke(self, key_id: str) -> Outcome:
        """End a key at once: `cleared`, or `superseded` when there is none (any more)."""
        return await self._connection.run(api_key_records.revoke(self._keys, key_id))

    async def rotate(self, key_id: str, grace: float = 0) -> Token:
        """A new token for a key; the old one is accepted for `grace` more seconds."""
        return await self._connection.run(api_key_records.rotate(self._keys, key_id, grace))

    async def recognise(self, token: str) -> ApiKey | None:
        """The key that a token belongs to, None for any other text."""
        return await self._connection.run(api_key_records.recognise(self._keys, token))
