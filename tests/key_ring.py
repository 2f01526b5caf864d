"""The API keys of a store as a test makes and ends them."""

from collections.abc import Sequence
from typing import Any

from om_api.domain.api_keys import ApiKey, Token
from om_api.domain.values import Outcome
from om_api.settings import Settings
from om_api.store.driver.connection import Connection, connected
from om_api.store.driver.steps import Steps
from om_api.store.fleet import api_key_records
from om_api.store.memory.keys import Keys


class KeyRing:
    """The keys; over a connection of its own for each question where no client is named."""

    def __init__(self, settings: Settings, client: Any = None) -> None:
        self._url, self._client, self._keys = settings.redis_url, client, Keys(settings.prefix)

    def _run(self, steps: Steps[Any]) -> Any:
        if self._client is not None:
            return Connection(self._client).run(steps)
        with connected(self._url) as connection:
            return connection.run(steps)

    def create(self, resources: Sequence[str], role: str, **options: Any) -> tuple[ApiKey, Token]:
        made: tuple[ApiKey, Token] = self._run(api_key_records.create(self._keys, resources, role, **options))
        return made

    def list(self) -> list[ApiKey]:
        found: list[ApiKey] = self._run(api_key_records.every(self._keys))
        return found

    def revoke(self, key_id: str) -> Outcome:
        done: Outcome = self._run(api_key_records.revoke(self._keys, key_id))
        return done

    def rotate(self, key_id: str, grace: float = 0) -> Token:
        _, token = self._run(api_key_records.rotate(self._keys, key_id, grace))
        assert isinstance(token, Token)
        return token

    def recognise(self, token: str) -> ApiKey | None:
        known = Token.parse(token)
        found: ApiKey | None = self._run(api_key_records.recognise(self._keys, known.proof if known else None))
        return found

    def uses(self) -> dict[str, int]:
        found: dict[str, int] = self._run(api_key_records.uses(self._keys))
        return found

    def use(self, key_id: str) -> None:
        self._run(api_key_records.use(self._keys, [key_id]))
