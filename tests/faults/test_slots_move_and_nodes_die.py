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

from om_api import Message, ObservationalMemory, SettingsError, StoreError
from om_api.store.audit.verify import verify
from om_api.store.driver.step_driver import Endpoint

AGENTS = [f"agent-{n}" for n in range(6)]
faces = pytest.mark.parametrize("face", [ObservationalMemory, Driven])


@pytest.fixture(autouse=True)
def closed():
    """What asyncio opened is closed on its own loop."""
    yield
    Driven.close_all()


@pytest.fixture
def world(cluster_client, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    return World(cluster_client, prefix)


def elsewhere(cluster, slot):
    """A primary that does not serve a slot."""
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
    """Everything acknowledged is covered once, and the bookkeeping says so too."""
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
@pytest.mark.parametrize("half", [0, 1, 3, 1_000], ids=["begun", "one key", "some keys", "all keys"])
def test_half_way_a_memory_is_written_and_read_or_says_that_it_moves(world, cluster, half, face):
    """ASK and TRYAGAIN at any point of a move. What was refused was not kept, and is kept once when it is said again."""
    for n in range(12):
        world.say(f"m {n}", id=f"m-{n}")
    world.settle()
    slot = key_slot(b"harold")
    home, move = cluster.owner(slot), Migration(cluster, slot, elsewhere(cluster, slot))
    settings = world.settings
    with redis.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port, socket_timeout=0.3) as hurried:
        om = face(settings, client=hurried)
        move.begin()
        if half:
            move.move(half)
        said = [_tried(om, n) for n in range(12, 15)]
        move_on(move)
        stored = {each["id"] for each in map(_member, om.messages("harold", "t-1"))}
        for n in range(12, 15):
            om.add_message(_message(n))
        om.close()
    cluster.move(slot, home)
    world.settle()

    assert all(f"m-{n}" in stored for n, kept in zip(range(12, 15), said, strict=True) if kept)
    assert not any(f"m-{n}" in stored for n, kept in zip(range(12, 15), said, strict=True) if kept is False)
    assert world.covering() == sorted(f"m-{n}" for n in range(15))
    assert world.services.run(verify(world.services.keys)) == []


@faces
def test_a_script_that_empties_a_key_of_a_slot_that_moves_runs_as_a_whole_or_not_at_all(
    world, cluster, face, monkeypatch
):
    """Time 0: a slot begins to move. Time 1: the only raw message is amended: it is taken out of its set, which is gone by that.
    Time 2: the node refuses to add the longer one, for the set may be elsewhere. An acknowledged message was lost by this.
    """
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
    assert len(held) == 1
    assert kept == ["first, and more"]
    assert world.services.run(verify(world.services.keys)) == []


def move_on(move):
    while move.move(100):
        pass
    move.finish()


def _message(n):
    return {
        "id": f"m-{n}",
        "role": "user",
        "content": f"m {n}",
        "thread_id": "t-1",
        "resource_id": "harold",
        "tokens": 100,
    }


def _member(message):
    return {"id": message.id}


def _tried(om, n):
    """Whether a push was kept; a refusal that does not say that it may be repeated is no answer."""
    try:
        return bool(om.add_message(_message(n)).added)
    except StoreError as refused:
        if "moves to another node of the Cluster now: repeat" not in str(refused):
            raise
        return refused.stored


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
        own_successor(own, dying)
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


def own_successor(cluster, dead):
    wait_until(
        lambda: cluster.is_whole() and len({*map(cluster.owner, (0, 6_000, 12_000))} - {dead}) == 3, "a successor"
    )


@faces
def test_a_slot_that_nobody_serves_stops_its_memories_and_no_other(tmp_path, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    with (
        Cluster(tmp_path, 3, "--cluster-require-full-coverage", "no", replicas=False) as partly,
        partly.client() as client,
    ):
        world = World(client, prefix)
        world.say("before")
        for node in partly.nodes:
            node.client().execute_command("CLUSTER DELSLOTS", key_slot(b"harold"))
        sizes = [node.client().dbsize() for node in partly.nodes]
        with pytest.raises(StoreError, match=r"CLUSTERDOWN.*redis-cli --cluster check") as refused:
            world.say("lost")
        with pytest.raises(StoreError, match="CLUSTERDOWN"):
            world.context()

        assert refused.value.stored is False
        assert [node.client().dbsize() for node in partly.nodes] == sizes
        world.say("found", resource="albert")
        assert world.context(resource="albert").messages[0].content == "found"


@faces
@pytest.mark.parametrize("wanted", ["1", "16"])
def test_a_process_that_goes_by_another_number_of_parts_keeps_nothing(
    cluster_client, prefix, wanted, face, monkeypatch
):
    """A mark is made after its push on a Cluster: who may not make it must not push."""
    monkeypatch.setattr(World, "face", face)
    world = World(cluster_client, prefix)
    world.say("before")
    before = world.covering()
    other = World(cluster_client, prefix, partitions=wanted)
    for _ in range(2):
        with pytest.raises(SettingsError, match=f"partitions is {wanted} here, and 64 in the store"):
            other.say("lost")

    assert world.covering() == before
