"""A push that waits for replicas: acknowledged is what they hold, and nothing is said to be kept that a failover may lose."""

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest
from driven import Driven
from redis.crc import key_slot
from servers import AT_ONCE, BINARIES, Cluster, Replica, Server
from world import wait_until

from om_api import Message, NotReplicatedError, ObservationalMemory, StoreError, load_settings
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.steps import Replicas, Verb

pytestmark = pytest.mark.nightly  # servers and a Cluster of their own
_YAML = "observational_memory: {{tokenizer: estimate, durability: {{wait_replicas: {count}, wait_timeout: 0.2s}}}}\n"


@pytest.fixture(scope="module", params=sorted(BINARIES))
def pair(request, tmp_path_factory):
    with ExitStack() as held:
        primary, replica = _pair(tmp_path_factory.mktemp("pair"), BINARIES[request.param])
        yield held.enter_context(primary), held.enter_context(replica)


def _pair(folder: Path, binary: str) -> tuple[Server, Replica]:
    primary = Server(folder, *AT_ONCE, binary=binary)
    return primary, Replica(folder, primary, binary=binary)


@pytest.fixture(params=["blocking", "asyncio"])
def opened(request, tmp_path, prefix):
    """Opens memories of a server whose pushes wait for so many replicas, by either face."""
    memories = []

    def open_(server, count=1):
        (tmp_path / "observational-memory.yaml").write_text(_YAML.format(count=count))
        environ = {"OM_REDIS_URL": server.url, "OM_PREFIX": prefix, "OM_CONFIG_DIR": str(tmp_path)}
        memories.append(
            (ObservationalMemory if request.param == "blocking" else Driven)(load_settings(environ=environ))
        )
        return memories[-1]

    yield open_
    for memory in memories:
        memory.close()
    Driven.close_all()


def said(name="m-1", content="hello", role="user"):
    return Message(role=role, content=content, id=name, thread_id="t-1", resource_id="harold")


def once_replicated(ask):
    found = []

    def is_kept():
        try:
            found.append(ask())
        except NotReplicatedError:
            return False
        return True

    wait_until(is_kept, "the replica to catch up", 30)
    return found[0]


def kept(server, prefix):
    with server.client() as client:
        return client.zcard(f"{prefix}:{{harold}}:messages:t-1")


@pytest.fixture
def away(pair):
    primary, replica = pair
    replica.pause()
    yield primary, replica
    replica.go_on()


def test_what_no_replica_has_is_never_acknowledged_however_often_it_is_sent(away, opened, prefix):
    """Catches a repeat that believes the server: its connection wrote nothing, so that all replicas hold what it wrote."""
    primary, replica = away
    for _ in range(3):
        with pytest.raises(NotReplicatedError, match="repeat the call with the same ids") as refused:
            opened(primary).add_message(said())
        assert refused.value.stored is None
    assert kept(primary, prefix) == 1
    replica.go_on()
    receipt = once_replicated(lambda: opened(primary).add_message(said()))
    assert ((receipt.added, receipt.duplicates), kept(replica, prefix)) == ((0, ("m-1",)), 1)


@pytest.mark.parametrize("history", [["one"], ["one", "two", "three"]])
def test_a_history_that_no_replica_has_is_never_acknowledged_by_whichever_client(away, opened, prefix, history):
    """Catches a sync that finds everything known, sends nothing, and says that it is kept."""
    primary, replica = away
    talk = [Message(role="user", content=text) for text in history]
    om = opened(primary)
    for memory in (om, om, opened(primary)):
        with pytest.raises(NotReplicatedError):
            memory.sync(talk, "harold", "t-1")
    replica.go_on()
    assert len(once_replicated(lambda: opened(primary).sync(talk, "harold", "t-1")).ids) == len(history)
    assert kept(replica, prefix) == len(history)


def test_a_long_history_that_others_have_sent_and_what_a_message_says_more_wait_for_replicas_too(pair, opened):
    """Catches a path that looks for what is known, sends nothing, and never asks whether the replicas know it."""
    primary, replica = pair
    talk = [Message(role="user", content=f"turn {n}") for n in range(520)]
    om, other, longer = opened(primary), opened(primary), said(content="It is Friday.", role="assistant")
    once_replicated(lambda: om.sync(talk[:1], "harold", "t-2"))
    once_replicated(lambda: other.sync(talk, "harold", "t-2"))
    once_replicated(lambda: om.add_message(said(content="It is", role="assistant")))
    replica.pause()
    try:
        with pytest.raises(NotReplicatedError):
            om.sync(talk, "harold", "t-2")
        with pytest.raises(NotReplicatedError):
            om.add_message(longer)
    finally:
        replica.go_on()
    assert once_replicated(lambda: om.add_message(longer)).grown == ("m-1",)


def test_on_a_cluster_the_replicas_of_the_resources_own_primary_are_waited_for(tmp_path, opened, prefix):
    with Cluster(tmp_path / "nodes") as cluster:
        om = opened(cluster)
        assert once_replicated(lambda: om.add_message(said())).ids == ("m-1",)
        for replica in cluster.replicas:
            replica.pause()
        try:
            for _ in range(2):
                with pytest.raises(NotReplicatedError):
                    om.add_message(said("m-2"))
        finally:
            for replica in cluster.replicas:
                replica.go_on()
        assert once_replicated(lambda: om.add_message(said("m-2"))).duplicates == ("m-2",)
        primary = cluster.owner(key_slot(f"{prefix}:{{harold}}".encode()))
        cluster.fail_over(primary)
        assert [message.id for message in om.get_context("t-1", "harold").messages] == ["m-1", "m-2"]


@pytest.mark.parametrize("binary", sorted(BINARIES))
def test_a_primary_that_is_replaced_while_a_push_waits_does_not_acknowledge_it(tmp_path, binary, prefix):
    """The server lets go of whoever waits with an error: taken for the push's own, it would say that nothing was kept."""
    (tmp_path / "other").mkdir()
    primary, other = (Server(tmp_path, *AT_ONCE, binary=BINARIES[binary]),
        Server(tmp_path / "other", binary=BINARIES[binary]))  # fmt: skip
    with primary, other, closing(Connection(open_client(primary.url, 10))) as connection:
        step = Verb("batch", ["{h}:text"], [3, "SET", "{h}:text", "1"], str, Replicas(1, 8_000, "{h}:mark"))
        connection.run(iter(replace(step, replicas=None)))  # the script is there
        demoted = Timer(0.5, lambda: primary.client().execute_command("REPLICAOF", "127.0.0.1", other.port))
        demoted.start()
        try:
            with pytest.raises(StoreError) as refused:
                connection.run(iter(step))
        finally:
            demoted.join()
    assert (type(refused.value), refused.value.stored) == (NotReplicatedError, None), refused.value
