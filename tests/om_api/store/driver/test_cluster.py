"""A Cluster is asked where each slot is served, while slots move and nodes die: what was done once is not done again."""

import asyncio
import threading
import time

import pytest
from driven import waiting
from redis.crc import key_slot
from redis.exceptions import TimeoutError as NotAnswered
from servers import Cluster, Migration
from world import wait_until

from om_api import NotPermittedError, SettingsError, StoreError
from om_api.store.driver import async_connection, connection
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.cluster import ClusterClient, NodeRequest
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.replies import as_bytes, as_int, server_ms, write
from om_api.store.driver.slots import SlotMap
from om_api.store.driver.steps import Batch, Nodes, at, batch, each

FACES = {"blocking": (Connection, open_client), "asyncio": (AsyncConnection, open_async_client)}


@pytest.fixture(params=FACES)
def connect(request):
    """Open connections of either face, and give them back."""
    kind, open_ = FACES[request.param]
    opened = []

    def made(url, **options):
        opened.append(kind(open_(url, **options)))
        return opened[-1]

    yield made
    for each_one in opened:
        waiting(each_one.close())


class Speaking:
    """A connection of either face, whose `run` waits, and the names of its keys."""

    def __init__(self, connection, prefix):
        self.connection, self.prefix = connection, prefix

    def run(self, steps):
        return waiting(self.connection.run(steps))

    def key(self, tag, name="x"):
        return f"{self.prefix}:{{{tag}}}:{name}"

    def count(self, tag, n=1, **how):
        """Add to a counter and to its double; two keys of a slot."""
        commands = [("INCRBY", self.key(tag), n), ("EXPIRE", self.key(tag), 60)]
        return self.run(write(*commands, **how))

    def value(self, tag):
        return self.run(as_int("GET", self.key(tag)))


@pytest.fixture
def speaking(connect, cluster, prefix):
    return Speaking(connect(cluster.url), prefix)


@pytest.fixture
def moving(cluster):
    """Begin to move the slot of a tag, which no other test has, to another primary; it goes home at the end."""
    begun = []

    def begin(tag):
        slot = key_slot(tag.encode())
        to = next(node for node in cluster.primaries if node is not cluster.owner(slot))
        begun.append(Migration(cluster, slot, to))
        begun[-1].begin()
        return begun[-1]

    yield begin
    for each_one in begun:
        while each_one.move(100):
            pass
        each_one.finish()
        cluster.move(each_one.slot, each_one.source)


TAGS = [f"tag-{n}" for n in range(30)]  # of all three primaries


def test_many_who_ask_at_first_each_find_their_node(cluster, prefix):
    """Breaks where whoever comes while the first one learns who serves what is told that nobody does."""
    opened, found = Connection(open_client(cluster.url)), []
    at_once = threading.Barrier(32)

    def count():
        at_once.wait()
        found.append(opened.run(as_int("EXISTS", f"{prefix}:x")))

    threads = [threading.Thread(target=count) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    opened.close()

    assert found == [0] * 32


def test_replies_of_many_slots_come_in_the_order_they_were_asked_for(speaking):
    for n, tag in enumerate(TAGS):
        speaking.count(tag, n)
    asked = each([as_int("GET", speaking.key(tag)) for tag in TAGS], atomic=False)

    assert speaking.run(asked) == list(range(30))
    assert speaking.run(batch(asked, server_ms()))[0] == list(range(30))


def test_every_node_is_named_and_may_be_asked_by_its_name(speaking, cluster):
    nodes = speaking.run(Nodes())
    sizes = [speaking.run(at(node, as_int("DBSIZE"))) for node in nodes if node.primary]

    assert sorted(node.address for node in nodes if node.primary) == sorted(
        f"127.0.0.1:{n.port}" for n in cluster.primaries
    )
    assert (len(nodes), len(sizes)) == (6, 3)


def test_whoever_goes_by_an_old_map_is_sent_on_and_counts_once(speaking, prefix, moving):
    speaking.count(prefix)
    move = moving(prefix)
    move.move(100)
    move.finish()
    speaking.count(prefix, once=True)

    assert speaking.value(prefix) == 2


def test_a_key_that_has_left_is_asked_for_where_it_is_and_one_that_has_not_here(speaking, prefix, moving):
    """ASK: breaks without ASKING, for the target sends back whoever does not say it."""
    speaking.run(write(("SET", speaking.key(prefix), 1, "EX", 60)))
    move = moving(prefix)
    move.move(1)

    assert speaking.run(as_bytes("GET", speaking.key(prefix))) == b"1"
    assert speaking.run(as_bytes("GET", speaking.key(prefix, "none"))) is None


def test_keys_of_which_some_have_left_are_waited_for_until_all_have(speaking, prefix, moving):
    """TRYAGAIN: a slot half way answers nobody who asks for both halves."""
    names = [speaking.key(prefix, name) for name in "ab"]
    speaking.run(write(*(("SET", name, 1, "EX", 60) for name in names)))
    move = moving(prefix)
    move.move(1)
    timer = threading.Timer(0.2, lambda: (move.move(100), move.finish()))
    timer.start()
    began = time.monotonic()

    assert speaking.run(as_int("EXISTS", *names)) == 2
    assert time.monotonic() - began > 0.15
    timer.join()


@pytest.mark.parametrize("whole", [False, True], ids=["key by key", "whole"])
def test_who_counts_while_a_slot_moves_there_and_back_counts_each_time_once(speaking, prefix, cluster, whole):
    """As redis-cli moves slots, and as Valkey 9 does: MIGRATESLOTS."""
    if whole and cluster.nodes[0].is_redis:
        pytest.skip("Redis moves no slot whole")
    slot, counted, over = key_slot(prefix.encode()), [], threading.Event()

    def count():
        while not over.is_set():
            counted.append(speaking.count(prefix, once=True))

    thread = threading.Thread(target=count)
    thread.start()
    home = cluster.owner(slot)
    for to in (next(node for node in cluster.primaries if node is not home), home):
        before = len(counted)
        wait_until(lambda before=before: len(counted) > before + 2, "somebody to count")
        cluster.move(slot, to, whole=whole)
    over.set()
    thread.join()

    assert speaking.value(prefix) == len(counted) > 5


def test_a_slot_that_stays_half_way_says_so_after_the_time_that_a_call_has(connect, cluster, prefix, moving):
    speaking = Speaking(connect(cluster.url, timeout=0.3), prefix)
    names = [speaking.key(prefix, name) for name in "ab"]
    speaking.run(write(*(("SET", name, 1, "EX", 60) for name in names)))
    moving(prefix).move(1)

    with pytest.raises(StoreError, match="moves to another node of the Cluster now: repeat") as refused:
        speaking.run(write(("UNLINK", *names)))
    assert refused.value.stored is False


def test_a_write_that_one_slot_took_and_another_refused_may_have_been_kept(speaking):
    """Breaks where the last refusal alone is believed: nobody could know then that the other slots were written."""
    speaking.run(write(("SET", speaking.key(TAGS[1]), "no number", "EX", 60)))
    steps = write(
        *(("INCR", speaking.key(tag)) for tag in TAGS[:2]), ("EXPIRE", speaking.key(TAGS[0]), 60), atomic=False
    )

    with pytest.raises(StoreError, match="refused a part, and has taken another") as refused:
        speaking.run(steps)
    assert refused.value.stored is None
    assert speaking.value(TAGS[0]) == 1


def test_what_has_been_missed_is_named_and_nothing_goes_elsewhere(connect, tmp_path, prefix):
    """A slot that no node serves: CLUSTERDOWN, what to do, and the other slots are served on."""
    with Cluster(tmp_path, 3, "--cluster-require-full-coverage", "no", replicas=False) as partly:
        speaking, slot = Speaking(connect(partly.url), prefix), key_slot(b"lost")
        speaking.count("lost")
        for node in partly.nodes:
            node.client().execute_command("CLUSTER DELSLOTS", slot)
        with pytest.raises(StoreError, match=r"CLUSTERDOWN.*redis-cli --cluster check") as refused:
            speaking.count("lost")
        assert refused.value.stored is False
        with pytest.raises(StoreError, match="CLUSTERDOWN"):  # by a map that is read anew
            speaking.count("lost")
        speaking.count("found")
        assert speaking.value("found") == 1


def test_after_a_failover_the_replica_is_asked_and_who_was_sent_once_is_not_sent_again(connect, tmp_path, prefix):
    with Cluster(tmp_path) as own:
        speaking = Speaking(connect(own.url, timeout=1), prefix)
        for tag in TAGS[:6]:
            speaking.count(tag)
        own.fail_over(own.owner(key_slot(TAGS[0].encode())))
        with pytest.raises(StoreError) as refused:
            speaking.count(TAGS[0], once=True)
        assert refused.value.stored is not True
        for tag in TAGS[:6]:
            speaking.count(tag)
        assert [speaking.value(tag) for tag in TAGS[:6]] == [2] * 6


def test_a_node_that_hangs_holds_up_nobody_of_the_others(connect, tmp_path, prefix):
    """A node that neither answers nor hangs up: its memories fail in time, those of others are served."""
    with Cluster(tmp_path, replicas=False, timeout_ms=60_000) as own:
        speaking = Speaking(connect(own.url, timeout=0.3), prefix)
        hung = own.owner(key_slot(b"hung"))
        other = next(tag for tag in TAGS if own.owner(key_slot(tag.encode())) is not hung)
        speaking.count(other)
        hung.pause()
        with pytest.raises(StoreError, match="did not answer") as refused:
            speaking.count("hung")
        assert refused.value.stored is None
        began = time.monotonic()
        speaking.count(other)
        assert speaking.run(server_ms()) > 0
        assert time.monotonic() - began < 1
        hung.go_on()


class _Hung:
    """A pool's only connection, on which no reply comes; of either face."""

    def __init__(self, face):
        self.done, self._face = [], face
        self.connection_pool = self

    def _said(self, word):
        self.done.append(word)
        return self if self._face == "blocking" else asyncio.sleep(0, self)

    def get_connection(self):
        return self._said("taken")

    def send_packed_command(self, _):
        return self._said("sent")

    def read_response(self):
        raise NotAnswered("timed out")

    def disconnect(self):
        return self._said("closed")

    def release(self, _):
        return self._said("released")


@pytest.mark.parametrize("face", FACES)
def test_a_connection_that_owes_a_reply_is_closed_before_anybody_else_has_it(face):
    """Breaks where it is only given back: whoever has it next would read what somebody else asked for."""
    hung = _Hung(face)
    exchange = connection._exchange if face == "blocking" else async_connection._exchange
    (answer,) = waiting(exchange([NodeRequest(hung, b"", 1)]))

    assert isinstance(answer, NotAnswered)
    assert hung.done == ["taken", "sent", "closed", "released"]


def test_whoever_failed_last_is_asked_last_who_serves_what():
    """A node that was cut off would else tell, again and again, of a cluster in which it still serves its slots."""
    client = ClusterClient(["a:1", "b:1", "c:1"], str, 1)
    client.slots, client.stale = SlotMap([[0, 9, [b"b", 1, b"id"], [b"c", 1, b"id"]]]), False
    client.failed("b:1")

    assert client.stale
    assert {client.known()[-1] for _ in range(20)} == {"b:1"}
    assert {*client.known()} == {"a:1", "b:1", "c:1"}


def test_a_url_of_another_database_and_a_server_of_no_cluster_are_told_apart(connect, server_url, cluster):
    with pytest.raises(SettingsError, match="a Cluster has one database"):
        connect(f"{cluster.url}/3")
    with pytest.raises(StoreError, match=r"write redis:// in OM_REDIS_URL"):
        waiting(connect(server_url.replace("redis://", "redis+cluster://")).run(as_bytes("GET", "x")))
    with pytest.raises(StoreError, match=r"write redis\+cluster:// in OM_REDIS_URL"):
        nodes = [connect(f"redis://127.0.0.1:{node.port}/0") for node in cluster.primaries]
        [waiting(node.run(as_bytes("GET", "x"))) for node in nodes]


def test_a_cluster_that_is_away_is_named_without_its_password(connect):
    with pytest.raises(StoreError, match="OM_REDIS_URL") as refused:
        waiting(connect("redis+cluster://:secret@127.0.0.1:1,127.0.0.1:2").run(as_bytes("GET", "x")))

    assert refused.value.stored is False
    assert "secret" not in str(refused.value)


def test_a_user_that_may_not_write_is_told_so(speaking, cluster, connect):
    for node in cluster.nodes:
        node.client().execute_command("ACL", "SETUSER", "reads", "on", ">pw", "~*", "+get", "+cluster|slots")
    reads = connect(cluster.url.replace("://", "://reads:pw@"))

    assert waiting(reads.run(as_bytes("GET", "nothing"))) is None
    with pytest.raises(NotPermittedError):
        waiting(reads.run(Batch([("SET", "a", 1)], writes=True)))
    for node in cluster.nodes:
        node.client().execute_command("ACL", "DELUSER", "reads")
