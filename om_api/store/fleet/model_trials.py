"""Test calls of models: somebody asks for one, a worker makes it, and for minutes both are kept; one at a time of each model."""

from typing import Literal

import msgspec

from om_api.domain.learned import learned
from om_api.store.driver.replies import as_bool, as_bytes, as_int, as_pairs, server_ms, write
from om_api.store.driver.steps import Batch, Steps, Wait
from om_api.store.memory.keys import Keys, safe_name

STANDS_S = 300  # for which a request waits for its answer
BEGUN_S = 180  # after which nobody begins it: its answer might come too late
KEPT_S = 600  # an answer, for whoever asked
_POLL_S = 0.2
_NOBODY = (
    f"no worker made the call within {STANDS_S // 60} minutes: see that a worker and a beat run (om doctor), and repeat"
)


@learned
class ModelTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a model's test call: `answered`, `failed` and why, `busy` while no worker has made it.

    `asked_at` is the server's time (Unix ms), `seconds` how long the answer took, waiting for limits included. `input` (which
    includes `cached`) and `output` are tokens; `cost` in dollars is null where no price is known. `text` begins the answer.
    """

    model: str
    asked_at: int
    outcome: Literal["busy", "answered", "failed"] = "busy"
    seconds: float | None = None
    input: int = 0
    cached: int = 0
    output: int = 0
    cost: float | None = None
    text: str = ""
    error: str = ""


def ask(keys: Keys, model: str) -> Steps[ModelTrial]:
    """Have a worker make a test call of a model; while one of it stands that is the one that is waited for."""
    now, name = (yield from server_ms()), keys.trying(safe_name(model))
    yield from write(("SET", name, now, "NX", "EX", STANDS_S))
    asked_at = int((yield from as_bytes("GET", name)) or now)
    if asked_at == now:
        yield from write(("ZADD", keys.trials, now, model), ("EXPIRE", keys.trials, STANDS_S))
    return ModelTrial(model=model, asked_at=asked_at)


def waiting(keys: Keys) -> Batch[int]:
    """How many wait for a worker."""
    return as_int("ZCARD", keys.trials)


def take(keys: Keys) -> Steps[ModelTrial | None]:
    """The one that waits longest, for whoever takes it alone; None where none waits. What waited too long is let go."""
    now = yield from server_ms()
    while popped := (yield from as_pairs("ZPOPMIN", keys.trials).writing()):
        [(model, asked_at)] = popped
        if asked_at > now - BEGUN_S * 1_000:
            return ModelTrial(model=model.decode("utf-8", "replace"), asked_at=int(asked_at))
    return None


def put_back(keys: Keys, trial: ModelTrial) -> Steps[None]:
    """Leave one to another worker."""
    yield from write(("ZADD", keys.trials, trial.asked_at, trial.model), ("EXPIRE", keys.trials, STANDS_S))


def end(keys: Keys, trial: ModelTrial) -> Steps[None]:
    """Keep what came of one; the next may be asked for."""
    name = safe_name(trial.model)
    yield from write(("SET", keys.tried(name), msgspec.json.encode(trial), "EX", KEPT_S))
    yield from write(("UNLINK", keys.trying(name)))


def stands(keys: Keys, model: str, asked_at: int, wait: float = 0.0) -> Steps[ModelTrial]:
    """What came of one that was asked for, once a worker has made it, or how it stands after `wait` seconds."""
    waited = 0.0
    while True:
        found = yield from _now(keys, model, asked_at)
        if found.outcome != "busy" or waited >= wait:
            return found
        yield from Wait(_POLL_S)
        waited += _POLL_S


def _now(keys: Keys, model: str, asked_at: int) -> Steps[ModelTrial]:
    """Whether it stands is read first: an answer is kept before its request goes."""
    name = safe_name(model)
    open_ = yield from as_bool("EXISTS", keys.trying(name))
    kept = yield from as_bytes("GET", keys.tried(name))
    if kept and (found := msgspec.json.decode(kept, type=ModelTrial)).asked_at >= asked_at:
        return found
    asked = ModelTrial(model=model, asked_at=asked_at)
    return asked if open_ else msgspec.structs.replace(asked, outcome="failed", error=_NOBODY)
