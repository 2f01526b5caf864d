"""Slots and partitions of a Cluster."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from driven import waiting
from redis.crc import key_slot
from redis.exceptions import ExecAbortError, MovedError, ResponseError
from redis.exceptions import TimeoutError as NotAnswered
from servers import Cluster, Migration

from om_api import StoreError
from om_api.store.driver import async_connection, connection
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.cluster import ClusterClient, NodeRequest
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.replies import as_bytes, as_int, server_ms, write
from om_api.store.driver.scripts import absent
from om_api.store.driver.slot_parts import in_order, parted
from om_api.store.driver.slots import SlotMap, addresses_of, slot_of
from om_api.store.driver.steps import Batch, Node, at, pack

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


TAGS = [f"tag-{n}" for n in range(30)]  # of all three primaries


@pytest.mark.nightly
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


@pytest.mark.nightly
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


@pytest.mark.nightly
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
        speaking.count(other)
        assert speaking.run(server_ms()) > 0
        hung.go_on()


@pytest.mark.nightly
def test_a_slot_that_is_half_way_is_waited_for_and_told_after_the_time_that_a_call_has(connect, cluster, prefix):
    """TRYAGAIN: one of the keys has gone, the other one has not."""
    slot = key_slot(prefix.encode())
    home, patient = cluster.owner(slot), Speaking(connect(cluster.url), prefix)
    move = Migration(cluster, slot, next(node for node in cluster.primaries if node is not home))
    hurried, names = Speaking(connect(cluster.url, timeout=2), prefix), [patient.key(prefix, name) for name in "ab"]
    patient.run(write(*(("SET", name, 1, "EX", 60) for name in names)))
    move.begin()
    move.move(1)
    with pytest.raises(StoreError, match="moves to another node of the Cluster now: repeat") as refused:
        hurried.run(write(("UNLINK", *names)))
    assert refused.value.stored is False
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(patient.run, as_int("EXISTS", *names))
        move.move(100)
        move.finish()
        assert found.result(60) == 2
    cluster.move(slot, home)


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


def test_a_cluster_that_is_away_is_named_without_its_password(connect):
    with pytest.raises(StoreError, match="OM_REDIS_URL") as refused:
        waiting(connect("redis+cluster://:secret@127.0.0.1:1,127.0.0.1:2").run(as_bytes("GET", "x")))

    assert refused.value.stored is False
    assert "secret" not in str(refused.value)


def test_a_map_says_who_serves_a_slot_and_who_only_follows():
    said = SlotMap(
        [[0, 99, [b"10.0.0.1", 7000, b"id"], [b"10.0.0.2", 7001, b"id"]], [200, 200, [b"", 7002, b"id"]]], "me:1"
    )

    assert [said.owner(slot) for slot in (0, 99, 100, 200)] == ["10.0.0.1:7000", "10.0.0.1:7000", None, "me:7002"]
    assert said.nodes == (Node("10.0.0.1:7000"), Node("10.0.0.2:7001", primary=False), Node("me:7002"))


def test_every_node_is_told_of_those_too_that_are_down():
    """A node that was dead when a user was ended would let it in again: it must be asked, and be an error."""
    for form in (dict, lambda told: [word for pair in told.items() for word in pair]):

        def node(name, role, form=form):
            return form({b"endpoint": name, b"port": 7000, b"tls-port": 7001, b"role": role})

        nodes = [node(b"10.0.0.1", b"master"), node(b"10.0.0.2", b"replica")]
        shards = [form({b"slots": [0, 99], b"nodes": nodes}), form({b"slots": [], b"nodes": [node(b"", b"master")]})]
        for secure in (False, True):
            found = addresses_of(shards, "me:1", secure=secure)
            assert found == [f"{host}:{7000 + secure}" for host in ("10.0.0.1", "10.0.0.2", "me")]


def test_a_command_is_of_its_first_keys_slot_or_of_none():
    for command in (
        ("GET", "om:{a}:x"),
        ("ZADD", "om:{a}:x", 1, "om:{b}:x"),
        ("EVALSHA", "0" * 40, 2, "om:{a}:x", "om:{a}:y", "om:{b}:x"),
        ("XREAD", "COUNT", 1, "BLOCK", 10, "STREAMS", "om:{a}:x", "$"),
        ("EXISTS", b"om:{a}:x"),
    ):
        assert slot_of(command) == key_slot(b"a"), command
    for command in (("TIME",), ("SCRIPT LOAD", "return 1"), ("ACL", "GETUSER", "a"), ("EVAL", "return 1", 0, "a")):
        assert slot_of(command) is None, command
    for key in ("cortex:om:{harold}:tokens", "cortex:om:due:observe:64:7", "cortex:om:events"):
        assert slot_of(("GET", absent(key))) == slot_of(("GET", key))
        assert absent(key).startswith(key)


def test_each_slot_is_asked_for_its_own_and_the_clock_is_that_of_the_first():
    batch = Batch([("TIME",), ("GET", "{b}1"), ("GET", "{a}1"), ("GET", "{b}2")])
    b, a = parted(batch)

    assert (b.commands, b.places) == ([("TIME",), ("GET", "{b}1"), ("GET", "{b}2")], [0, 1, 3])
    assert (a.commands, a.places) == ([("GET", "{a}1")], [2])
    assert (b.multi, a.multi) == (True, False)


def test_what_is_written_to_a_slot_is_done_or_not_as_one():
    for batch, multi in (
        (Batch([("GET", "a"), ("GET", "a")], atomic=False), False),
        (Batch([("SET", "a", 1), ("EXPIRE", "a", 1)], atomic=False, writes=True), True),
        (Batch([("SET", "a", 1)], writes=True), False),
        (at(Node("n:1"), Batch([("INFO",)])), False),
    ):
        (part,) = parted(batch)
        assert part.multi is multi, batch


def test_whoever_is_asked_before_a_slot_has_arrived_is_told_that_we_know():
    (part,) = parted(Batch([("GET", "a"), ("GET", "a")], atomic=False))
    part.asking = True
    assert part.wire() == pack([("ASKING",)], atomic=False) + pack(part.commands)
    assert part.expected == 5


def test_replies_come_in_the_order_of_the_commands_and_in_redis_pys_types():
    batch = Batch([("GET", "b"), ("EXPIRE", "a", 1), ("GET", "b")], atomic=False)
    b, a = parted(batch)
    b.take([b"1", b"2"])
    a.take([1])

    assert in_order(batch, [b, a], {"EXPIRE": bool}) == [b"1", True, b"2"]
    assert a.replies == [1]


def test_a_refusal_within_multi_is_that_of_the_part_and_its_first_word_counts():
    moved, wrong = MovedError("12 127.0.0.1:7001"), ResponseError("value is not an integer")
    for replies, error in (
        ([b"OK", moved, b"QUEUED", ExecAbortError("because of MOVED")], moved),
        ([b"OK", b"QUEUED", b"QUEUED", [b"x", wrong]], wrong),
    ):
        (part,) = parted(Batch([("GET", "a"), ("INCR", "a")]))
        part.take(replies)
        assert part.error is error
