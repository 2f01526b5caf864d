"""The sweep finds what pushes, tasks and dead workers left undone."""

import json
import time

import pytest
from scene import rewritten
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


def test_scores_in_seconds_micro_and_nanoseconds_are_repaired(world):
    at = 1_763_600_000_000
    for name, score in (("s", at / 1000), ("ms", at), ("us", at * 1000), ("ns", at * 1_000_000)):
        _plain(world, name, score=score)
    world.sweep()

    members = world.client.zrange(f"{world.prefix}:{{harold}}:messages:t-1", 0, -1, withscores=True)
    assert {score for _, score in members} == {at}


def test_a_scope_that_fell_off_the_due_index_is_marked_again(world):
    world.say("hello")
    world.settle()
    world.client.delete(f"{world.prefix}:due:observe")
    _looked_long_ago(world)

    assert world.sweep().marked == 1
    assert _due(world) == {"harold"}


def test_a_scope_that_somebody_put_off_further_than_any_deadline_is_marked_again(world):
    world.say("hello", "again", "and again", tokens=10)
    world.settle()
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": time.time() * 1000 + 10 * _DAY_MS})
    _looked_long_ago(world)

    assert world.sweep().marked == 1
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") <= time.time() * 1000 + 60_000


def test_a_chunk_whose_task_was_lost_is_observed_when_the_lease_runs_out(world):
    world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    world.dispatch.queue.clear()  # the broker lost it
    for name in _due(world):
        world.client.zadd(f"{world.prefix}:due:observe", {name: 1})  # thirty seconds later

    world.settle()

    assert world.om.stats("harold").ready_chunks == 2


def test_a_reflection_that_nobody_began_is_marked_again(world):
    world.say(*[f"message {n} " + "x" * 2000 for n in range(30)])
    world.settle()
    world.client.zadd(f"{world.prefix}:{{harold}}:none", {"x": 1})
    world.client.delete(f"{world.prefix}:{{harold}}:none", f"{world.prefix}:due:reflect")
    world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", 3000)
    _looked_long_ago(world)
    world.sweep()

    assert world.client.zscore(f"{world.prefix}:due:reflect", "harold")


def _stirred_long_ago(world, resource, days=2.0):
    at = int(time.time() * 1000 - days * _DAY_MS)
    world.client.hset(f"{world.prefix}:{{{resource}}}:record", "stirred_at", at)
    _looked_long_ago(world, resource)


def test_a_memory_idle_for_ttl_days_is_cleared_and_one_that_stirred_is_not(client, prefix):
    world = World(client, prefix, ttl_days="1")
    for resource in ("asleep", "awake"):
        world.say("hello", resource=resource)
        world.settle()
        _looked_long_ago(world, resource)
    assert world.sweep().cleared == 0
    for resource in ("asleep", "awake"):
        _stirred_long_ago(world, resource)
    world.say("still here", resource="awake", timestamp="2001-01-01")

    assert world.sweep().cleared == 1
    assert list(client.scan_iter(f"{prefix}:{{asleep}}*")) == []
    assert len(world.context(resource="awake").messages) == 2


def test_a_memory_whose_fields_are_written_is_not_idle(client, prefix):
    world = World(client, prefix, ttl_days="1", working_memory__template="- City:")
    world.say("hello")
    world.settle()
    _looked_long_ago(world)
    world.sweep()
    _stirred_long_ago(world, "harold")
    world.om.update_working_memory({"City": "Graz"}, "harold")

    assert world.sweep().cleared == 0
    assert world.om.working_memory("harold").fields == {"City": "Graz"}


@pytest.mark.parametrize(("days", "cleared"), [(0.9, 0), (1.1, 1)])
def test_a_memory_is_cleared_after_ttl_days_and_no_sooner(client, prefix, days, cleared):
    world = World(client, prefix, ttl_days="1")
    world.say("hello")
    world.settle()
    _looked_long_ago(world)
    world.sweep()
    _stirred_long_ago(world, "harold", days)

    assert world.sweep() == (0, 0, cleared, 0)


def test_what_an_agent_may_only_read_is_neither_adopted_nor_cleared(client, prefix):
    world = World(client, prefix, ttl_days="1")
    world.say("hello")
    world.settle()
    _looked_long_ago(world)
    world.sweep()
    _stirred_long_ago(world, "harold")
    _plain(world, "p-1", thread="t-2")
    frozen = World(client, prefix, ttl_days="1", read_only="true")

    assert frozen.sweep() == (0, 0, 0, 0)
    assert len(frozen.covering()) == 2
    assert client.hget(f"{prefix}:{{harold}}:tokens", "#t-2") is None


def test_a_resource_without_threads_is_no_failure(client, prefix):
    world = World(client, prefix, scope="thread")
    _looked_long_ago(world)

    assert world.sweep() == (0, 0, 0, 0)


def test_one_idle_thread_does_not_have_the_others_of_its_resource_cleared(client, prefix):
    world = World(client, prefix, ttl_days="1", scope="thread")
    for thread in ("quiet", "busy"):
        world.say("hello", thread=thread)
    world.settle()
    _looked_long_ago(world)
    assert world.sweep().cleared == 0
    client.hset(f"{prefix}:{{harold}}:record:quiet", "stirred_at", int(time.time() * 1000) - 2 * _DAY_MS)
    _looked_long_ago(world)

    assert world.sweep().cleared == 0
    assert len(world.covering()) == 2


def test_a_message_that_tells_of_long_ago_is_not_idle(client, prefix):
    """Catches idleness by messages' own times: what was accepted a moment ago would be cleared for being old."""
    world = World(client, prefix, ttl_days="1")
    (name,) = world.say("an old story", timestamp="2001-01-01")
    for _ in range(3):
        world.settle()
        _looked_long_ago(world)
        world.sweep()

    assert world.covering() == [name]


def test_counters_that_disagree_are_counted_again(world):
    said = world.say("one", "two")
    world.client.hset(f"{world.prefix}:{{harold}}:tokens", "#t-1", 7)
    world.sweep()

    assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "#t-1") == b"2"
    assert world.covering() == sorted(said)


def test_history_is_kept_for_max_reflections_generations(client, prefix):
    world = World(client, prefix, max_reflections="2")
    for n in range(4):
        world.say(f"message {n}")
        world.om.force_observe("t-1", "harold")
        world.settle()
        world.om.force_reflect("harold")
        world.settle()

    assert [generation.n for generation in world.om.generations("harold")] == [3, 4]


def test_what_a_memory_no_longer_needs_expires(world):
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    kinds = ("source", "sources", "reflected")

    for kind in kinds:
        keys = list(world.client.scan_iter(f"{world.prefix}:{{harold}}:{kind}:*"))
        assert keys
        assert all(0 < world.client.ttl(key) <= 90 * 86_400 for key in keys)


def test_a_memory_at_rest_is_left_alone(client, prefix):
    """Catches a sweep that marks whatever holds a message: a million idle agents would be looked at for ever."""
    world = World(client, prefix, min_recent_messages="2")
    world.say("one", "two", tokens=10)
    world.settle()
    assert _due(world) == set()
    _looked_long_ago(world)

    assert world.sweep().marked == 0
    assert _due(world) == set()


def _at_rest(client, prefix, **changed):
    world = World(client, prefix, min_recent_messages="2", **changed)
    world.say("one", "two", tokens=10)
    world.settle()
    assert _due(world) == set()
    _looked_long_ago(world)
    return world


def test_a_memory_that_was_looked_at_with_other_settings_is_marked(client, prefix):
    """Catches a change that nobody was told of: its scopes would keep the settings of before until somebody writes."""
    world = _at_rest(client, prefix)
    world.om.force_observe("t-1", "harold")
    world.settle()
    client.hset(f"{prefix}:{{harold}}:record", "limits", "{}")
    _looked_long_ago(world)

    assert world.sweep().marked == 1


def test_a_memory_of_which_nobody_knows_when_it_stirs_is_marked(client, prefix):
    world = _at_rest(client, prefix)
    client.hdel(f"{prefix}:{{harold}}:tokens", "*wake")

    assert world.sweep().marked == 1


def test_a_memory_that_holds_nothing_raw_needs_no_wake(client, prefix):
    """Catches a sweep that marks who has nothing to observe, every minute."""
    world = _at_rest(client, prefix)
    world.om.force_observe("t-1", "harold")
    world.settle()
    client.hdel(f"{prefix}:{{harold}}:tokens", "*wake")
    _looked_long_ago(world)

    assert world.sweep().marked == 0


def test_what_is_full_is_marked_though_it_has_no_deadline_and_no_chunk(client, prefix):
    world = _at_rest(client, prefix, observe_idle_after="0s")
    world.say(*["more"] * 20)
    client.delete(f"{prefix}:due:observe")
    _looked_long_ago(world)

    assert world.sweep().marked == 1


def test_what_is_due_by_its_size_alone_is_marked_though_it_has_no_deadline_and_no_chunk(client, prefix):
    """Catches a sweep that asks for more than the size that a memory wakes at, or only how many messages it has."""
    world = World(client, prefix, min_recent_messages="5")
    world.say("one", "two", tokens=10)
    world.settle()
    world.say("large", tokens=int(client.hget(f"{prefix}:{{harold}}:tokens", "*wake")) - 20)
    client.delete(f"{prefix}:due:observe")
    _looked_long_ago(world)

    assert world.sweep().marked == 1


@pytest.mark.parametrize("paused", [True, False])
def test_a_chunk_that_waits_is_marked_unless_its_scope_is_paused(client, prefix, paused):
    """Catches a sweep that marks who waits for a move to end: it would be looked at every minute, and nothing done."""
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    world.dispatch.queue.clear()
    client.delete(f"{prefix}:due:observe")
    _looked_long_ago(world)
    if paused:
        client.hset(f"{prefix}:{{harold}}:tokens", "*paused", "elsewhere")

    assert world.sweep().marked == (not paused)


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


def test_a_paused_memory_is_reflected_where_that_was_asked_for(client, prefix):
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    world.om.pause("harold")
    world.om.force_reflect("harold")
    client.delete(f"{prefix}:due:reflect")
    _looked_long_ago(world)

    assert world.sweep().marked == 1
    assert client.zcard(f"{prefix}:due:reflect") == 1


@pytest.mark.parametrize("changed", [{"enabled": "false"}, {"read_only": "true"}])
def test_who_must_not_be_reflected_is_left_to_who_asks_for_it(client, prefix, changed):
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    client.hset(f"{prefix}:{{harold}}:record", "observation_tokens", 5_000)
    client.delete(f"{prefix}:due:reflect")
    _looked_long_ago(world)
    World(client, prefix, **changed).sweep()

    assert client.zcard(f"{prefix}:due:reflect") == 0


def _hint(world, thread="t-1"):
    key = f"{world.prefix}:{{harold}}:messages:{thread}"
    world.client.zadd(f"{world.prefix}:adopt", {key: 0})
    return key


def test_what_was_adopted_by_somebody_who_died_before_he_marked_it_is_marked(world):
    """Time 0: a worker adopts. Time 1: it dies. Time 2: the sweep finds nothing to adopt, and nobody due."""
    world.say("counted already")
    world.client.delete(f"{world.prefix}:due:observe")
    _hint(world)

    assert world.sweep().adopted == 0
    assert _due(world) == {"harold"}


def test_a_hint_for_what_is_gone_marks_nobody(world):
    key = _hint(world)

    assert world.sweep().adopted == 0
    assert Sweeper(world.services).adopt(key) is Outcome.REST
    assert _due(world) == set()


def test_what_is_no_key_of_messages_is_not_adopted(world):
    assert Sweeper(world.services).adopt("nonsense") is Outcome.REJECTED


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


@pytest.mark.parametrize(
    ("members", "outcome"),
    [((b"broken",), Outcome.REJECTED), ((b"broken", b"{}"), Outcome.REJECTED), ((b"broken", None), Outcome.SEALED)],
)
def test_adoption_is_told_from_rejection(world, members, outcome):
    key = _hint(world)
    good = b'{"id":"p-1","role":"user","content":"hello"}'
    world.client.zadd(key, {member or good: 1_763_600_000_000 for member in members})

    assert Sweeper(world.services).adopt(key) is outcome


def test_a_plain_message_alone_is_adopted(world):
    _plain(world, "p-1")

    assert Sweeper(world.services).adopt(_hint(world)) is Outcome.SEALED


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


@pytest.mark.parametrize("configured", ["thread", "resource"])
def test_what_is_adopted_is_marked_in_the_scope_that_is_stored_else_in_the_configured_one(client, prefix, configured):
    """Catches a mark on a memory nobody has: what a plain writer left would wait for the next look at the resource."""
    world = World(client, prefix, scope="thread")
    if configured == "resource":
        world.say("hello", "again")
        world.settle()
        assert client.get(f"{prefix}:{{harold}}:scope") == b"thread"
        world = World(client, prefix, scope="resource")
    client.delete(f"{prefix}:due:observe")
    _plain(world, "p-1")

    assert Sweeper(world.services).adopt(_hint(world)) is Outcome.SEALED
    assert _due(world) == {"harold|t-1"}


@pytest.mark.parametrize("index", ["observe", "reflect"])
def test_who_is_on_the_index_is_not_marked_again(world, index):
    """Catches a sweep that ends every lease: a mark makes who is being worked on due at once."""
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    world.say("one more")
    world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", 5000 if index == "reflect" else 0)
    leased = int(time.time() * 1000) + 29_000.5
    for name in ("observe", "reflect"):
        world.client.zadd(f"{world.prefix}:due:{name}", {"harold": leased})
    _looked_long_ago(world)

    assert world.sweep().marked == 0
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


@pytest.mark.parametrize(("tokens", "marked"), [(2500, 0), (4500, 1)])
def test_a_reflection_that_is_drafted_is_marked_no_sooner_than_it_is_due(world, tokens, marked):
    """Catches a sweep that marks what the Reflector leaves alone: it would be looked at every minute, for ever."""
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", tokens)
    world.client.set(world.services.keys.of("harold").draft(Scope("harold")), b"{}", ex=60)
    world.client.delete(f"{world.prefix}:due:reflect")
    _looked_long_ago(world)

    assert world.sweep().marked == marked


@pytest.mark.parametrize("why", ["full", "too many", "asked for", "nothing"])
def test_a_reflection_that_is_due_is_marked_and_no_other(client, prefix, why):
    world = World(client, prefix, max_observations="3" if why == "too many" else "1000")
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    record = f"{prefix}:{{harold}}:record"
    fields = {
        "full": {"observation_tokens": 2500},
        "too many": {"observation_count": 3},
        "asked for": {"force-reflect": "r"},
    }
    if why in fields:
        client.hset(record, mapping=fields[why])
    client.delete(f"{prefix}:due:reflect")
    _looked_long_ago(world)

    marked = world.sweep().marked
    assert bool(client.zcard(f"{prefix}:due:reflect")) is (why != "nothing")
    assert marked == (why != "nothing")


def test_a_copy_that_was_dropped_is_no_rejection(world):
    world.say("one", "two")
    world.settle()
    (sealed,) = world.client.scan_iter(f"{world.prefix}:{{harold}}:sealed:*")
    key = _hint(world)
    world.client.zadd(key, {world.client.zrange(sealed, 0, 0)[0]: 1})

    assert Sweeper(world.services).adopt(key) is Outcome.SEALED
    assert not world.client.exists(key)


@pytest.mark.parametrize("key", ["threads", "chunks"])
def test_a_score_that_is_endless_hurts_only_whose_it_is(world, key):
    """Catches a sweep that one agent's keys end for everybody, every minute."""
    for name in ("albert", "zoe"):
        world.say("x", resource=name)
    world.settle()
    world.sweep()
    world.client.zadd(f"{world.prefix}:{{albert}}:chunks", {"no-chunk": 1})
    world.client.zadd(f"{world.prefix}:{{albert}}:{key}", {"t-1": float("inf")})
    world.client.zrem(f"{world.prefix}:due:observe", "albert")
    world.client.zadd(f"{world.prefix}:resources", {"albert": 1, "zoe": 2})
    world.sweep()

    assert world.client.zscore(f"{world.prefix}:resources", "zoe") > 2


def _known(world):
    return world.om.resources()


def _of_malformed_alone(client, prefix, **changed):
    """Harold, of whom a plain writer wrote one message that is none."""
    world = World(client, prefix, ttl_days="1", **changed)
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {b"broken": 1_763_600_000_000})
    world.sweep()
    return world


def _later(world, days=0.0):
    """As if the last sweep, and what was rejected before it, had been so long ago."""
    at = int(time.time() * 1000 - days * _DAY_MS)
    entries = f"{world.prefix}:{{harold}}:rejected"
    for n, entry in enumerate(world.client.lrange(entries, 0, -1)):
        world.client.lset(entries, n, json.dumps({**json.loads(entry), "at": at}))
    _looked_long_ago(world)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_resource_of_which_everything_was_malformed_is_known(client, prefix, scope):
    """Catches a quarantine that no list names: the resource had no message, so no worker ever met it."""
    world = _of_malformed_alone(client, prefix, scope=scope)

    assert _known(world) == ["harold"]
    assert world.om.rejected_counts() == {"harold": 1}
    _later(world)
    assert world.sweep().cleared == 0
    assert _known(world) == ["harold"]


def test_it_is_known_although_its_worker_died_once_it_was_rejected(client, prefix, monkeypatch):
    world = World(client, prefix)
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {b"broken": 1_763_600_000_000})
    monkeypatch.setattr("om_api.store.memory.quarantine.trim", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        world.sweep()

    assert world.om.rejected_counts() == {"harold": 1}


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_it_is_let_go_once_its_quarantine_is_empty(client, prefix, scope):
    world = _of_malformed_alone(client, prefix, scope=scope)
    (entry,) = world.om.rejected("harold")
    world.om.drop_rejected("harold", entry.id)
    world.sweep()
    assert _known(world) == ["harold"]  # it was listed a moment ago: somebody may be about to write to it
    _looked_long_ago(world)
    world.sweep()

    assert _known(world) == []


@pytest.mark.parametrize("scope", ["resource", "thread"])
@pytest.mark.parametrize(("days", "left"), [(0.9, ["harold"]), (1.1, [])])
def test_a_quarantine_alone_is_cleared_after_ttl_days_and_no_sooner(client, prefix, scope, days, left):
    world = _of_malformed_alone(client, prefix, scope=scope)
    _later(world, days)
    swept = world.sweep()

    assert (swept.cleared, swept.failed) == (1 - len(left), 0)
    assert _known(world) == left
    assert client.exists(f"{prefix}:{{harold}}:rejected") == len(left)


def test_a_paused_resource_without_threads_is_cleared_after_ttl_days_in_thread_scope_too(client, prefix):
    """Catches a memory of no thread that no sweep ever ends: nothing was asked since when it rests."""
    world = World(client, prefix, ttl_days="1", scope="thread")
    world.om.pause("harold")
    _looked_long_ago(world)
    assert world.sweep().cleared == 0
    _stirred_long_ago(world, "harold")

    assert world.sweep().cleared == 1


# -- the index ----------------------------------------------------------------------------------------------------------


def _segments(world):
    base = f"{world.prefix}:{{harold}}:segment:"
    return {key.decode().removeprefix(base): world.client.get(key) for key in world.client.scan_iter(f"{base}*")}


def _indexed(world, record="record"):
    return world.client.hget(f"{world.prefix}:{{harold}}:{record}", "indexed")


def _observed(world, resource="harold"):
    world.say(*[f"message {n}" for n in range(12)], resource=resource)
    world.settle()


@pytest.mark.parametrize("instead", [None, b"omr\x01\xff\xff" + bytes(60)], ids=["none", "one of another version"])
def test_what_an_older_version_observed_is_indexed(world, instead):
    """Its memory has no index, or one of other words, and is found by reading its messages until the sweep comes by."""
    _observed(world)
    made = _segments(world)
    for name in made:
        key = f"{world.prefix}:{{harold}}:segment:{name}"
        world.client.set(key, instead, keepttl=True) if instead else world.client.delete(key)
    world.sweep()

    assert len(made) > 1
    assert _segments(world) == made
    assert _indexed(world) == str(VERSION).encode()


def test_a_memory_that_is_indexed_is_not_looked_through_again(world):
    _observed(world)
    world.sweep()
    world.client.delete(*world.client.scan_iter(f"{world.prefix}:{{harold}}:segment:*"))
    world.sweep()
    assert _segments(world) == {}
    world.client.hset(f"{world.prefix}:{{harold}}:record", "indexed", "0")  # as another version of the analysis left it
    world.sweep()

    assert _segments(world) != {}


def test_a_memory_of_many_chunks_is_indexed_in_several_rounds(world, monkeypatch):
    monkeypatch.setattr(sweeping, "_CHUNKS", 1)
    _observed(world)
    made = _segments(world)
    world.client.delete(*world.client.scan_iter(f"{world.prefix}:{{harold}}:segment:*"))
    rounds = 0
    while not _indexed(world):
        world.sweep()
        rounds += 1
        assert rounds == len(_segments(world))

    assert _segments(world) == made
    assert rounds > 1


def test_in_thread_scope_each_memory_is_indexed(client, prefix):
    world = World(client, prefix, scope="thread")
    for thread in ("t-1", "t-2"):
        world.say(*[f"message {n}" for n in range(12)], thread=thread)
    world.settle()
    made = _segments(world)
    client.delete(*client.scan_iter(f"{prefix}:{{harold}}:segment:*"))
    world.sweep()

    assert _segments(world) == made
    assert {_indexed(world, "record:t-1"), _indexed(world, "record:t-2")} == {str(VERSION).encode()}


def test_an_import_of_a_chunk_in_parts_is_indexed_by_the_next_round(world):
    """Its file is sound, and whoever wrote it joined two: the messages of one chunk do not stand together in it."""
    _observed(world)
    made = _segments(world)
    file = b"".join(world.om.export_memory("harold"))
    world.om.clear("harold")
    world.om.import_memory([_parted(file)])
    before = _segments(world)
    world.sweep()

    assert len(before) < len(made)
    assert _segments(world) == made


def _parted(file):
    """The file with the last message of its first chunk behind everything else."""

    def change(lines):
        name = next(line["observation"] for line in lines if line.get("observation") and line["kind"] == "message")
        own = [line for line in lines if line.get("observation") == name and line["kind"] == "message"]
        rest = [line for line in lines if line is not own[-1]]
        return [*rest, own[-1]]

    return rewritten(file, change)


def test_a_read_only_agent_is_indexed_too_for_it_is_read(client, prefix):
    world = World(client, prefix)
    _observed(world)
    made = _segments(world)
    client.delete(*client.scan_iter(f"{prefix}:{{harold}}:segment:*"))
    World(client, prefix, read_only="true").sweep()

    assert _segments(world) == made
