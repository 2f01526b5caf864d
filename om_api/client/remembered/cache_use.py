"""What a client knows of the agent's prompt cache: when it was used last, and for which model the memory is read."""

from om_api.domain.errors import InvalidInputError
from om_api.domain.policy import Limits, Pressure, cold_at
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import shown
from om_api.settings.model_settings import MODEL_NAME
from om_api.store.memory.scope_state import ScopeState


def check_model(model: str | None) -> str | None:
    """A model's name as contexts are asked for with, or InvalidInputError."""
    if model is not None and not (isinstance(model, str) and MODEL_NAME.fullmatch(model)):
        raise InvalidInputError(
            f"model is {shown(model)!r}: use the name of the agent's own model, 1 to 200 of A-Z a-z 0-9 . _ : / @ + -, or None"
        )
    return model


def last_use(snapshot: Snapshot, read_at: int) -> int:
    """When the Actor last called its model, in Unix ms of the server; 0 where nobody can tell.

    That is when this client read the thread last (`read_at`), the Actor last spoke in it, or anybody in another thread: prompts
    of all begin alike. What has just been said to the Actor does not count, as no model was sent it yet.
    """
    spoken = [message.at for message in snapshot.messages if message.role == "assistant"]
    others = [message.at for messages in snapshot.others.values() for message in messages[-1:]]
    return min(max(read_at, *spoken, *others, 0), snapshot.now)


def waits_until(look: ScopeState, limits: Limits) -> int:
    """When (Unix ms) the cache goes cold for which a scope's ready chunks wait, by what workers saw of it; 0: for none."""
    own = {*look.unsealed, *(chunk.thread for chunk in look.chunks)}
    seen = [at for thread, at in look.thread_times.items() if thread in own]
    pressure = Pressure(
        chunks=look.chunks,
        unsealed=look.unsealed,
        observation_tokens=look.record.observation_tokens,
        reflection_tokens=look.record.reflection_tokens,
        cached_at=min(max(seen, default=0), look.now),
    )
    return cold_at(pressure, limits) or 0


def turns(snapshot: Snapshot, model: str | None, limits: Limits) -> bool:
    """Whether a thread is read for another model from now on.

    Who comes back to the model before, within a lifetime of its cache, finds that warm: an agent may change between two.
    """
    known = snapshot.thread
    if limits.timing == "threshold" or not model or model == known.model or not snapshot.record.epoch:
        return False
    return model != known.model_before or snapshot.now - known.model_at >= limits.cache.lifetime_ms
