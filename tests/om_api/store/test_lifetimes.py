"""How long what is written beside the memories lives: a number that is halved or doubled is a promise that is not kept."""

from types import SimpleNamespace

import pytest
from scene import HAROLD

from om_api.domain.events import Event
from om_api.store.fleet import event_stream, health, presence, rollout, spending
from om_api.store.fleet.event_stream import Caps
from om_api.store.fleet.presence import Ticked, Worker
from om_api.store.fleet.rollout import Progress
from om_api.store.memory import keyspace_scan, model_cooldown, reflect

DAY_MS, FIRST_DAY = 86_400_000, "1970-01-01"
WORKER = Worker(name="w", host="h", pid=1, version="1")
BUFFERED = Event(kind="buffered", resource="harold", seconds=0.25)


def _tell(keys):
    return spending.tell(keys, SimpleNamespace(ms=lambda: 0), {"harold": {"contexts": 1}})


def test_what_is_written_beside_memories_lives_as_long_as_it_says(store):
    keys = store.keys
    happened, presences = (
        [keys.events, keys.counted, keys.counted_by("harold"), keys.measured],
        [keys.worker("w"), keys.workers],
    )
    failures, cooldown = keys.of("harold").lock("failed::x"), keys.of("harold").lock(model_cooldown.LOCK)
    for steps, names, lives_ms in (
        (event_stream.publish(keys, [BUFFERED], Caps(10_000, 200), 1_000), happened, 400 * DAY_MS),
        (_tell(keys), [keys.spent(FIRST_DAY), keys.spent_by(FIRST_DAY, "harold")], 400 * DAY_MS),
        (event_stream.first_to_tell(keys, "x"), [keys.told("x")], 2 * DAY_MS),
        (presence.here(keys, WORKER), presences, 30_000),
        (presence.ticked(keys, "sweep", Ticked(at=1, interval=60.0)), [keys.ticked("sweep")], DAY_MS),
        (keyspace_scan.stray_keys(keys, 1), [keys.sweep_cursor], 3_600_000),
        (rollout.keep(keys, "ab", Progress(begun=1)), [keys.rollout("ab")], DAY_MS),
        (health.probe(keys), [keys.probe], 1_000),
        (model_cooldown.wait(keys, "harold"), [cooldown], 300_000),
        (reflect.failed(keys, HAROLD, "x"), [failures], 3_600_000),
    ):
        store.run(steps)
        lifetimes = [store.client.pttl(name) for name in names]
        assert lifetimes == pytest.approx([lives_ms] * len(lifetimes), rel=0.3), names
