"""Names that stand for a thread: whatever is written to or read of an alias is that thread's."""

from collections.abc import Mapping

from om_api.domain.values import check_id
from om_api.store.driver.replies import as_bytes, as_hash, word
from om_api.store.driver.steps import Batch, Steps, Verb
from om_api.store.memory.keys import Keys


def resolve(keys: Keys, resource: str, name: str) -> Batch[str]:
    """The thread that a name is of: what it is an alias of, else itself."""
    asked = as_bytes("HGET", keys.of(resource).aliases, name)
    return asked.then(lambda stands: stands.decode() if stands else name)


def aliases(keys: Keys, resource: str) -> Batch[dict[str, str]]:
    """Every alias of a resource, by name, with the thread that it stands for."""
    return as_hash("HGETALL", keys.of(resource).aliases).then(as_aliases)


def as_aliases(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    """Aliases as their hash holds them."""
    return {name.decode(): thread.decode() for name, thread in sorted(fields.items())}


def unalias(keys: Keys, resource: str, alias: str) -> Steps[str]:
    """End an alias; the thread that it stood for, to which all stays that came under it, or "" where it was none."""
    of = keys.of(resource)
    names = [of.aliases, of.known(check_id(alias, "alias"))]
    return (yield from Verb("unalias", names, [alias], word))
