"""What extractors found in a memory, read."""

from om_api.client.reading import Scopes
from om_api.context.kept import KeptParts
from om_api.domain.kept.extractors import WORKING, Extracted
from om_api.domain.values import ExtractedValue, Scope
from om_api.store.driver.steps import Steps, batch
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys


class ExtractedReader:
    """Values of extractors, of threads and of whole memories."""

    def __init__(self, keys: Keys, scopes: Scopes) -> None:
        self._keys, self._scopes = keys, scopes

    def of(self, resource: str, thread: str | None) -> Steps[dict[str, ExtractedValue]]:
        """The values of one thread and of its whole memory, by name; without a thread those of the whole memory alone."""
        thread = yield from self._scopes.named(resource, thread)
        scope = yield from self._scopes.of(resource, thread)
        found = yield from self._read(scope)
        values = {**found.get("", {}), **(found.get(thread, {}) if thread else {})}
        return {slug: each for slug, each in values.items() if slug != WORKING}

    def _read(self, scope: Scope) -> Steps[Extracted]:
        generations, stored = yield from batch(
            reading.generations(self._keys, scope, newest=1), reading.observations(self._keys, scope)
        )
        in_force = generations[-1] if generations else None
        return KeptParts(scope, "", in_force, stored, {}, 0).extracted()
