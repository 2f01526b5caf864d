"""Taking samples: how much there is, every ten minutes, for whoever wants to see it over time."""

from collections.abc import Mapping

from om_api.store.fleet import event_stream, resource_tiers, samples
from om_api.store.fleet.resource_tiers import Tiers
from om_api.store.fleet.samples import TierSample
from om_api.store.memory import due
from om_workers.work.services import Services
from om_workers.work.unreadable import Isolated


class Sampler:
    """Takes a sample of all agents, and of each that is measured apart, once in each step, however many beats there are."""

    def __init__(self, services: Services) -> None:
        self._keys, self._run = services.keys, services.run
        self._most = services.settings.memory.metrics.resources

    def sample(self) -> bool:
        """Whether one was taken. What is wrong with figures is logged, and no reason for a tick to fail."""
        with Isolated("sample_failed"):
            now = self._run(due.server_ms())
            if steps := self._run(samples.due(self._keys, now)):
                self._run(samples.add(self._keys, steps, now, self._taken()))
            return bool(steps)
        return False

    def _taken(self) -> dict[str | None, TierSample]:
        keys, run = self._keys, self._run
        resources = run(event_stream.measured(keys, self._most))
        *own, every = run(event_stream.counted(keys, [*resources, None]))
        tiers = run(resource_tiers.tiers(keys, resources))
        agents, _ = run(resource_tiers.newest(keys, 1))
        counts = dict(zip(resources, own, strict=True))
        taken: dict[str | None, TierSample] = {name: _sample(counts[name], each) for name, each in tiers.items()}
        sums = {field: sum(getattr(each, field) for each in taken.values()) for field in _TIERS}
        return {**taken, None: _sample(every, None)._replace(agents=agents, measured=len(tiers), **sums)}


def _sample(counted: Mapping[str, int], tiers: Tiers | None) -> TierSample:
    records = [level.record for level in tiers.scopes] if tiers else []
    return TierSample(
        messages=tiers.unsealed if tiers else 0,
        chunks=sum(record.chunk_tokens for record in records),
        observations=sum(record.observation_tokens for record in records),
        reflections=sum(record.reflection_tokens for record in records),
        observed=sum(record.observed_tokens for record in records),
        micros=counted.get("micros|observer", 0) + counted.get("micros|reflector", 0),
        **{what: counted.get(f"served|{what}", 0) for what in ("contexts", "tokens", "cached", "raw", "raw_cached")},
    )


_TIERS = ("messages", "chunks", "observations", "reflections", "observed")
