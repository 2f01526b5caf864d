"""A Cluster whose slots move and whose nodes die under writers and workers: nothing is lost, nothing is there twice."""

import contextlib
import threading
import time
from collections import Counter

import pytest
import redis
from driven import Driven
from redis.crc import key_slot
from servers import Cluster, Migration
from world import World, wait_until

from om_api import Message, ObservationalMemory, StoreError
from om_api.store.audit.verify import verify
from om_api.store.driver.step_driver import Endpoint

pytestmark = pytest.mark.nightly  # a Cluster
AGENTS = [f"agent-{n}" for n in range(6)]
faces = pytest.mark.parametrize("face", [ObservationalMemory, Driven])


@pytest.fixture(autouse=True)
def closed():
    yield
    Driven.close_all()


@pytest.fixture
def world(cluster_client, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    return World(cluster_client, prefix)


def elsewhere(cluster, slot):
    return next(node for node in cluster.primaries if node is not cluster.owner(slot))


def slots(world):
    """The slots of the agents, and of what all of them share."""
    keys = world.services.keys
    shared = (keys.due_observe, keys.due_reflect, keys.resources, keys.events, keys.counted)
    return [key_slot(name.encode()) for name in (*AGENTS, *shared)]


class Crowd:
    """Writers and workers in threads of their own until `end`; what was acknowledged, and what failed otherwise than it may."""

    def __init__(self, world):
        self._world, self._over = world, threading.Event()
        self.kept = {name: [] for name in AGENTS}
        self.failures, self.refusals = [], 0
        works = [lambda name=name: self._write(name) for name in AGENTS] + [self._work]
        self._threads = [threading.Thread(target=self._steadily, args=[work]) for work in works]
        for thread in self._threads:
            thread.start()

    def _steadily(self, work):
        while not self._over.is_set():
            try:
                work()
            except StoreError:
                self.refusals += 1
            except BaseException as error:
                self.failures.append(error)
                raise

    def _write(self, name):
        said = f"{name} says {len(self.kept[name])}"
        for _ in range(50):  # with the same id, as a writer does that got no answer
            with contextlib.suppress(StoreError):
                self._world.say(said, resource=name, id=said.replace(" ", "-"))
                self.kept[name].append(said)
                self._world.context(resource=name)
                time.sleep(0.05)
                return
            time.sleep(0.1)

    def _work(self):
        self._world.sweep()
        self._world.tick_forgiving()

    def end(self):
        self._over.set()
        for thread in self._threads:
            thread.join(60)
        assert self.failures == []


def is_whole(world, crowd):
    world.settle()
    for name in AGENTS:
        covered = Counter(world.covering(name))
        assert set(covered.values()) <= {1}
        assert {said.replace(" ", "-") for said in crowd.kept[name]} <= set(covered)
    assert world.services.run(verify(world.services.keys)) == []


@faces
def test_slots_move_under_writers_and_workers(world, cluster):
    crowd = Crowd(world)
    for slot in slots(world):
        before = cluster.owner(slot)
        cluster.move(slot, elsewhere(cluster, slot))
        time.sleep(0.05)
        cluster.move(slot, before)
    crowd.end()
    assert crowd.refusals == 0
    assert all(len(said) > 10 for said in crowd.kept.values())
    is_whole(world, crowd)


@faces
def test_a_script_that_empties_a_key_of_a_slot_that_moves_runs_as_a_whole_or_not_at_all(
    world, cluster, face, monkeypatch
):
    """Time 0: a slot begins to move. Time 1: the only raw message is amended: it is taken out of its set, which is gone by that.
    Time 2: the node refuses to add the longer one, for the set may be elsewhere. An acknowledged message was lost by this."""
    called = Endpoint._called

    def as_the_slot_moves(self, name, keys, args):
        if name == "amend" and cluster.owner(slot) is move.source and not begun:
            begun.append(name)
            move.begin()
        return (yield from called(self, name, keys, args))

    begun = []
    monkeypatch.setattr(Endpoint, "_called", as_the_slot_moves)
    world.say("first", id="m-0", thread="t-1")
    slot = key_slot(b"harold")
    home, move = cluster.owner(slot), Migration(cluster, slot, elsewhere(cluster, slot))
    longer = Message(id="m-0", role="user", content="first, and more", thread_id="t-1", resource_id="harold")
    with redis.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port, socket_timeout=0.3) as hurried:
        om = face(world.settings, client=hurried)
        with contextlib.suppress(StoreError):
            om.add_message(longer)
        with cluster.owner(slot).client() as source:  # who is sent on by it finds nothing there
            held = source.zrange(world.services.keys.of("harold").messages("t-1"), 0, -1)
        move_on(move)
        om.add_message(longer)
        kept = [each.text() for each in om.messages("harold", "t-1")]
        om.close()
    cluster.move(slot, home)
    assert begun
    assert (len(held), kept, world.services.run(verify(world.services.keys))) == (1, ["first, and more"], [])


def move_on(move):
    while move.move(100):
        pass
    move.finish()


@faces
def test_a_primary_that_dies_is_followed_by_its_replica_with_clients_in_the_middle(tmp_path, prefix, face, monkeypatch):
    """What was acknowledged a moment before the end may be lost, for replicas are told afterwards; here they had been told."""
    monkeypatch.setattr(World, "face", face)
    with Cluster(tmp_path) as own, own.client(socket_timeout=1) as client:
        world = World(client, prefix)
        dying = own.owner(key_slot(AGENTS[0].encode()))
        crowd = Crowd(world)
        wait_until(lambda: min(map(len, crowd.kept.values())) > 5, "writers to have begun")
        with paused_writes(own):
            dying.kill()
        wait_until(lambda: own.is_whole() and len({*map(own.owner, (0, 6_000, 12_000))} - {dying}) == 3, "a successor")
        done = {name: len(said) for name, said in crowd.kept.items()}
        wait_until(lambda: all(len(crowd.kept[name]) > n + 5 for name, n in done.items()), "writers to go on")
        crowd.end()
        is_whole(world, crowd)


@contextlib.contextmanager
def paused_writes(cluster):
    """No primary takes a write until every replica has those before; the block runs in between."""
    admins = [node.client() for node in cluster.primaries]
    for admin in admins:
        admin.execute_command("CLIENT", "PAUSE", 10_000, "WRITE")
    wait_until(lambda: all(_in_step(admin) for admin in admins), "the replicas to be in step")
    yield
    for admin in admins:
        with contextlib.suppress(redis.ConnectionError):
            admin.execute_command("CLIENT", "UNPAUSE")


def _in_step(admin):
    said = admin.info("replication")
    return said["slave0"]["offset"] == said["master_repl_offset"]
