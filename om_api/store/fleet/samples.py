"""How much there was over time: a sample every ten minutes, of all agents together and of each that is measured apart.

A stream for each, named by the step between its samples; the id of a sample is the beginning of its step by the server's time.
What an agent holds is written only where it changed: a sample stands until the next one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from om_api.store.driver.replies import command, fields, write
from om_api.store.driver.steps import Batch, Steps, batch, by_name
from om_api.store.fleet import event_stream
from om_api.store.memory.keys import Keys

TEN_MINUTES, HOUR = 600, 3_600  # s
KEPT = {TEN_MINUTES: 30 * 144, HOUR: 400 * 24}  # samples of a stream: 30 days, 400 days
_KEPT_S = 400 * 86_400


class TierSample(NamedTuple):
    """What there is at a moment, in tokens by tier, and what was counted till then since the beginning.

    Of all together the tiers are those of the `measured` agents, of so many `agents`; everything else is of all. `observed`
    tokens stand behind notes; `micros` is what models cost. Of contexts: how many were served, their tokens, how many of these
    a provider had cached, and the same of the raw history.
    """

    agents: int = 1
    measured: int = 1
    messages: int = 0
    chunks: int = 0
    observations: int = 0
    reflections: int = 0
    observed: int = 0
    micros: int = 0
    contexts: int = 0
    tokens: int = 0
    cached: int = 0
    raw: int = 0
    raw_cached: int = 0


class Sampled(NamedTuple):
    """A sample and when it was taken: Unix ms."""

    at: int
    sample: TierSample


def due(keys: Keys, now: int) -> Steps[tuple[int, ...]]:
    """For which steps nobody has taken a sample yet at server ms `now`: they are ours to take, and nobody else's."""
    found: list[int] = []
    for step in KEPT:
        if not (yield from event_stream.first_to_tell(keys, f"series:{step}:{now // 1_000 // step}")):
            break
        found.append(step)
    return tuple(found)


def add(keys: Keys, steps: Sequence[int], now: int, taken: Mapping[str | None, TierSample]) -> Steps[None]:
    """Append samples of resources, and of all together (None), to the streams of some steps; what did not change is left out."""
    for step in steps:
        last = yield from by_name(taken, lambda name: _newest(_key(keys, step, name)), atomic=False)  # noqa: B023  at once
        at = now // 1_000 // step * step * 1_000
        commands: list[tuple[Any, ...]] = []
        for name, sample in taken.items():
            if name is None or not last[name] or last[name][0].sample != sample:
                commands += _appended(_key(keys, step, name), KEPT[step], at, sample)
        yield from write(*commands, atomic=False, once=True)


def _appended(key: str, kept: int, at: int, sample: TierSample) -> Sequence[tuple[Any, ...]]:
    said = [word for pair in sample._asdict().items() for word in pair]
    return ("XADD", key, "MAXLEN", "~", kept, f"{at}-0", *said), ("EXPIRE", key, _KEPT_S)


def _newest(key: str, before: str = "+") -> Batch[list[Sampled]]:
    return command(_samples, "XREVRANGE", key, before, "-", "COUNT", 1)


def between(keys: Keys, step: int, resource: str | None, since: int) -> Steps[list[Sampled]]:
    """The samples of a resource, or of all together, from Unix ms `since` on, and the last one before, oldest first."""
    key = _key(keys, step, resource)
    before, found = yield from batch(
        _newest(key, str(max(0, since - 1))), command(_samples, "XRANGE", key, since, "+"), atomic=False
    )
    return [*before, *found]


def _key(keys: Keys, step: int, resource: str | None) -> str:
    return keys.series(step) if resource is None else keys.series_of(step, resource)


def _samples(reply: Any) -> list[Sampled]:
    return [one for name, said in reply if (one := _sampled(name, said))]


def _sampled(name: bytes, said: Any) -> Sampled | None:
    """An entry of a stream; None if it is none of ours."""
    try:
        told = {key.decode(): int(value) for key, value in fields(said).items()}
    except ValueError:
        return None
    return Sampled(
        int(bytes(name).partition(b"-")[0]), TierSample(**{each: told.get(each, 0) for each in TierSample._fields})
    )
