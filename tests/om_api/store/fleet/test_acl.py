"""Isolation at the store, on real servers: every command, every key, every way that an agent's ACL user might try."""

import itertools
import json
from urllib.parse import quote

import pytest
import redis
from acl_house import PASSWORD, House, every_key, lock
from driven import Driven
from redis.crc import key_slot
from redis.exceptions import AuthenticationError, ResponseError
from servers import BINARIES, Cluster, Server
from world import contents

from om_api import InvalidInputError, Message, ObservationalMemory, load_settings
from om_api.archive.opening import open_archive
from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.errors import NotPermittedError, NotReplicatedError, RateLimitedError, StoreError
from om_api.domain.values import Scope
from om_api.ops.composed_faults import user_faults
from om_api.store.archiving.candidates import past
from om_api.store.archiving.changing import changed, everything
from om_api.store.archiving.moving import Planned, move
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.partitions import sure
from om_api.store.driver.replies import as_int
from om_api.store.driver.scripts import load_all, provide
from om_api.store.fleet import acl
from om_api.store.items.item_records import ItemPut, body_of
from om_api.store.items.keeping_items import get_items, items_under, put_items, use_items
from om_api.store.items.namespaces import inhabited, name_of, under
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock, push, replicas_of

AT = 1_763_600_000_000


@pytest.fixture(
    scope="module",
    params=[name if name == "embedded" else pytest.param(name, marks=pytest.mark.nightly) for name in BINARIES],
)
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


def refused(*asks):
    """Each of these is refused to an agent, with where to read on."""
    for n, ask in enumerate(asks):
        with pytest.raises(NotPermittedError, match=r"docs/security\.md"):
            ask()
            pytest.fail(f"number {n} was permitted")


def test_a_writer_pushes_reads_activates_and_requests(house, memory):
    om = memory()
    om.add_messages([message(f"message {n}") for n in range(7)])
    house.world.settle()
    om.add_messages([message(f"more {n}") for n in range(5)])
    context = om.get_context("t-1", "harold")

    assert context.observations
    assert {f"more {n}" for n in range(5)} <= {each.content for each in context.messages}
    assert om.stats("harold").message_tokens
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


def test_a_reader_is_served_everything_of_its_own_and_changes_nothing(house, memory):
    house.filled()
    writer, reader, kinds = memory(), memory(Role.READER), ("message", "observation", "generation")
    before = contents(house.admin, f"{house.prefix}*")

    assert reader.get_context("t-1", "harold").text == writer.get_context("t-1", "harold").text
    assert reader.history("harold")
    assert reader.threads("harold")
    assert (reader.stats("harold").rejected, reader.costs("harold").calls) == (1, 0)
    refused(lambda: reader.add_message(message("no")), lambda: reader.force_observe(resource_id="harold"))
    for om in (reader, writer):
        house.admin.acl_log_reset()
        found = om.recall("says", "harold", limit=100, kinds=kinds).hits
        around = om.browse(next(hit.id for hit in found if hit.kind == "message"), "harold")
        told = om.answer_recall({"query": "harold says"}, "harold")
        logged = {entry["object"] for entry in house.admin.acl_log()}
        assert {hit.kind for hit in found} == set(kinds)
        assert "albert" not in str(found) + str(around) + told
        assert logged <= {"client|setinfo"}  # by the plain client, as it connects
        refused(
            lambda om=om: om.recall("says", "albert"),
            lambda om=om: om.browse("m-1", "albert"),
            lambda om=om: om.answer_recall({"query": "says"}, "albert"),
        )
    assert contents(house.admin, f"{house.prefix}*") == before


def calls(house):
    return {name.removeprefix("cmdstat_") for name in house.admin.info("commandstats")}


def test_workers_and_no_agents_user_reach_the_audit_trail(house, memory):
    """Whoever may append to a stream may empty it: XADD … MAXLEN 0."""
    entry = AuditEntry(did="paused", via="cli", who="root", resource="harold")
    url = house.apply(acl.workers(house.keys))
    with ObservationalMemory(load_settings(environ={"OM_REDIS_URL": url, "OM_PREFIX": house.prefix})) as om:
        om.add_audit(entry)
        assert next(om.follow_audit("0-0")).did == "paused"
        for role in acl.ROLES:
            for words in (
                ("XADD", house.keys.audit, "MAXLEN", 0, "*", "did", "paused"),
                ("XTRIM", house.keys.audit, "MAXLEN", 0),
                ("XRANGE", house.keys.audit, "-", "+"),
                ("UNLINK", house.keys.audit),
            ):
                assert refusal(house.agent("harold", role), *words) == "NoPermissionError", (role, words)
            with pytest.raises(NotPermittedError):
                memory(role).add_audit(entry)
        assert [each.who for each in om.audit().entries] == ["root"]


def test_a_writer_is_held_to_limits_of_pushes(house):
    settings = load_settings(None, {"OM_PREFIX": house.prefix, "OM_PUSH_LIMITS__MESSAGES_PER_SECOND": "0.02"})
    with ObservationalMemory(settings, client=house.agent("harold", Role.WRITER)) as om:
        om.add_message(message("one"))
        with pytest.raises(RateLimitedError, match="push_limits"):
            om.add_message(message("two"))


def test_a_client_asks_for_nothing_that_is_refused_and_for_what_it_may_not_tell_once(house, memory):
    for role, face in itertools.product(acl.ROLES, (ObservationalMemory, Driven)):
        url = house.apply(acl.agent(house.keys, "harold", role))
        house.admin.acl_log_reset()
        with face(load_settings(environ={"OM_REDIS_URL": url, "OM_PREFIX": house.prefix}), tally=False) as om:
            om.get_context("t-1", "harold")
        assert house.admin.acl_log() == [], (role, face)

    writer, reader, observations = memory(), memory(Role.READER), []
    for round_ in range(2):
        house.world.say(*(f"message {round_} {n}" for n in range(7)))
        house.world.settle()
        writer.add_messages([message(f"more {round_} {n}") for n in range(5)])
        reader.get_context("t-1", "harold")  # a chunk is due: the server is asked once to activate it
        house.admin.config_resetstat()
        reader.get_context("t-1", "harold")
        assert "evalsha" not in calls(house), round_
        observations.append(len(writer.get_context("t-1", "harold").observations))
    tried = [entry["count"] for entry in house.admin.acl_log() if entry["object"] == house.keys.events]
    assert 0 < observations[0] < observations[1]
    assert tried == [1]


@pytest.mark.nightly
def test_an_agents_user_is_set_listed_and_ended_at_every_node_and_goes_on_after_a_failover(tmp_path, prefix):
    """Breaks where one node is told: a failover locks everybody out, and a revoked user goes on elsewhere."""
    with Cluster(tmp_path) as own:
        connection, keys = Connection(open_client(own.url)), Keys(prefix, usual=4)
        connection.run(sure(keys.layout))  # as the first worker does
        user = acl.agent(keys, "harold", Role.WRITER)

        def known():
            return connection.run(acl.listed(keys))

        connection.run(acl.apply(user, [acl.kept(PASSWORD)], reset=False))
        assert known() == [acl.Known(user.name, on=True, passwords=1, nopass=False)]
        own.replicas[0].client().execute_command("ACL", "DELUSER", user.name)
        assert known() == [acl.Known(user.name, on=False, passwords=0, nopass=False)]
        connection.run(acl.apply(user, [], reset=False))  # without a password: the others know it
        url = own.url.replace("://", f"://{quote(user.name, safe='')}:{quote(PASSWORD, safe='')}@")
        settings = load_settings(environ={"OM_REDIS_URL": url, "OM_PREFIX": prefix})
        with ObservationalMemory(settings) as om, Driven(settings) as other:
            assert other.add_message(message("before")).added == 1  # its mark goes to another slot, after the push
            assert own.client().zrange(keys.due_observe.of("harold"), 0, -1) == [b"harold"]
            with pytest.raises(NotPermittedError):
                om.get_context("t-1", "albert")
            dead = own.owner(key_slot(b"harold"))
            own.fail_over(dead)
            om.add_message(message("after"))
            assert [each.content for each in om.get_context("t-1", "harold").messages] == ["before", "after"]
            with pytest.raises(StoreError, match=str(dead.port)):  # it would let the user in again
                connection.run(acl.revoke([user.name]))
            with pytest.raises(StoreError):
                om.get_context("t-1", "harold")
        connection.close()


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


def test_what_is_granted_is_what_is_used_and_no_command_more(house, memory, tmp_path):
    """Counted by the server: everything that a client may be asked for, and a chunk activated on the way."""
    house.world.say(*(f"message {n}" for n in range(7)))
    house.world.settle()
    om, harold = memory(), Connection(house.agent("harold", Role.WRITER))
    house.admin.config_resetstat()
    om.add_messages([message(f"more {n}") for n in range(5)])
    om.get_context("t-1", "harold")
    asks = om.record, om.history, om.threads, om.stats, om.costs, om.rejected, om.force_observe, om.pause, om.resume
    for ask in asks:
        ask(resource_id="harold")
    om.sources(om.observations("harold")[0].id, "harold")
    om.messages("harold", "t-1")
    with pytest.raises(NotReplicatedError):
        waits = replicas_of(house.keys, "harold", 1, 0.01)
        harold.run(push(house.keys, ServerClock(), "harold", (), replicas=waits))
    keep_items(harold, house)
    change_what_was_archived(house, f"sqlite:///{tmp_path}/archive.db")
    used = calls(house)

    assert set(acl._READ + acl._WRITE) - used == set()
    assert {"rename", "unlink", "zremrangebyscore", "wait"} <= used


def change_what_was_archived(house, url):
    """What our own processes archived comes back, and goes again, by a user that may write."""
    archive, count = open_archive(url), lambda: as_int("ZCARD", house.keys.of("harold").archived)
    archive.prepare()
    ours, harold = Connection(house.admin, archive), Connection(house.agent("harold", Role.WRITER), archive)
    found = ours.run(past(house.keys, "harold", [Scope("harold")], ["t-1"], 2**50, 86_400))
    assert ours.run(move(house.keys, [Planned("harold", found.ready, "auto")])) == len(found.ready) > 0
    assert harold.run(changed(house.keys, "harold", "auto", count, everything)) == 0
    archive.close()


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


def test_agent_reaches_the_items_of_the_name_that_its_id_escapes(prefix):
    keys = Keys(prefix)

    def granted(resource, label):
        return keys.items(name_of((label,)))[:-5] + "*" in " ".join(acl.agent(keys, resource, Role.READER).rules)

    assert granted("auth0+_7C1", "auth0|1")
    assert granted("auth0+_2B_7C1", "auth0+_7C1")
    assert not granted("auth0+_7C1", "auth0+_7C1")
    assert not granted("a+_41", "a+_41")  # no name has this id


def granted(role):
    names = (*acl._CONNECT, *acl._ON_A_CLUSTER, *acl._READ, *(acl._WRITE if role is Role.WRITER else ()), "evalsha")
    return set(names)


UNASKED = {"auth", "hello", "quit", "reset"}  # no server asks its ACL about them


def test_neither_logging_out_nor_another_database_nor_making_users_is_a_way_round(house):
    harold = house.agent("harold", Role.WRITER, single_connection_client=True)
    with pytest.raises(NotPermittedError):
        Connection(harold).run(acl.apply(acl.agent(house.keys, "albert", Role.WRITER), ["#" + "0" * 64], reset=False))
    for database in (0, 3):
        harold.execute_command("SELECT", database)
        assert _named(harold, "get", house.keys.of("albert").scope) == "NoPermissionError", database
    harold.execute_command("RESET")

    with pytest.raises(AuthenticationError):
        harold.execute_command("GET", house.keys.of("albert").scope)


def every_command(house):
    classes = house.admin.execute_command("ACL", "CAT")
    found = {name.decode() for each in classes for name in house.admin.execute_command("ACL", "CAT", each.decode())}
    assert len(found) > 240
    return found


def test_every_command_of_every_class_that_is_not_granted_is_refused(house):
    for role in acl.ROLES:
        harold, may, own = house.agent("harold", role), granted(role), house.keys.of("harold").scope
        others = {n for n in every_command(house) if n not in may and n.partition("|")[0] not in may} - UNASKED
        said = {name: found for name in sorted(others) if (found := _named(harold, name, own)) != "NoPermissionError"}

        # of these a server says first that there is no such subcommand; each of those that there are is among `others`
        assert said.keys() - {name.partition("|")[0] for name in others if "|" in name} == set(), role
        assert set(said.values()) == {"ResponseError"}, role
        assert {"keys", "scan", "flushall", "config|get", "eval", "script|load", "monitor", "slowlog|get"} <= others
        assert {"client|list", "object|encoding", "memory|usage", "sort", "debug", "pubsub|channels"} <= others


def _named(client, name, fill):
    return refusal(client, *name.split("|"), fill)


def test_a_granted_command_reads_every_own_key_and_touches_no_key_of_anybody_else(house):
    """Every key that the code can name, and every one that is there, of albert and of nobody, and every granted command."""
    house.filled()
    keys, own, bill = house.keys, f"{house.prefix}:{{harold}}:", house.keys.spent_by("2026-11-21", "harold")
    foreign = every_key(keys, "albert") | {key.decode() for key in house.admin.scan_iter(f"{house.prefix}*")}
    foreign = {key for key in foreign if not key.startswith(own)} - {bill}
    mine = {key for key in every_key(keys, "harold") if key.startswith(keys.of("harold").base)}
    before = contents(house.admin, f"{house.prefix}*")
    indexes = {keys.due_observe, keys.due_reflect, keys.adopt, keys.namespace_roots, keys.archivable}
    every = {keys.of("albert").scope, keys.of("albert").messages("t-1"), keys.due_observe, keys.archive}
    assert len(foreign) > 50
    assert len(mine) > 15
    for role in acl.ROLES:
        harold = house.agent("harold", role)
        keyed = granted(role) - set(acl._CONNECT) - set(acl._ON_A_CLUSTER) - {"evalsha"}
        asked = {
            (c, key) for key in foreign for c in keyed & ({"get", "exists", "zadd"} if key not in every else keyed)
        }
        told = {*(("zadd", key) for key in indexes), ("exists", keys.archive)} if role is Role.WRITER else set()
        reached = {(c, key) for c, key in asked if refusal(harold, c, key) != "NoPermissionError"}

        assert reached == {*told, ("get", keys.partitions)}, role
        assert {key: found for key in mine if (found := refusal(harold, "exists", key))} == {}, role
        assert harold.hgetall(bill), role
    assert contents(house.admin, f"{house.prefix}*") == before


def test_no_script_reaches_further_than_who_runs_it(house):
    """Those that are loaded may be run, ours or another program's, on keys declared or not: the ACL holds inside."""
    albert, own = house.keys.of("albert").scope, house.keys.of("harold").scope
    house.admin.set(albert, "resource")
    reads, lists, walks, exists, writes = map(
        house.admin.script_load,
        (
            "return redis.call('GET', ARGV[1])",
            "return redis.call('ZRANGE', KEYS[1], 0, -1)",
            "return redis.call('SCAN', 0)",
            "return redis.call('EXISTS', KEYS[1])",
            "return redis.call('SET', KEYS[1], 1)",
        ),
    )
    calls = [(reads, 0, albert), (reads, 1, albert, albert), (walks, 0)]
    calls += [(lists, 1, index) for index in (house.keys.due_observe, house.keys.resources, house.keys.adopt)]
    for role in acl.ROLES:
        harold = house.agent("harold", role)
        for words in [*calls, *([(writes, 1, own)] if role is Role.READER else [])]:
            with pytest.raises(ResponseError, match=r"permission|can't"):
                harold.evalsha(*words)
        assert harold.evalsha(exists, 1, own) == 0, role


def test_names_and_prefixes_that_resemble_each_other_are_apart(house):
    """Patterns are globs: no id may hold what a glob means, and none may begin or end another one's key."""
    odd = ("harold", "harold2", "2harold", "h.rold", "harold:x", "x:harold", "a@harold", "HAROLD", "-", "..harold")
    for mine in odd:
        client = house.agent(mine, Role.WRITER)
        for theirs in odd:
            for word, key in (
                ("get", house.keys.of(theirs).scope),
                ("hgetall", house.keys.spent_by("2026-11-21", theirs)),
            ):
                assert _named(client, word, key) == ("" if mine == theirs else "NoPermissionError"), (mine, key)
    near = (f"{house.prefix}2", f"{house.prefix}:x", f"x{house.prefix}")
    tails = (":{harold}:scope", ":due:observe", ":adopt", ":spent:2026-11-21:harold")
    for word, prefix, tail in itertools.product(("hgetall", "zadd"), near, tails):
        assert _named(house.clients[1], word, prefix + tail) == "NoPermissionError", (word, prefix, tail)


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
    house.world.say("too", "and this", resource="albert")
    house.world.settle()
    harold.zadd(house.keys.due_observe, {"albert": 9e15})  # put off: the sweep brings it forward
    house.admin.zadd(house.keys.resources, {"albert": 1})
    assert house.world.sweep().marked == 1
    assert house.admin.zscore(house.keys.due_observe, "albert") < house.admin.time()[0] * 1_000 + 60_000


def test_a_server_that_lost_our_scripts_says_what_to_do_and_goes_on_when_a_worker_brought_them(house, memory):
    om = memory()
    house.admin.script_flush()
    with pytest.raises(StoreError, match="a worker brings them within 10 s, so repeat") as caught:
        om.add_message(message("hello"))
    assert caught.value.stored is False

    assert house.run(provide()) == len(load_all())
    assert house.run(provide()) == 0
    assert om.add_message(message("hello")).added == 1


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


def test_applied_again_a_user_keeps_its_password_and_loses_what_it_should_not_have(house):
    user = acl.agent(house.keys, "harold", Role.WRITER)
    url = house.apply(user)
    for door in ("on", "off"):
        house.admin.execute_command("ACL", "SETUSER", "default", door)
        house.admin.execute_command("ACL", "SETUSER", user.name, "~*", "+@all", "(~* +@all)", "&*")
        done = house.run(acl.apply(user, [], reset=False))
        assert done == acl.Applied(saved=False, open_door=door == "on")

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
    house.admin.execute_command("ACL", "SETUSER", f"{house.prefix}2/harold/writer", "on")
    assert [each.ping() for each in (writer, reader, albert)] == [True] * 3
    house.run(acl.revoke([acl.agent(house.keys, "harold", role).name for role in acl.ROLES]))

    for each in (writer, reader):
        with pytest.raises(redis.exceptions.ConnectionError):
            each.ping()
    assert albert.ping()
    assert [user.name for user in house.run(acl.listed(house.keys))] == [f"{house.prefix}/albert/writer"]


@pytest.mark.nightly
def test_a_server_that_keeps_users_in_a_file_knows_them_after_a_restart(server, tmp_path, prefix):
    """With a file of users, requirepass counts no more: that the door is open is said when a user is applied."""
    binary = server._command[0]
    (tmp_path / "users.acl").touch()
    options = ("--requirepass", PASSWORD, "--aclfile", str(tmp_path / "users.acl"))
    with Server(tmp_path, *options, binary=binary) as own:
        with own.client() as anybody:
            user = acl.agent(Keys(prefix), "harold", Role.WRITER)
            done = Connection(anybody).run(acl.apply(user, [acl.kept(PASSWORD)], reset=False))
        assert done == acl.Applied(saved=True, open_door=True)
        lock(own, default="on")
        house = House(own, prefix)
        assert house.run(acl.apply(user, [acl.kept(PASSWORD)], reset=False)).saved
        own.stop()
        own.start()
        assert [each.name for each in house.run(acl.listed(house.keys))] == [user.name]
        house.admin.close()


def test_a_user_needs_an_id_a_role_of_an_agent_and_a_password(house):
    for resource in ("", "*", "har*", "a b", "harold:*) (~*", "..", "a/b"):
        with pytest.raises(InvalidInputError):
            acl.agent(Keys(), resource, Role.WRITER)
            pytest.fail(f"{resource!r} is taken for an id")
    with pytest.raises(InvalidInputError, match="reader or writer"):
        acl.agent(Keys(), "harold", Role.OPERATOR)
    for role in acl.ROLES:
        with pytest.raises(InvalidInputError, match="--generate"):
            house.run(acl.apply(acl.agent(house.keys, "harold", role), [], reset=False))
    assert house.run(acl.listed(house.keys)) == []


def test_no_two_users_have_one_name():
    """Ids and prefixes may hold colons: it is the slash, which neither may hold, that keeps them apart."""
    known = [("a", "b:c"), ("a:b", "c"), ("a", "workers"), ("a", "writer"), ("a:workers", "x"), ("a", "default")]
    names = [acl.agent(Keys(prefix), resource, role).name for prefix, resource in known for role in acl.ROLES]
    names += [acl.workers(Keys(prefix)).name for prefix in ("a", "a:b", "a:workers")]

    assert len(names) == len(set(names))
    assert not {"default", "a", "b"} & set(names)


def test_a_password_is_kept_as_its_hash_and_a_short_one_not_at_all():
    assert acl.kept("a" * 16) == "#0c0beacef8877bbf2416eb00f2b5dc96354e26dd1df5517320459b1236860f8c"
    with pytest.raises(InvalidInputError, match="15 characters; permitted: 16"):
        acl.kept("a" * 15)
    assert acl.kept(acl.new_password()) != acl.kept(acl.new_password())


def test_what_settings_compose_may_be_read_and_not_written(house):
    """Of a transaction that reads several memories one refusal would end all: a memory that may not be read is left out."""
    house.filled()
    writer = f"{house.prefix}/harold/writer"
    with ObservationalMemory(house.world.settings, client=house.agent("harold", Role.WRITER)) as om:
        assert house.run(acl.readers(house.keys)) == {writer: {"harold"}}
        left = om.get_context("t-1", "harold", also=["albert"])
        found = om.recall("says", "harold", also=["albert"])
        again = om.get_context("t-1", "harold", also=["albert"])
    granted = redis.Redis.from_url(house.apply(acl.agent(house.keys, "harold", Role.WRITER, ["albert"])))
    house.clients.append(granted)
    with ObservationalMemory(house.world.settings, client=granted) as om:
        shown = om.get_context("t-1", "harold", also=["albert"])
        both = om.recall("says", "harold", also=["albert"])
        refused(lambda: om.add_message(message("mine now", "albert")), lambda: om.clear("albert"))

    assert house.run(acl.readers(house.keys)) == {writer: {"harold", "albert"}}
    (left_over,) = house.run(user_faults(house.world.settings, house.keys))  # a right that no link needs
    assert (left_over.link, left_over.composed) == ("does not compose", "albert")
    assert left_over.do == "om acl harold --role writer --apply"
    house.clients.append(worker := redis.Redis.from_url(house.apply(acl.workers(house.keys))))
    house.admin.acl_log_reset()
    assert Connection(worker).run(user_faults(house.world.settings, house.keys)) is None
    assert house.admin.acl_log() == []
    assert "may not read it" in left.left_out["albert"]
    assert "may not read it" in again.left_out["albert"]
    assert (left.observations, left.composed) == (shown.observations, {})
    assert left.blocks
    assert {hit.resource_id for hit in found.hits} == {"harold"}
    assert "albert" in found.left_out
    assert shown.left_out == {}
    assert "albert says" in shown.text
    assert {hit.resource_id for hit in both.hits} == {"harold", "albert"}
