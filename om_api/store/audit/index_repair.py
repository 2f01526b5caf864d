"""Having recall's index made anew where it was found missing or broken."""

from collections.abc import Iterable

from om_api.domain.values import Scope
from om_api.store.audit.invariants import Breach
from om_api.store.audit.resource_dump import named
from om_api.store.driver.replies import write
from om_api.store.driver.steps import Steps
from om_api.store.memory.clear import threads_met
from om_api.store.memory.keys import Keys


def repair_index(keys: Keys, breaches: Iterable[Breach]) -> Steps[int]:
    """Remove the segments that breaches name, and have the sweep make what their memories lack of them; how many they were.

    Till then recall reads the messages. What was the index of messages that are not there is made no more.
    """
    owners: dict[str, str] = {}
    for where in (breach.where for breach in breaches):
        if (what := named(keys, where)) and what.kind.name == "segment" and what.resource:
            owners[where] = what.resource
    for resource in sorted(set(owners.values())):
        own = [where for where, owner in owners.items() if owner == resource]
        scopes = [Scope(resource), *(Scope(resource, name) for name in (yield from threads_met(keys, resource)))]
        records = map(keys.of(resource).record, scopes)
        yield from write(("UNLINK", *own), *(("HDEL", record, "indexed") for record in records))
    return len(owners)
