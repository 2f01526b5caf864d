"""Whether it is the message or the model: what was observed of a chunk's halves, and who waits for another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.store.commits import root
from om_api.store.steps import Batch, Steps

if TYPE_CHECKING:
    from om_api.store.keys import Keys

_REMEMBERED_S = 86_400
WAIT_S = 300


def observed(keys: Keys, resource: str, chunk: str) -> Steps[None]:
    """Note that a model did its work since the chunk, of which this one is a half, could not be observed."""
    name = keys.of(resource).lock(f"observed:{root(chunk)}")
    yield Batch([("SET", name, 1, "EX", _REMEMBERED_S)], writes=True)


def was_observed(keys: Keys, resource: str, chunk: str) -> Steps[bool]:
    """Whether a model did its work since the chunk, of which this one is a half, could not be observed."""
    (found,) = yield Batch([("EXISTS", keys.of(resource).lock(f"observed:{root(chunk)}"))])
    return bool(found)


def wait(keys: Keys, resource: str) -> Steps[None]:
    """Ask no model for a resource for a while: it could not even observe what is harmless."""
    yield Batch([("SET", keys.of(resource).lock("waits"), 1, "EX", WAIT_S)], writes=True)


def over(keys: Keys, resource: str) -> Steps[None]:
    """Ask models for a resource again at once."""
    yield Batch([("UNLINK", keys.of(resource).lock("waits"))], writes=True)


def waits(keys: Keys, resource: str) -> Steps[bool]:
    """Whether a resource waits for a model that can observe something."""
    (found,) = yield Batch([("EXISTS", keys.of(resource).lock("waits"))])
    return bool(found)
