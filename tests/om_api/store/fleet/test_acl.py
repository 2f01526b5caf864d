"""Isolation at the store, on real servers: every command, every key, every way that an agent's ACL user might try."""

import json
import re
import time
from urllib.parse import quote

import pytest
import redis
from acl_house import PASSWORD, House, every_key, lock
from driven import Driven
from redis.crc import key_slot
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError
from servers import BINARIES, Cluster, Server
from world import contents

from om_api import InvalidInputError, Message, ObservationalMemory, load_settings
from om_api.archive.opening import open_archive
from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.errors import NotPermittedError, NotReplicatedError, RateLimitedError, StoreError
from om_api.domain.values import ID_PATTERN, Scope
from om_api.settings.sections.storage_settings import RedisSettings
from om_api.store.archiving.candidates import past
from om_api.store.archiving.changing import changed, everything
from om_api.store.archiving.moving import Planned, move
from om_api.store.audit.verify import verify
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.partitions import sure
from om_api.store.driver.replies import as_int
from om_api.store.driver.scripts import load_all, provide
from om_api.store.fleet import acl, health
from om_api.store.items.item_records import ItemPut, body_of
from om_api.store.items.keeping_items import get_items, items_under, put_items, use_items
from om_api.store.items.namespaces import inhabited, under
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock, push, replicas_of

AT = 1_763_600_000_000
GLOB = "*?[]\\^"
roles = pytest.mark.parametrize("role", acl.ROLES)


@pytest.fixture(scope="module", params=BINARIES)
def server(request, tmp_path_factory):
    allowed = ("--enable-debug-command", "yes", "--enable-module-command", "yes")  # so that nothing but the ACL refuses
    with Server(tmp_path_factory.mktemp("acl"), *allowed, binary=BINARIES[request.param]) as own:
        lock(own)
        yield own


@pytest.fixture
def house(server, prefix):
    made = House(server, prefix)
    yield made
    made.close()


@pytest.fixture
def memory(house):
    """A library's client that logs in as harold."""
    opened = []

    def log_in(role=Role.WRITER, **options):
        opened.append(ObservationalMemory(house.world.settings, client=house.agent("harold", role), **options))
        return opened[-1]

    yield log_in
    for each in opened:
        each.close()


def message(text, resource="harold", **fields):
    return Message(role="user", content=text, thread_id="t-1", resource_id=resource, tokens=100, **fields)


def refusal(client, *words):
    """What the server says to a command with as many arguments as it takes; "" where it does it."""
    *name, fill = words
    for n in range(12):
        try:
            client.execute_command(*name, *[fill] * n)
        except ResponseError as error:
            if "wrong number of arguments" not in str(error):
                return type(error).__name__
        else:
            return ""
    raise AssertionError(f"{name} takes no number of arguments")


# -- what an agent needs ------------------------------------------------------------------------------------------------


def test_a_writer_pushes_reads_activates_and_is_observed(house, memory):
    om = memory()
    om.add_messages([message(f"message {n}") for n in range(7)])
    house.world.settle()
    om.add_messages([message(f"more {n}") for n in range(5)])
    context = om.get_context("t-1", "harold")

    assert context.observations
    assert {f"more {n}" for n in range(5)} <= {each.content for each in context.messages}
    assert om.stats("harold").message_tokens


def test_a_writer_is_held_to_limits_of_pushes(house):
    settings = load_settings(None, {"OM_PREFIX": house.prefix, "OM_PUSH_LIMITS__MESSAGES_PER_SECOND": "0.02"})
    with ObservationalMemory(settings, client=house.agent("harold", Role.WRITER)) as om:
        om.add_message(message("one"))

        with pytest.raises(RateLimitedError, match="push_limits"):
            om.add_message(message("two"))


def test_a_writers_requests_are_answered(house, memory):
    om = memory()
    om.add_message(message("look at this"))

    assert om.force_observe(resource_id="harold") == "busy"
    assert om.held("harold") is None
    house.world.settle()
    assert om.force_observe(resource_id="harold") == "rest"
    assert om.force_reflect("harold") == "busy"
    house.world.settle()
    assert [generation.n for generation in om.generations("harold")] == [1]


def test_a_writer_with_nothing_but_a_redis_client_writes_reads_and_asks(house):
    plain, of = house.agent("harold", Role.WRITER), house.keys.of("harold")
    member = json.dumps({"id": "m-1", "role": "user", "content": "hello"})
    plain.execute_command("ZADD", of.messages("t-1"), "NX", AT, member)
    plain.execute_command("ZADD", house.keys.adopt, 0, of.messages("t-1"))
    plain.execute_command("HSET", of.base + ":record", "force", "request-1")
    plain.execute_command("ZADD", house.keys.due_observe, "LT", AT, "harold")
    house.world.sweep()
    house.world.settle()

    with plain.pipeline(transaction=True) as pipe:
        pipe.get(of.scope).zrange(of.base + ":observations", 0, -1).lrange(of.rejected, -20, -1)
        scope, observations, rejected = pipe.execute()
    assert (scope, [json.loads(each)["message_ids"] for each in observations], rejected) == (b"resource", [["m-1"]], [])


def test_a_reader_is_served_everything_and_changes_nothing(house, memory):
    house.filled()
    writer, reader = memory(), memory(Role.READER)
    before = contents(house.admin, f"{house.prefix}*")

    assert reader.get_context("t-1", "harold").text == writer.get_context("t-1", "harold").text
    assert reader.history("harold")
    assert reader.threads("harold")
    assert reader.stats("harold").rejected == 1
    assert reader.costs("harold").calls == 0
    for ask in (lambda: reader.add_message(message("no")), lambda: reader.force_observe(resource_id="harold")):
        with pytest.raises(NotPermittedError, match=r"docs/security\.md"):
            ask()
    assert contents(house.admin, f"{house.prefix}*") == before


def test_a_readers_context_is_served_while_a_chunk_is_due_and_the_server_is_asked_once_to_activate_it(house, memory):
    house.world.say(*(f"message {n}" for n in range(7)))
    house.world.settle()
    house.world.say(*(f"more {n}" for n in range(5)))
    reader = memory(Role.READER)
    served = [len(reader.get_context("t-1", "harold").messages)]
    house.admin.config_resetstat()
    served += [len(reader.get_context("t-1", "harold").messages) for _ in range(3)]

    assert served == [12] * 4
    assert "evalsha" not in calls(house)


@roles
def test_whoever_may_read_a_memory_recalls_from_all_of_it_and_from_nobody_elses(house, memory, role):
    house.filled()
    om, kinds = memory(role), ("message", "observation", "generation")
    before = contents(house.admin, f"{house.prefix}*")
    house.admin.acl_log_reset()
    found = om.recall("says", "harold", limit=100, kinds=kinds).hits
    around = om.browse(next(hit.id for hit in found if hit.kind == "message"), "harold")
    told = om.answer_recall({"query": "harold says"}, "harold")
    refused = {entry["object"] for entry in house.admin.acl_log()}

    assert {hit.kind for hit in found} == set(kinds)
    assert "albert" not in str(found) + str(around) + told
    assert refused <= {"client|setinfo"}  # by the plain client, as it connects
    assert contents(house.admin, f"{house.prefix}*") == before
    for ask in (
        lambda: om.recall("says", "albert", kinds=kinds),
        lambda: om.browse("m-1", "albert"),
        lambda: om.answer_recall({"query": "says"}, "albert"),
    ):
        with pytest.raises(NotPermittedError, match=r"docs/security\.md"):
            ask()


def calls(house):
    return {name.removeprefix("cmdstat_") for name in house.admin.info("commandstats")}


def test_a_client_that_may_not_tell_its_figures_stops_to(house, memory):
    om = memory()
    om._core.reporter.usage._every_s = 0
    for n in range(3):
        om.add_message(message(f"message {n}"))
        om.get_context("t-1", "harold")
    house.admin.acl_log_reset()
    om.add_message(message("one more"))

    assert om._core.reporter.usage is None
    assert house.admin.acl_log() == []


def test_a_client_that_may_not_say_what_it_activates_tries_to_once(house, memory):
    om, observations = memory(), []
    for round_ in range(2):
        house.world.say(*(f"message {round_} {n}" for n in range(7)))
        house.world.settle()
        om.add_messages([message(f"more {round_} {n}") for n in range(5)])
        observations.append(len(om.get_context("t-1", "harold").observations))
    tried = [entry["count"] for entry in house.admin.acl_log() if entry["object"] == house.keys.events]

    assert 0 < observations[0] < observations[1]
    assert tried == [1]


@roles
def test_no_agents_user_reaches_the_audit_trail(house, memory, role):
    """Whoever may append to a stream may empty it: XADD … MAXLEN 0. What such a user does is done, and whoever asks is told."""
    harold, entry = house.agent("harold", role), AuditEntry(did="paused", via="cli", who="root", resource="harold")
    house.world.om.add_audit(entry)
    for words in (
        ("XADD", house.keys.audit, "MAXLEN", 0, "*", "did", "paused"),
        ("XTRIM", house.keys.audit, "MAXLEN", 0),
        ("XRANGE", house.keys.audit, "-", "+"),
        ("UNLINK", house.keys.audit),
    ):
        assert refusal(harold, *words) == "NoPermissionError"

    with pytest.raises(NotPermittedError):
        memory(role).add_audit(entry)
    assert [each.who for each in house.world.om.audit().entries] == ["root"]


def test_the_workers_user_writes_the_audit_trail_and_reads_it(house):
    url = house.apply(acl.workers(house.keys))
    with ObservationalMemory(load_settings(environ={"OM_REDIS_URL": url, "OM_PREFIX": house.prefix})) as om:
        om.add_audit(AuditEntry(did="paused", via="http", who="3f1c20a9be77", resource="harold"))
        om.add_audit(AuditEntry(did="refused", via="http", who="3f1c20a9be77", outcome="refused"))

        assert [each.did for each in om.audit().entries] == ["refused", "paused"]
        assert next(om.follow_audit("0-0")).did == "paused"


@roles
@pytest.mark.parametrize("face", [ObservationalMemory, Driven])
def test_a_connection_is_made_without_asking_for_anything_that_is_refused(house, role, face):
    url = house.apply(acl.agent(house.keys, "harold", role))
    settings = load_settings(environ={"OM_REDIS_URL": url, "OM_PREFIX": house.prefix})
    house.admin.acl_log_reset()
    with face(settings, tally=False) as om:
        om.get_context("t-1", "harold")

    assert house.admin.acl_log() == []


@pytest.fixture
def of_cluster(cluster, prefix):
    """Ask a cluster as its administrator, and the address at which an applied user logs in; users are ended afterwards."""
    connection, keys = Connection(open_client(cluster.url)), Keys(prefix)

    def url(user, *passwords, reset=False):
        connection.run(acl.apply(user, [acl.kept(each) for each in passwords], reset=reset))
        return cluster.url.replace("://", f"://{quote(user.name, safe='')}:{quote(PASSWORD, safe='')}@")

    yield connection.run, keys, url
    if names := [each.name for each in connection.run(acl.listed(keys))]:
        connection.run(acl.revoke(names))
    connection.close()


@pytest.mark.parametrize("face", [ObservationalMemory, Driven])
def test_an_agents_user_is_enough_on_a_cluster(of_cluster, prefix, face, cluster_client):
    """The mark of a push that is due goes to another slot, after the push."""
    run, _, url = of_cluster
    keys = Keys(prefix, usual=4)
    run(sure(keys.layout))  # as the first worker does
    address = url(acl.agent(keys, "harold", Role.WRITER), PASSWORD)
    settings = load_settings(environ={"OM_REDIS_URL": address, "OM_PREFIX": prefix})
    with face(settings) as om:
        added = om.add_message(message("hello")).added
        held = len(om.get_context("t-1", "harold").messages)
        with pytest.raises(NotPermittedError):
            om.get_context("t-1", "albert")
    due = cluster_client.zrange(keys.due_observe.of("harold"), 0, -1)

    assert (added, held, due) == (1, 1, [b"harold"])


def test_a_user_is_set_listed_and_ended_at_every_node_with_one_command(of_cluster, cluster):
    """Breaks where one node is told: a failover locks everybody out, and a revoked user goes on elsewhere."""
    run, keys, url = of_cluster
    user = acl.agent(keys, "harold", Role.READER)
    url(user, PASSWORD)
    before = run(acl.listed(keys))
    cluster.replicas[0].client().execute_command("ACL", "DELUSER", user.name)
    lacking = run(acl.listed(keys))
    url(user)  # without a password: the others know it
    logins = [redis.Redis(port=n.port, username=user.name, password=PASSWORD).ping() for n in cluster.nodes]
    ended, _ = run(acl.revoke([user.name]))
    known = [n.client().execute_command("ACL", "GETUSER", user.name) for n in cluster.nodes]

    assert before == [acl.Known(user.name, on=True, passwords=1, nopass=False)]
    assert lacking == [acl.Known(user.name, on=False, passwords=0, nopass=False)]
    assert (logins, ended, known) == ([True] * 6, 1, [None] * 6)


def test_the_workers_user_is_enough_on_a_cluster(of_cluster, cluster):
    """What workers and the doctor ask of every node, and of the cluster itself."""
    _, keys, url = of_cluster
    connection = Connection(open_client(url(acl.workers(keys), PASSWORD)))
    cluster.replicas[0].client().script_flush()

    assert connection.run(provide()) == len(load_all())
    assert all(each.info and each.fsync for each in connection.run(health.servers()))
    assert connection.run(health.unserved()) == 0
    assert connection.run(verify(keys)) == []
    connection.close()


def test_an_agents_user_goes_on_after_a_failover(tmp_path, prefix):
    """The replica knew the user and held the scripts before it took over. Who is dead and cannot be told of an end is named."""
    with Cluster(tmp_path) as own:
        connection, keys = Connection(open_client(own.url)), Keys(prefix)
        user = acl.agent(keys, "harold", Role.WRITER)
        connection.run(acl.apply(user, [acl.kept(PASSWORD)], reset=False))
        url = own.url.replace("://", f"://{quote(user.name, safe='')}:{quote(PASSWORD, safe='')}@")
        with ObservationalMemory(load_settings(environ={"OM_REDIS_URL": url, "OM_PREFIX": prefix})) as om:
            om.add_message(message("before"))
            dead = own.owner(key_slot(b"harold"))
            own.fail_over(dead)
            om.add_message(message("after"))
            said = [each.content for each in om.get_context("t-1", "harold").messages]
            with pytest.raises(StoreError, match=str(dead.port)):  # it would let the user in again
                connection.run(acl.revoke([user.name]))
            with pytest.raises(StoreError):
                om.get_context("t-1", "harold")
        connection.close()

    assert said == ["before", "after"]


def test_what_is_granted_is_what_is_used_and_no_command_more(house, memory, tmp_path):
    """Counted by the server: everything that a client may be asked for, and a chunk activated on the way."""
    house.world.say(*(f"message {n}" for n in range(7)))
    house.world.settle()
    om = memory()
    house.admin.config_resetstat()
    om.add_messages([message(f"more {n}") for n in range(5)])
    om.get_context("t-1", "harold")
    for ask in (
        om.record,
        om.history,
        om.threads,
        om.stats,
        om.costs,
        om.rejected,
        om.force_observe,
        om.pause,
        om.resume,
    ):
        ask(resource_id="harold")
    om.sources(om.observations("harold")[0].id, "harold")
    om.messages("harold", "t-1")
    with pytest.raises(NotReplicatedError):
        waits = replicas_of(house.keys, "harold", 1, 0.01)
        harold = Connection(house.agent("harold", Role.WRITER))
        harold.run(push(house.keys, ServerClock(), "harold", (), replicas=waits))
    keep_items(harold, house)
    change_what_was_archived(house, f"sqlite:///{tmp_path}/archive.db")
    used = calls(house)

    assert set(acl._READ + acl._WRITE) - used == set()
    assert {"rename", "unlink", "zremrangebyscore", "wait"} <= used


def change_what_was_archived(house, url):
    """What our own processes archived comes back, and goes again, by a user that may write."""
    archive = open_archive(url)
    archive.prepare()
    ours, harold = Connection(house.admin, archive), Connection(house.agent("harold", Role.WRITER), archive)
    found = ours.run(past(house.keys, "harold", [Scope("harold")], ["t-1"], 2**50, 86_400))
    assert ours.run(move(house.keys, [Planned("harold", found.ready, "auto")])) == len(found.ready) > 0
    assert harold.run(changed(house.keys, "harold", "auto", lambda: forgetting_nothing(house), everything)) == 0
    archive.close()


def forgetting_nothing(house):
    """A change that finds everything back in Redis, and leaves it as it is."""
    return (yield from as_int("ZCARD", house.keys.of("harold").archived))


def keep_items(connection, house, resource="harold"):
    """Whatever is done with items of a namespace that begins with a resource's id."""
    keys, place, clock = house.keys, (resource, "notes"), ServerClock()
    for ttl_ms in (60_000, 0):
        connection.run(put_items(keys, clock, [ItemPut(place, "a", body_of({"text": "x"}), ttl_ms)]))
    connection.run(put_items(keys, clock, [ItemPut(place[:1], "b", body_of({"text": "x"}), 60_000)]))
    connection.run(use_items(keys, connection.run(items_under(keys, (resource,)))))
    assert connection.run(inhabited(keys, connection.run(under(keys, (resource,))))) == [
        f"/{resource}",
        f"/{resource}/notes",
    ]
    return connection.run(get_items(keys, [(place, "a"), (place, "none")]))


def test_items_of_its_own_namespaces_are_everything_that_a_user_reaches(house):
    keep_items(Connection(house.admin), house, "albert")
    keep_items(Connection(house.admin), house, "harold2")
    writer, reader = (Connection(house.agent("harold", role)) for role in (Role.WRITER, Role.READER))

    (kept, missing) = keep_items(writer, house)
    assert (kept.value, missing) == ({"text": "x"}, None)
    found = reader.run(items_under(house.keys, ("harold",)))
    assert [item.key for item in found] == ["a", "b"]
    reader.run(use_items(house.keys, found))
    with pytest.raises(NotPermittedError):
        reader.run(put_items(house.keys, ServerClock(), [ItemPut(("harold",), "b", body_of({}))]))
    for connection in (writer, reader):
        for other in (("albert",), ("harold2",), ("albert", "harold"), ()):
            with pytest.raises(NotPermittedError):
                connection.run(items_under(house.keys, other))
        for place in (("albert", "notes"), ("harold2", "notes")):
            with pytest.raises(NotPermittedError):
                connection.run(get_items(house.keys, [(place, "a")]))
            with pytest.raises(NotPermittedError):
                connection.run(put_items(house.keys, ServerClock(), [ItemPut(place, "a", None)]))


# -- what nobody may ----------------------------------------------------------------------------------------------------


def granted(role):
    names = (
        *acl._CONNECT,
        *acl._ON_A_CLUSTER,
        *acl._READ,
        *(acl._WRITE if role is Role.WRITER else ()),
        "evalsha",
    )
    return set(names)


UNASKED = {"auth", "hello", "quit", "reset"}  # no server asks its ACL about them


def test_whoever_logs_out_may_nothing_while_the_door_is_closed(house):
    harold = house.agent("harold", Role.WRITER, single_connection_client=True)
    harold.execute_command("RESET")

    with pytest.raises(AuthenticationError):
        harold.execute_command("GET", house.keys.of("albert").scope)


def every_command(house):
    classes = house.admin.execute_command("ACL", "CAT")
    found = {name.decode() for each in classes for name in house.admin.execute_command("ACL", "CAT", each.decode())}
    assert len(found) > 240
    return found


@roles
def test_every_command_of_every_class_that_is_not_granted_is_refused(house, role):
    harold = house.agent("harold", role)
    may = granted(role)
    others = {name for name in every_command(house) if name not in may and name.partition("|")[0] not in may} - UNASKED
    own = house.keys.of("harold").scope
    answered = {name: found for name in sorted(others) if (found := _named(harold, name, own)) != "NoPermissionError"}

    # of these a server says first that there is no such subcommand; each of those that there are is among `others`
    assert answered.keys() - {name.partition("|")[0] for name in others if "|" in name} == set()
    assert set(answered.values()) == {"ResponseError"}
    assert {"keys", "scan", "flushall", "config|get", "eval", "script|load", "monitor", "slowlog|get"} <= others
    assert {"client|list", "object|encoding", "memory|usage", "sort", "debug", "pubsub|channels", "publish"} <= others


def _named(client, name, fill):
    return refusal(client, *name.split("|"), fill)


@roles
def test_no_granted_command_touches_a_key_of_anybody_else(house, role):
    """Every key that the code can name, and every one that is there, of albert and of nobody, x every granted command."""
    house.filled()
    harold, own = house.agent("harold", role), f"{house.prefix}:{{harold}}:"
    foreign = every_key(house.keys, "albert") | {key.decode() for key in house.admin.scan_iter(f"{house.prefix}*")}
    foreign = {key for key in foreign if not key.startswith(own)} - {house.keys.spent_by("2026-11-21", "harold")}
    keyed = granted(role) - set(acl._CONNECT) - set(acl._ON_A_CLUSTER) - {"evalsha"}
    before = contents(house.admin, f"{house.prefix}*")
    keys, writes = house.keys, role is Role.WRITER
    indexes = {keys.due_observe, keys.due_reflect, keys.adopt, keys.namespace_roots, keys.archivable}
    told = {*(("zadd", key) for key in indexes), ("exists", keys.archive)} if writes else set()

    reached = {(c, key) for key in foreign for c in keyed if refusal(harold, c, key) != "NoPermissionError"}
    assert len(foreign) > 50
    assert reached == {*told, ("get", keys.partitions)}
    assert contents(house.admin, f"{house.prefix}*") == before


@roles
def test_every_key_of_its_own_may_be_read(house, role):
    harold = house.agent("harold", role)
    own = {key for key in every_key(house.keys, "harold") if key.startswith(house.keys.of("harold").base)}

    assert len(own) > 15
    assert {key: found for key in own if (found := refusal(harold, "exists", key))} == {}
    assert harold.hgetall(house.keys.spent_by("2026-11-21", "harold")) == {}


@roles
def test_no_script_reaches_further_than_who_runs_it(house, role):
    """Those that are loaded may be run, ours or another program's, on keys declared or not: the ACL holds inside."""
    harold, albert = house.agent("harold", role), house.keys.of("albert").scope
    house.admin.set(albert, "resource")
    reads = house.admin.script_load("return redis.call('GET', ARGV[1])")
    lists = house.admin.script_load("return redis.call('ZRANGE', KEYS[1], 0, -1)")
    walks = house.admin.script_load("return redis.call('SCAN', 0)")
    for sha, words in ((reads, (0, albert)), (reads, (1, albert, albert)), (walks, (0,))):
        with pytest.raises(ResponseError, match=r"permission|can't"):
            harold.evalsha(sha, *words)
    for index in (house.keys.due_observe, house.keys.resources, house.keys.adopt):
        with pytest.raises(ResponseError, match=r"permission|can't"):
            harold.evalsha(lists, 1, index)


def test_readers_run_scripts_that_read_and_none_that_writes(house):
    harold, key = house.agent("harold", Role.READER), house.keys.of("harold").scope
    reads = house.admin.script_load("return redis.call('EXISTS', KEYS[1])")
    writes = house.admin.script_load("return redis.call('SET', KEYS[1], 1)")

    assert harold.evalsha(reads, 1, key) == 0
    with pytest.raises(ResponseError, match=r"permission|can't"):
        harold.evalsha(writes, 1, key)
    assert house.admin.exists(key) == 0


@roles
@pytest.mark.parametrize("database", [0, 3])
def test_another_database_of_the_server_is_no_way_round(house, role, database):
    harold = house.agent("harold", role)
    harold.execute_command("SELECT", database)

    assert _named(harold, "get", house.keys.of("albert").scope) == "NoPermissionError"


ODD = (
    "harold",
    "harold2",
    "2harold",
    "h.rold",
    "harold:x",
    "x:harold",
    "harold+",
    "a@harold",
    "HAROLD",
    "-",
    "_",
    "..harold",
)


@pytest.mark.parametrize("mine", ODD)
def test_names_that_resemble_each_other_are_apart(house, mine):
    """Patterns are globs: no id may hold what a glob means, and none may begin or end another one's key."""
    client = house.agent(mine, Role.WRITER)
    for theirs in ODD:
        for key in (house.keys.of(theirs).scope, house.keys.spent_by("2026-11-21", theirs)):
            word = "get" if key == house.keys.of(theirs).scope else "hgetall"
            assert _named(client, word, key) == ("" if mine == theirs else "NoPermissionError"), key


def test_a_prefix_that_begins_another_one_opens_nothing_of_it(house):
    harold, near = house.agent("harold", Role.WRITER), (f"{house.prefix}2", f"{house.prefix}:x", f"x{house.prefix}")

    for prefix in near:
        for tail in (":{harold}:scope", ":due:observe", ":adopt", ":spent:2026-11-21:harold"):
            assert _named(harold, "hgetall", prefix + tail) == "NoPermissionError"
            assert _named(harold, "zadd", prefix + tail) == "NoPermissionError"


# -- what it can do to others, and what becomes of it -------------------------------------------------------------------


def test_whoever_is_marked_by_another_one_is_looked_at_and_nothing_else(house):
    house.world.say("mine", resource="albert")
    house.world.settle()
    harold = house.agent("harold", Role.WRITER)
    before = house.world.covering("albert")
    marks = {"albert": 1, "nobody": 1, b"\xff": 1}
    for index in (house.keys.due_observe, house.keys.due_reflect):
        harold.zadd(index, marks)
    harold.zadd(house.keys.adopt, {house.keys.of("albert").messages("t-1"): 0, "nonsense": 0, b"\xff": 0})
    house.admin.zrem(house.keys.due_observe, b"\xff")  # a tick drops it, see tests/om_workers/tasks/test_ticks.py
    house.admin.zrem(house.keys.due_reflect, b"\xff")
    house.world.sweep()
    house.world.settle()

    assert house.world.covering("albert") == before
    assert list(house.admin.scan_iter(f"{house.prefix}:{{nobody}}*")) == []
    assert house.admin.zscore(house.keys.resources, "nobody") is None


def test_who_was_put_off_by_another_one_is_brought_forward_by_the_sweep(house):
    house.world.say("mine", "too", "and this", resource="albert")
    house.world.settle()
    house.agent("harold", Role.WRITER).zadd(house.keys.due_observe, {"albert": 9e15})
    house.admin.zadd(house.keys.resources, {"albert": 1})

    assert house.world.sweep().marked == 1
    assert house.admin.zscore(house.keys.due_observe, "albert") < time.time() * 1000 + 60_000


# -- scripts ------------------------------------------------------------------------------------------------------------


def test_a_server_that_lost_our_scripts_says_what_to_do_and_goes_on_when_a_worker_brought_them(house, memory):
    om = memory()
    house.admin.script_flush()
    with pytest.raises(StoreError, match="a worker brings them within 10 s, so repeat") as caught:
        om.add_message(message("hello"))
    assert caught.value.stored is False

    assert house.run(provide()) == len(load_all())
    assert house.run(provide()) == 0
    assert om.add_message(message("hello")).added == 1


# -- users --------------------------------------------------------------------------------------------------------------


def test_the_server_is_never_told_a_password(house):
    user = acl.agent(house.keys, "harold", Role.WRITER)
    with house.admin.monitor() as heard:
        house.apply(user)
        said = [next(heard.listen())["command"]]
        house.admin.ping()
        while said[-1] != "PING":
            said.append(next(heard.listen())["command"])

    assert PASSWORD not in str(said)
    assert PASSWORD not in str(house.admin.execute_command("ACL", "LIST"))


def test_a_user_without_any_password_is_not_made(house):
    for role in acl.ROLES:
        user = acl.agent(house.keys, "harold", role)
        with pytest.raises(InvalidInputError, match="--generate"):
            house.run(acl.apply(user, [], reset=False))
    assert house.run(acl.listed(house.keys)) == []


def test_applied_again_a_user_keeps_its_password_and_loses_what_it_should_not_have(house):
    user = acl.agent(house.keys, "harold", Role.WRITER)
    house.apply(user)
    house.admin.execute_command("ACL", "SETUSER", user.name, "~*", "+@all", "(~* +@all)", "&*")
    house.run(acl.apply(user, [], reset=False))
    url = house.server.url.replace("://", f"://{quote(user.name, safe='')}:{quote(PASSWORD)}@")

    with redis.Redis.from_url(url) as client:
        assert _named(client, "get", house.keys.of("albert").scope) == "NoPermissionError"
        assert _named(client, "flushall", "ASYNC") == "NoPermissionError"


def test_a_second_password_is_added_and_a_reset_ends_the_older_ones_and_their_connections(house):
    user = acl.agent(house.keys, "harold", Role.WRITER)
    first = Connection(open_client(house.apply(user)))
    house.apply(user, "the second password, as long")
    (two,) = house.run(acl.listed(house.keys))
    connected = first.client.ping()
    house.apply(user, "the third password, as long", reset=True)
    (one,) = house.run(acl.listed(house.keys))

    assert (connected, two.passwords, one.passwords) == (True, 2, 1)
    with pytest.raises(AuthenticationError):
        [first.client.ping() for _ in range(2)]
    first.close()


def test_a_revoked_user_is_cut_off_and_no_other(house):
    writer, reader = house.agent("harold", Role.WRITER), house.agent("harold", Role.READER)
    albert = house.agent("albert", Role.WRITER)
    assert [each.ping() for each in (writer, reader, albert)] == [True] * 3
    house.run(acl.revoke([acl.agent(house.keys, "harold", role).name for role in acl.ROLES]))

    for each in (writer, reader):
        with pytest.raises(redis.exceptions.ConnectionError):
            each.ping()
    assert albert.ping()
    assert [user.name for user in house.run(acl.listed(house.keys))] == [f"{house.prefix}/albert/writer"]


def test_users_of_another_prefix_are_not_listed(house):
    house.admin.execute_command("ACL", "SETUSER", f"{house.prefix}2/harold/writer", "on")
    house.apply(acl.agent(house.keys, "harold", Role.READER))

    assert [user.name for user in house.run(acl.listed(house.keys))] == [f"{house.prefix}/harold/reader"]


def test_a_server_that_keeps_users_in_a_file_knows_them_after_a_restart(server, tmp_path, prefix):
    binary = server._command[0]
    (tmp_path / "users.acl").touch()
    with Server(tmp_path, "--aclfile", str(tmp_path / "users.acl"), binary=binary) as own:
        lock(own, default="on")
        house = House(own, prefix)
        user = acl.agent(house.keys, "harold", Role.WRITER)
        done = house.run(acl.apply(user, [acl.kept(PASSWORD)], reset=False))
        own.stop()
        own.start()
        known = house.run(acl.listed(house.keys))
        house.admin.close()

    assert (done.saved, [each.name for each in known]) == (True, [user.name])


@pytest.mark.parametrize("binary", BINARIES.values(), ids=BINARIES)
def test_a_file_of_users_takes_the_place_of_requirepass(tmp_path, prefix, binary):
    """Who adds an aclfile to a server that had a password opens it to everybody: that is said when a user is applied."""
    (tmp_path / "users.acl").touch()
    options, user = ("--requirepass", PASSWORD, "--aclfile"), acl.agent(Keys(prefix), "harold", Role.WRITER)
    with Server(tmp_path, *options, str(tmp_path / "users.acl"), binary=binary) as own, own.client() as anybody:
        done = Connection(anybody).run(acl.apply(user, [acl.kept(PASSWORD)], reset=False))

    assert done == acl.Applied(saved=True, open_door=True)


@pytest.mark.parametrize("door", ["on", "off"])
def test_a_server_that_forgets_users_and_one_that_needs_none_are_told_of(house, door):
    house.admin.execute_command("ACL", "SETUSER", "default", door)
    done = house.run(acl.apply(acl.workers(house.keys), [acl.kept(PASSWORD)], reset=False))
    house.admin.execute_command("ACL", "SETUSER", "default", "off")

    assert done == acl.Applied(saved=False, open_door=door == "on")


def test_who_may_not_make_users_is_told_so(house):
    harold = Connection(house.agent("harold", Role.WRITER))
    with pytest.raises(NotPermittedError):
        harold.run(acl.apply(acl.agent(house.keys, "albert", Role.WRITER), [acl.kept(PASSWORD)], reset=False))
    with pytest.raises(NoPermissionError):
        harold.client.execute_command("ACL", "WHOAMI")


# -- the rules ---------------------------------------------------------------------------------------------------------


def test_no_id_and_no_prefix_holds_what_a_pattern_or_the_command_would_take_for_something_else():
    (pattern,) = [each.pattern for each in RedisSettings.model_fields["prefix"].metadata if hasattr(each, "pattern")]
    for sign in f"{GLOB} (){{}}\n|/~%":
        assert not ID_PATTERN.fullmatch(sign)
        assert not re.fullmatch(pattern, sign)


@pytest.mark.parametrize("resource", ["", "*", "har*", "a b", "harold:*) (~*", "..", "a/b"])
def test_what_is_no_id_is_no_users_name(resource):
    with pytest.raises(InvalidInputError):
        acl.agent(Keys(), resource, Role.WRITER)


def test_no_two_users_have_one_name():
    """Ids and prefixes may hold colons: it is the slash, which neither may hold, that keeps them apart."""
    known = [("a", "b:c"), ("a:b", "c"), ("a", "workers"), ("a", "writer"), ("a:workers", "x"), ("a", "default")]
    names = [acl.agent(Keys(prefix), resource, role).name for prefix, resource in known for role in acl.ROLES]
    names += [acl.workers(Keys(prefix)).name for prefix in ("a", "a:b", "a:workers")]

    assert len(names) == len(set(names))
    assert not {"default", "a", "b"} & set(names)


def test_no_agents_user_is_an_operator():
    with pytest.raises(InvalidInputError, match="reader or writer"):
        acl.agent(Keys(), "harold", Role.OPERATOR)


def test_a_reader_is_granted_no_command_that_writes_and_no_key_to_write():
    rules = acl.agent(Keys(), "harold", Role.READER).rules

    assert not {f"+{name}" for name in acl._WRITE} & set(rules)
    assert [rule for rule in rules if "~" in rule and not rule.startswith(("%R~", "(+evalsha "))] == [*rules[-2:]]
    assert "%R~cortex:om:spent" in rules[-2]
    assert rules[-1] == "(+get %R~cortex:om:partitions)"


def test_a_password_is_kept_as_its_hash_and_a_short_one_not_at_all():
    assert acl.kept("a" * 16) == "#0c0beacef8877bbf2416eb00f2b5dc96354e26dd1df5517320459b1236860f8c"
    with pytest.raises(InvalidInputError, match="15 characters; permitted: 16"):
        acl.kept("a" * 15)
    assert acl.kept(acl.new_password()) != acl.kept(acl.new_password())


@roles
def test_a_redis_user_recalls_its_own_resource_and_no_other(house, memory, role):
    house.filled()
    om = memory(role)
    hits = om.recall("says", "harold", kinds=("message", "observation", "generation"), limit=100).hits

    assert {hit.kind for hit in hits} == {"message", "observation", "generation"}
    assert not [hit for hit in hits if "albert" in hit.text]
    assert om.browse(next(hit.id for hit in hits if hit.message), "harold").message
    assert "harold says" in om.answer_recall({"query": "says"}, "harold")
    for refused in (lambda: om.recall("says", "albert"), lambda: om.browse("m-1", "albert")):
        with pytest.raises(NotPermittedError):
            refused()


def test_what_settings_compose_may_be_read_and_not_written(house):
    """Of a transaction that reads several memories one refusal would end all: whoever may not read one is told of it."""
    house.filled()
    plain = house.agent("harold", Role.WRITER)
    with ObservationalMemory(house.world.settings, client=plain) as om:
        refused = om.get_context("t-1", "harold", also=["albert"])
        found = om.recall("says", "harold", also=["albert"])
        again = om.get_context("t-1", "harold", also=["albert"])
    url = house.apply(acl.agent(house.keys, "harold", Role.WRITER, ["albert"]))
    granted = redis.Redis.from_url(url)
    house.clients.append(granted)
    with ObservationalMemory(house.world.settings, client=granted) as om:
        shown = om.get_context("t-1", "harold", also=["albert"])
        both = om.recall("says", "harold", also=["albert"])
        with pytest.raises(NotPermittedError):
            om.add_message(message("mine now", "albert"))
        with pytest.raises(NotPermittedError):
            om.clear("albert")

    assert "may not read it" in refused.left_out["albert"]
    assert (refused.observations, refused.composed) == (shown.observations, {})
    assert refused.blocks
    assert "may not read it" in again.left_out["albert"]
    assert {hit.resource_id for hit in found.hits} == {"harold"}
    assert "albert" in found.left_out
    assert shown.left_out == {}
    assert "albert says" in shown.text
    assert {hit.resource_id for hit in both.hits} == {"harold", "albert"}


def test_users_that_may_not_read_what_is_composed_are_named(house):
    house.agent("harold", Role.WRITER)
    lacking = house.run(acl.not_granted(house.keys, "harold", ["albert"]))
    house.apply(acl.agent(house.keys, "harold", Role.WRITER, ["albert"]))

    assert lacking == [(f"{house.prefix}/harold/writer", "albert")]
    assert house.run(acl.not_granted(house.keys, "harold", ["albert"])) == []
