"""The sweep finds what pushes, tasks and dead workers left undone."""

import json
import time

import pytest
from world import World

from om_api.domain.values import Outcome, Scope
from om_api.recall.analysis import VERSION
from om_api.store.memory import scope_state
from om_workers.work import sweep as sweeping
from om_workers.work.sweep import Sweeper

_DAY_MS = 86_400_000


def _due(world):
    return {name.decode() for name in world.client.zrange(f"{world.prefix}:due:observe", 0, -1)}


def _plain(world, *names, thread="t-1", resource="harold", score=None):
    key = f"{world.prefix}:{{{resource}}}:messages:{thread}"
    at = score or int(time.time() * 1000)
    world.client.zadd(key, {json.dumps({"id": name, "role": "user", "content": name}): at for name in names})


def _looked_long_ago(world, resource="harold"):
    world.client.zadd(f"{world.prefix}:resources", {resource: 1})


def test_a_plain_writer_who_gives_no_hint_is_found_by_looking_at_the_keys(world):
    _plain(world, "p-1", "p-2")
    assert world.sweep().adopted == 1
    assert _due(world) == {"harold"}
    assert world.om.stats("harold").message_tokens > 0


def test_a_scope_that_fell_off_the_index_or_was_put_off_further_than_any_deadline_is_marked_again(world):
    world.say("hello", "again", "and again", tokens=10)
    world.settle()
    index = f"{world.prefix}:due:observe"
    for put_off in (False, True):
        world.client.delete(index)
        if put_off:
            world.client.zadd(index, {"harold": time.time() * 1000 + 10 * _DAY_MS})
        _looked_long_ago(world)
        assert world.sweep().marked == 1, put_off
        assert world.client.zscore(index, "harold") <= time.time() * 1000 + 60_000, put_off


def _stirred_long_ago(world, resource, days=2.0):
    at = int(time.time() * 1000 - days * _DAY_MS)
    world.client.hset(f"{world.prefix}:{{{resource}}}:record", "stirred_at", at)
    _looked_long_ago(world, resource)


def test_a_memory_idle_for_ttl_days_is_cleared_and_one_that_stirred_is_not(client, prefix):
    """Catches idleness by messages' own times: what was accepted a moment ago would be cleared for being old."""
    world = World(client, prefix, ttl_days="1", working_memory__template="- City:")
    names = ("asleep", "awake", "fields")
    for resource in names:
        world.say("hello", resource=resource, timestamp="2001-01-01")
        world.settle()
        _looked_long_ago(world, resource)
    assert world.sweep().cleared == 0
    for resource in names:
        _stirred_long_ago(world, resource)
    world.say("still here", resource="awake", timestamp="2001-01-01")
    world.om.update_working_memory({"City": "Graz"}, "fields")
    assert world.sweep().cleared == 1
    assert list(client.scan_iter(f"{prefix}:{{asleep}}*")) == []
    assert len(world.covering("awake")) == 2
    assert world.om.working_memory("fields").fields == {"City": "Graz"}


def test_a_memory_is_cleared_after_ttl_days_and_no_sooner_and_never_where_it_may_only_be_read(client, prefix):
    world = World(client, prefix, ttl_days="1")
    world.say("hello")
    world.settle()
    _looked_long_ago(world)
    world.sweep()
    _stirred_long_ago(world, "harold", 0.9)
    assert world.sweep() == (0, 0, 0, 0)
    _stirred_long_ago(world, "harold", 1.1)
    _plain(world, "p-1", thread="t-2")
    frozen = World(client, prefix, ttl_days="1", read_only="true")
    assert frozen.sweep() == (0, 0, 0, 0)
    assert len(frozen.covering()) == 2
    assert client.hget(f"{prefix}:{{harold}}:tokens", "#t-2") is None
    client.delete(f"{prefix}:{{harold}}:messages:t-2")
    _stirred_long_ago(world, "harold", 1.1)
    assert world.sweep() == (0, 0, 1, 0)


def test_in_thread_scope_one_idle_thread_has_no_other_cleared_and_a_paused_resource_without_any_is(client, prefix):
    """Catches a memory of no thread that no sweep ever ends: nothing was asked since when it rests."""
    world = World(client, prefix, ttl_days="1", scope="thread")
    for thread in ("quiet", "busy"):
        world.say("hello", thread=thread)
    world.settle()
    world.om.pause("nobody")
    for name in ("harold", "nobody"):
        _looked_long_ago(world, name)
    assert world.sweep().cleared == 0
    client.hset(f"{prefix}:{{harold}}:record:quiet", "stirred_at", int(time.time() * 1000) - 2 * _DAY_MS)
    _looked_long_ago(world)
    assert world.sweep().cleared == 0
    assert len(world.covering()) == 2
    _stirred_long_ago(world, "nobody")
    assert world.sweep().cleared == 1


def test_counters_that_disagree_are_counted_again(world):
    said = world.say("one", "two")
    world.client.hset(f"{world.prefix}:{{harold}}:tokens", "#t-1", 7)
    world.sweep()
    assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "#t-1") == b"2"
    assert world.covering() == sorted(said)


def _at_rest(client, prefix, **changed):
    world = World(client, prefix, min_recent_messages="2", **changed)
    world.say("one", "two", tokens=10)
    world.settle()
    assert _due(world) == set()
    _looked_long_ago(world)
    return world


def test_a_memory_at_rest_is_left_alone_unless_nobody_knows_when_it_stirs(client, prefix):
    """Catches a sweep that marks whatever holds a message: a million idle agents would be looked at for ever."""
    world = _at_rest(client, prefix)
    assert world.sweep().marked == 0
    assert _due(world) == set()
    client.hdel(f"{prefix}:{{harold}}:tokens", "*wake")
    _looked_long_ago(world)
    assert world.sweep().marked == 1


def test_a_memory_that_holds_nothing_raw_needs_no_wake_but_a_look_with_the_settings_of_today(client, prefix):
    """Catches a sweep that marks who has nothing to observe, every minute; and a change that nobody was told of."""
    world = _at_rest(client, prefix)
    world.om.force_observe("t-1", "harold")
    world.settle()
    client.hdel(f"{prefix}:{{harold}}:tokens", "*wake")
    for limits, marked in ((None, 0), ("{}", 1)):
        if limits:
            client.hset(f"{prefix}:{{harold}}:record", "limits", limits)
        _looked_long_ago(world)
        assert world.sweep().marked == marked, limits


def test_what_is_due_by_its_size_alone_is_marked_though_it_has_no_deadline_and_no_chunk(client, prefix):
    """Catches a sweep that asks for more than the size that a memory wakes at, or only how many messages it has."""
    world = World(client, prefix, min_recent_messages="5")
    world.say("one", "two", tokens=10)
    world.settle()
    world.say("large", tokens=int(client.hget(f"{prefix}:{{harold}}:tokens", "*wake")) - 20)
    client.delete(f"{prefix}:due:observe")
    _looked_long_ago(world)
    assert world.sweep().marked == 1


def test_a_chunk_that_waits_is_marked_unless_its_scope_is_paused(client, prefix):
    """Catches a sweep that marks who waits for a move to end: it would be looked at every minute, and nothing done."""
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    world.dispatch.queue.clear()
    for paused, marked in ((True, 0), (False, 1)):
        client.delete(f"{prefix}:due:observe")
        _looked_long_ago(world)
        if paused:
            client.hset(f"{prefix}:{{harold}}:tokens", "*paused", "elsewhere")
        else:
            client.hdel(f"{prefix}:{{harold}}:tokens", "*paused")
        assert world.sweep().marked == marked, paused


@pytest.mark.parametrize("why", ["full", "forced"])
def test_a_paused_memory_is_marked_by_no_sweep_and_by_whoever_resumes_it(client, prefix, why):
    """Breaks when each sweep marks it: it is claimed and looked at every minute, for nothing."""
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    client.hset(f"{prefix}:{{harold}}:record", *(("observation_tokens", 5_000) if why == "full" else ("force", "r")))
    world.om.pause("harold")
    client.delete(f"{prefix}:due:reflect", f"{prefix}:due:observe")
    _looked_long_ago(world)
    assert world.sweep().marked == 0
    assert client.zcard(f"{prefix}:due:reflect") == client.zcard(f"{prefix}:due:observe") == 0
    world.om.resume("harold")
    assert client.zcard(f"{prefix}:due:reflect") == client.zcard(f"{prefix}:due:observe") == 1


def test_who_must_not_be_reflected_is_left_to_who_asks_for_it(client, prefix):
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    client.hset(f"{prefix}:{{harold}}:record", "observation_tokens", 5_000)
    for changed in ({"enabled": "false"}, {"read_only": "true"}):
        client.delete(f"{prefix}:due:reflect")
        _looked_long_ago(world)
        World(client, prefix, **changed).sweep()
        assert client.zcard(f"{prefix}:due:reflect") == 0, changed
    world.om.pause("harold")
    world.om.force_reflect("harold")
    client.delete(f"{prefix}:due:reflect")
    _looked_long_ago(world)
    assert world.sweep().marked == 1
    assert client.zcard(f"{prefix}:due:reflect") == 1


def _hint(world, thread="t-1"):
    key = f"{world.prefix}:{{harold}}:messages:{thread}"
    world.client.zadd(f"{world.prefix}:adopt", {key: 0})
    return key


def test_a_hint_for_what_is_gone_marks_nobody_and_for_what_was_adopted_marks_whose_it_is(world):
    """Time 0: a worker adopts. Time 1: it dies. Time 2: the sweep finds nothing to adopt, and nobody due."""
    key = _hint(world)
    assert world.sweep().adopted == 0
    assert Sweeper(world.services).adopt(key) is Outcome.REST
    assert Sweeper(world.services).adopt("nonsense") is Outcome.REJECTED
    assert _due(world) == set()
    world.say("counted already")
    world.client.delete(f"{world.prefix}:due:observe")
    _hint(world)
    assert world.sweep().adopted == 0
    assert _due(world) == {"harold"}


def test_of_a_key_of_many_resources_one_that_is_adopted_counts(client, prefix, tmp_path):
    """Catches an outcome of the first alone: who may only be read would hide whose messages were adopted."""
    (tmp_path / "agents" / "albert").mkdir(parents=True)
    (tmp_path / "agents" / "albert" / "memory.yaml").write_text("observational_memory: {read_only: true}")
    world = World(client, prefix, config_dir=tmp_path)
    key = f"{prefix}:messages:t-1"
    names = ("albert", "zoe")
    client.zadd(key, {json.dumps({"role": "user", "content": "hi", "resource_id": name}): 1_000 for name in names})
    assert Sweeper(world.services).adopt(key) is Outcome.SEALED
    assert _due(world) == {"zoe"}


def test_adoption_is_told_from_rejection(world):
    good = b'{"id":"p-1","role":"user","content":"hello"}'
    rows = [((b"broken",), Outcome.REJECTED), ((b"broken", b"{}"), Outcome.REJECTED),
            ((b"broken", good), Outcome.SEALED), ((good,), Outcome.SEALED)]  # fmt: skip
    for n, (members, outcome) in enumerate(rows):
        key = _hint(world, f"t-{n}")
        world.client.zadd(key, dict.fromkeys(members, 1_763_600_000_000))
        assert Sweeper(world.services).adopt(key) is outcome, members


def test_a_thread_that_never_holds_still_is_left_to_the_next_sweep(world, monkeypatch):
    def never(*_):
        return None
        yield

    monkeypatch.setattr(sweeping, "adopt", never)
    _plain(world, "p-1")
    assert Sweeper(world.services).adopt(_hint(world)) is Outcome.SUPERSEDED
    assert _due(world) == set()


@pytest.mark.parametrize("configured", ["thread", "resource"])
def test_the_scope_that_is_stored_decides_who_is_marked_and_else_the_configured_one(client, prefix, configured):
    """Catches a sweep that marks a memory nobody has: what is raw in the threads would wait for ever."""
    world = World(client, prefix, scope="thread")
    world.say("hello", "again")
    if configured == "resource":
        world.settle()
        assert client.get(f"{prefix}:{{harold}}:scope") == b"thread"
        world.say("and again")
        world = World(client, prefix, scope="resource")
    client.delete(f"{prefix}:due:observe")
    _looked_long_ago(world)
    assert world.sweep().marked == 1
    assert _due(world) == {"harold|t-1"}
    client.delete(f"{prefix}:due:observe")
    _plain(world, "p-1")
    assert Sweeper(world.services).adopt(_hint(world)) is Outcome.SEALED
    assert _due(world) == {"harold|t-1"}


def test_who_is_on_the_index_is_not_marked_again(world):
    """Catches a sweep that ends every lease: a mark makes who is being worked on due at once."""
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    world.say("one more")
    leased = int(time.time() * 1000) + 29_000.5
    for index, tokens in (("observe", 0), ("reflect", 5000)):
        world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", tokens)
        for name in ("observe", "reflect"):
            world.client.zadd(f"{world.prefix}:due:{name}", {"harold": leased})
        _looked_long_ago(world)
        assert world.sweep().marked == 0, index
        assert world.client.zscore(f"{world.prefix}:due:{index}", "harold") == leased


def test_a_scope_that_waits_for_its_deadline_with_a_chunk_ready_is_left_to_it(world):
    """Catches a sweep that marks whoever has a chunk: it would be looked at every minute until it is idle."""
    world.say(*[f"message {n}" for n in range(4)])
    world.settle()
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})  # the lease of the look before has ended
    world.settle()
    chunks = world.services.run(scope_state.look(world.services.keys, Scope("harold"))).chunks
    deadline = world.client.zscore(f"{world.prefix}:due:observe", "harold")
    _looked_long_ago(world)
    assert chunks
    assert all(chunk.ready for chunk in chunks)
    assert deadline > time.time() * 1000 + 60_000
    assert world.sweep().marked == 0
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") == deadline


def test_a_reflection_that_is_drafted_is_marked_no_sooner_than_it_is_due(world):
    """Catches a sweep that marks what the Reflector leaves alone: it would be looked at every minute, for ever."""
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    world.client.set(world.services.keys.of("harold").draft(Scope("harold")), b"{}", ex=60)
    for tokens, marked in ((2500, 0), (4500, 1)):
        world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", tokens)
        world.client.delete(f"{world.prefix}:due:reflect")
        _looked_long_ago(world)
        assert world.sweep().marked == marked, tokens


def test_sweep_brings_back_a_reflection_that_another_agent_put_off(world):
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", 5000)
    world.client.zadd(f"{world.prefix}:due:reflect", {"harold": 9e15})
    _looked_long_ago(world)
    assert world.sweep().marked == 1
    assert world.client.zscore(f"{world.prefix}:due:reflect", "harold") <= time.time() * 1000 + 60_000


def test_a_score_that_is_endless_hurts_only_whose_it_is(world):
    """Catches a sweep that one agent's keys end for everybody, every minute."""
    for name in ("albert", "zoe"):
        world.say("x", resource=name)
    world.settle()
    world.sweep()
    world.client.zadd(f"{world.prefix}:{{albert}}:chunks", {"no-chunk": 1})
    for key in ("threads", "chunks"):
        world.client.zadd(f"{world.prefix}:{{albert}}:{key}", {"t-1": float("inf")})
        world.client.zrem(f"{world.prefix}:due:observe", "albert")
        world.client.zadd(f"{world.prefix}:resources", {"albert": 1, "zoe": 2})
        world.sweep()
        assert world.client.zscore(f"{world.prefix}:resources", "zoe") > 2, key


def _of_malformed_alone(client, prefix, **changed):
    world = World(client, prefix, ttl_days="1", **changed)
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {b"broken": 1_763_600_000_000})
    world.sweep()
    return world


def _later(world, days=0.0):
    at = int(time.time() * 1000 - days * _DAY_MS)
    entries = f"{world.prefix}:{{harold}}:rejected"
    for n, entry in enumerate(world.client.lrange(entries, 0, -1)):
        world.client.lset(entries, n, json.dumps({**json.loads(entry), "at": at}))
    _looked_long_ago(world)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_resource_of_which_everything_was_malformed_is_known_until_its_quarantine_ends(client, prefix, scope):
    """Catches a quarantine that no list names: the resource had no message, so no worker ever met it."""
    world = _of_malformed_alone(client, prefix, scope=scope)
    assert (world.om.resources(), world.om.rejected_counts()) == (["harold"], {"harold": 1})
    for days, left in ((0.9, ["harold"]), (1.1, [])):
        _later(world, days)
        swept = world.sweep()
        assert (swept.cleared, swept.failed, world.om.resources()) == (1 - len(left), 0, left)
        assert client.exists(f"{prefix}:{{harold}}:rejected") == len(left)
    world = _of_malformed_alone(client, prefix, scope=scope)
    (entry,) = world.om.rejected("harold")
    world.om.drop_rejected("harold", entry.id)
    world.sweep()
    assert world.om.resources() == ["harold"]  # it was listed a moment ago: somebody may be about to write to it
    _looked_long_ago(world)
    world.sweep()
    assert world.om.resources() == []


# -- the index ----------------------------------------------------------------------------------------------------------


def _segments(world):
    base = f"{world.prefix}:{{harold}}:segment:"
    return {key.decode().removeprefix(base): world.client.get(key) for key in world.client.scan_iter(f"{base}*")}


def _indexed(world, record="record"):
    return world.client.hget(f"{world.prefix}:{{harold}}:{record}", "indexed")


def _observed(world, resource="harold"):
    world.say(*[f"message {n}" for n in range(12)], resource=resource)
    world.settle()


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_what_an_older_version_observed_is_indexed_and_not_looked_through_again(client, prefix, monkeypatch, scope):
    """Its memory has no index, or one of other words, and is found by reading its messages until the sweep comes by."""
    monkeypatch.setattr(sweeping, "_CHUNKS", 1)
    world, record = World(client, prefix, scope=scope), "record" if scope == "resource" else "record:t-1"
    _observed(world)
    made = _segments(world)
    for name in made:
        client.delete(f"{prefix}:{{harold}}:segment:{name}")
    client.set(f"{prefix}:{{harold}}:segment:{name}", b"omr\x01\xff\xff" + bytes(60), ex=900)
    reader, rounds = World(client, prefix, scope=scope, read_only="true"), 0
    while not _indexed(world, record):
        reader.sweep()
        rounds += 1
    assert (len(made) > 1, rounds > 1, _segments(world)) == (True, True, made)
    assert _indexed(world, record) == str(VERSION).encode()
    client.delete(*client.scan_iter(f"{prefix}:{{harold}}:segment:*"))
    world.sweep()
    assert _segments(world) == {}
    client.hset(f"{prefix}:{{harold}}:{record}", "indexed", "0")  # as another version of the analysis left it
    world.sweep()
    assert _segments(world) != {}


def test_sweep_mends_a_memory_once_a_day(world):
    """Catches what workers of two versions left for ever: an index of messages that expire, without a lifetime."""
    world.say(*["hello"] * 4)
    world.observe_now()
    segment = next(world.client.scan_iter(f"{world.prefix}:{{harold}}:segment:*"))
    for mends in (True, False):
        world.client.persist(segment)
        _looked_long_ago(world)
        world.sweep()
        assert (world.client.ttl(segment) > 0) is mends
