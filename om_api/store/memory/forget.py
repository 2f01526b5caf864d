"""The end of one observation, with what it was made of, because its owner says so."""

from __future__ import annotations

from om_api.domain.values import Outcome, Scope, Stored
from om_api.store.driver.replies import as_list, outcome
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory.keys import Keys
from om_api.store.memory.quarantine import as_rejected


def forget(keys: Keys, scope: Scope, epoch: str, stored: Stored) -> Steps[Outcome]:
    """Remove one observation, the messages behind it and its quarantine entry, because their owner says so."""
    of, name = keys.of(scope.resource), stored.observation.id
    quarantined = yield from as_list("LRANGE", of.rejected, 0, -1)
    entries = [entry for entry in quarantined if as_rejected(entry).observation == name]
    names = [of.record(scope), of.observations(scope), of.source(name), of.draft(scope), of.rejected]
    args = [epoch, exact(stored.seq), stored.observation.tokens, *entries]
    return (yield from Verb("forget", names, args, outcome))
