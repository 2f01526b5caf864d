"""What one resource's keys hold, whatever it is, ends no round, check or page over all resources."""

import time

import pytest
from world import World

from om_api.metrics import gauges
from om_api.ops.composed_faults import composed_faults
from om_api.store.fleet import health
from om_workers.work.archiver import Archiver
from om_workers.work.rollout import Rollout
from om_workers.work.sampling import Sampler

_DEEP = b"[" * 3_000 + b"]" * 3_000


def _spoils(client, key):
    """What a user of Redis may write to a key: a value of another type, and hostile members, fields and texts."""
    kind = client.type(key)
    if kind == b"hash":
        yield lambda: (client.delete(key), client.set(key, "x"))
        for value in (_DEEP, b"\xff", b"9" * 400):
            yield lambda value=value: client.hset(key, mapping=dict.fromkeys([*client.hkeys(key), b"\xff"], value))
    else:
        yield lambda: (client.delete(key), client.hset(key, "a", 1))
    if kind == b"zset":
        deep = b'{"extracted":{"shared":%s}}' % _DEEP
        yield lambda: client.zadd(key, {deep: 99, b"\xff": float("-inf"), b"{}": float("inf")})
    if kind == b"string":
        yield lambda: client.set(key, b"\xff")


def _filled(client, prefix, tmp_path):
    world = World(
        client, prefix, archive__url=f"sqlite:///{tmp_path}/a.db", archive__after="0s", working_memory__template="- A:"
    )
    for name in ("alice", "bob"):
        for thread in ("t-1", "t-2"):
            world.say("a", "b", resource=name, thread=thread)
            world.observe_now(thread, resource=name)
        world.reflect_now(name)
        for said in "cd":
            world.observe_now(resource=name)
            world.say(said, resource=name)
        world.om.update_working_memory({"A": "Graz"}, name)
        world.om.set_thread(name, "t-1", metadata={"a": 1}, title="a title")
    Archiver(world.services).round(5)
    return world


@pytest.mark.nightly
def test_rounds_and_checks_go_on_whatever_one_resource_holds(client, prefix, tmp_path):
    world = _filled(client, prefix, tmp_path)
    run, settings, keys = world.services.run, world.services.settings, world.services.keys
    work = {
        "sweep": world.sweep,
        "archive": lambda: Archiver(world.services).round(5),
        "rollout": lambda: Rollout(world.services, lambda: time.monotonic() + 1).advance(5),
        "sample": lambda: Sampler(world.services)._taken(),
        "gauges": lambda: [*gauges.of_gauges(run(gauges.read(settings, keys)), settings)],
        "verify": world.om.verify,
        "agents": world.om.agents,
        "overview": world.om.overview,
        "reviews": world.om.reviews,
        "standings": lambda: run(health.standings(keys)),
        "composed": lambda: run(composed_faults(settings, keys, ["alice", "bob"])),
    }
    alice = f"{prefix}:{{alice}}*"
    whole = {key: client.dump(key) for key in client.scan_iter(alice)}
    for key in sorted(whole):
        for number, spoil in enumerate([*_spoils(client, key)]):
            spoil()
            client.delete(f"{prefix}:{{alice}}:lock:mend")
            client.zadd(keys.resources, {"alice": 1, "bob": 2})
            client.zadd(keys.archivable, {"alice": 0, "bob": 1})
            for what, do in work.items():
                try:
                    do()
                except Exception as error:
                    raise AssertionError((what, key, number)) from error
            assert client.zscore(keys.resources, "bob") > 2, (key, number)
            assert (client.zscore(keys.archivable, "bob") or 2) > 1, (key, number)
            client.delete(*client.scan_iter(alice), "-")
            for name, dump in whole.items():
                client.restore(name, 0, dump, replace=True)
    client.delete(*whole)
