"""Whether it is the message or the model: what was observed of a chunk's halves, and who waits for another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.store.commits import root
from om_api.store.steps import Batch, Steps, Verb

if TYPE_CHECKING:
    from om_api.store.keys import Keys, ResourceKeys

_REMEMBERED_S = 86_400
LOCK = "waits"
WAIT_S = 300  # a model that cannot even observe what is harmless


def observed(keys: Keys, resource: str, chunk: str) -> Steps[None]:
    """Note that a model did its work since the chunk, of which this one is a half, could not be observed.

    Nothing is noted of a chunk that was cleared meanwhile.
    """
    of = keys.of(resource)
    yield Verb("observed", [of.chunk(chunk), _mark(of, chunk)], [_REMEMBERED_S])


def locks(of: ResourceKeys, chunk: str) -> list[str]:
    """What may stand of the work on a chunk, and must go with it."""
    return [of.lock(f"chunk:{chunk}"), _mark(of, chunk)]


def was_observed(keys: Keys, resource: str, chunk: str) -> Steps[bool]:
    """Whether a model did its work since the chunk, of which this one is a half, could not be observed."""
    (found,) = yield Batch([("EXISTS", _mark(keys.of(resource), chunk))])
    return bool(found)


def _mark(of: ResourceKeys, chunk: str) -> str:
    return of.lock(f"observed:{root(chunk)}")


def wait(keys: Keys, resource: str, seconds: int = WAIT_S) -> Steps[None]:
    """Ask no model for a resource for a while."""
    yield Batch([("SET", keys.of(resource).lock(LOCK), 1, "EX", seconds)], writes=True)


def over(keys: Keys, resource: str) -> Steps[None]:
    """Ask models for a resource again at once."""
    yield Batch([("UNLINK", keys.of(resource).lock(LOCK))], writes=True)


def waits(keys: Keys, resource: str) -> Steps[bool]:
    """Whether a resource waits for a model that can observe something."""
    (found,) = yield Batch([("EXISTS", keys.of(resource).lock(LOCK))])
    return bool(found)
