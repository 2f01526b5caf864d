"""Whether it is the message or the model: what was observed of a chunk's halves, and who waits for another model."""

from om_api.store.driver.replies import as_bool, nothing, write
from om_api.store.driver.steps import Batch, Verb
from om_api.store.memory.chunks import root
from om_api.store.memory.keys import Keys, ResourceKeys

_REMEMBERED_S = 86_400
LOCK = "waits"
WAIT_S = 300  # a model that cannot even observe what is harmless


def observed(keys: Keys, resource: str, chunk: str) -> Verb[None]:
    """Note that a model did its work since the chunk, of which this one is a half, could not be observed.

    Nothing is noted of a chunk that was cleared meanwhile.
    """
    of = keys.of(resource)
    return Verb("observed", [of.chunk(chunk), _mark(of, chunk)], [_REMEMBERED_S], nothing)


def locks(of: ResourceKeys, chunk: str) -> list[str]:
    """What may stand of the work on a chunk, and must go with it."""
    return [of.lock(f"chunk:{chunk}"), _mark(of, chunk)]


def was_observed(keys: Keys, resource: str, chunk: str) -> Batch[bool]:
    """Whether a model did its work since the chunk, of which this one is a half, could not be observed."""
    return as_bool("EXISTS", _mark(keys.of(resource), chunk))


def _mark(of: ResourceKeys, chunk: str) -> str:
    return of.lock(f"observed:{root(chunk)}")


def wait(keys: Keys, resource: str, seconds: int = WAIT_S) -> Batch[None]:
    """Ask no model for a resource for a while."""
    return write(("SET", keys.of(resource).lock(LOCK), 1, "EX", seconds))


def over(keys: Keys, resource: str) -> Batch[None]:
    """Ask models for a resource again at once."""
    return write(("UNLINK", keys.of(resource).lock(LOCK)))


def waits(keys: Keys, resource: str) -> Batch[bool]:
    """Whether a resource waits for a model that can observe something."""
    return as_bool("EXISTS", keys.of(resource).lock(LOCK))
