"""What one look at a scope leaves behind: who else may look, when it comes back, and who is told."""

import math
import time

import pytest
from world import World

from om_api import Message
from om_api.domain import policy
from om_api.domain.policy import Move
from om_api.domain.values import Outcome, Scope
from om_api.store.memory import scope_state
from om_workers.process.stopping import StoppedError
from om_workers.work import scope_worker
from om_workers.work.scope_worker import ScopeWorker

HAROLD = Scope("harold")


def _index(world, what="observe"):
    return f"{world.prefix}:due:{what}"


def _due(world, what="observe"):
    seconds, micros = world.client.time()
    at = world.client.zscore(_index(world, what), "harold")
    return at is not None and at <= seconds * 1000 + micros // 1000


def _say(world, n, **fields):
    return world.say(*[f"message {i}" for i in range(n)], **fields)


def _look(world):
    world.client.zadd(_index(world), {"harold": 1})
    world.claim()
    outcome = world.perform("observe", *world.dispatch.queue.popleft()[1])
    world.dispatch.queue.clear()
    return outcome


def _chunks(world):
    return world.services.run(scope_state.look(world.services.keys, HAROLD)).chunks


def test_a_scope_that_somebody_looks_at_is_busy_and_looked_at_when_that_lock_ends(world):
    """Catches a lock that everyone is granted, and a busy look that leaves the scope on its lease."""
    _say(world, 4)
    world.client.set(world.services.lock_name(HAROLD, "observe"), "dead", px=5_000)
    assert _look(world) is Outcome.BUSY
    assert _chunks(world) == []
    seconds, _ = world.client.time()
    assert world.client.zscore(_index(world), "harold") < (seconds + 1) * 1000 + 5_100


def test_a_scope_of_a_reader_leaves_the_index(client, prefix):
    """Catches a lease that nobody ends: a scope that may not be written to would be looked at every thirty seconds."""
    world = World(client, prefix, read_only="true")
    assert _look(world) is Outcome.REST
    assert client.zcard(_index(world)) == 0


def test_what_activation_brings_about_is_seen_before_more_is_sealed(world):
    """Catches a look that goes on to seal after it activated: the model would be asked before the actor's context is short."""
    _say(world, 8)
    world.settle()
    assert {chunk.ready for chunk in _chunks(world)} == {True}
    _say(world, 3)
    assert _look(world) is Outcome.ACTIVATED
    assert world.om.stats("harold").message_tokens > 0
    assert all(chunk.ready for chunk in _chunks(world))
    assert _due(world)
    assert _look(world) is Outcome.SEALED


def _after_a_seal(world, then):
    """Something follows whatever a look seals, which says whether that was asked for."""

    class Overtaken(ScopeWorker):
        def seal(self, state, move):
            did = super().seal(state, move)
            then(bool(move.threads))
            return did

    world.scope_worker = lambda: Overtaken(world.services)


def test_a_request_made_while_a_chunk_is_cut_is_not_taken_for_the_one_that_was_answered(world):
    """Time 0: request A waits for its chunk. Time 1: a look seals by size. Time 2: B is asked. Time 3: the look goes on.

    Catches a look that counts A as handled though it sealed nothing for it: B would be answered with messages raw.
    """

    _say(world, 2)
    world.om.force_observe("t-1", "harold")
    _look(world)
    _say(world, 3)
    _after_a_seal(world, lambda asked: asked or world.om.force_observe("t-1", "harold"))
    _look(world)
    assert world.services.run(scope_state.look(world.services.keys, HAROLD)).unsealed == {}


def test_a_request_waits_for_what_was_sealed_for_it_and_not_for_what_the_same_look_seals_later(world):
    """Time 0: a look seals for a request. Time 1: so much is said that it seals by size. Time 2: it waits for the first."""
    _say(world, 2)
    world.om.force_observe("t-1", "harold")
    _after_a_seal(world, lambda asked: asked and _say(world, 2))
    _look(world)
    (first, second) = _chunks(world)
    (request,) = world.services.run(scope_state.look(world.services.keys, HAROLD)).forced.values()
    assert request.endswith(f"@{first.seq:.0f}")
    assert second.seq > first.seq


def test_a_request_for_a_backlog_is_answered_once_all_of_it_was_observed_and_no_call_is_parted(world, monkeypatch):
    """Catches a look that seals a whole backlog, a request that counts as sealed with its first chunks, and a call at whose
    place reading ended, though its result stands behind it."""
    monkeypatch.setattr(scope_state, "_READ_WHOLE", 10)
    call, result = {"type": "tool-call", "name": "look"}, {"type": "tool-result", "name": "look", "result": "found"}
    now = int(time.time() * 1000)
    for resource, messages, most, since in (("idle", 40, 4, 1_763_600_000_000), ("busy", 8, 2, now - 1_000)):
        monkeypatch.setattr(policy, "MOST_UNREADY", most)
        for n in range(messages):
            part = {**(result if n % 2 else call), "tool_call_id": f"c{n // 2}"}
            message = Message(role="tool" if n % 2 else "assistant", content=[part], tokens=70, id=f"m{n}",
                              resource_id=resource, thread_id="t-1", timestamp=since + n)  # fmt: skip
            world.om.add_messages([message])
        world.om.force_observe("t-1", resource)
        for _ in range(60):
            look = world.services.run(scope_state.look(world.services.keys, Scope(resource)))
            assert sum(not chunk.ready for chunk in look.chunks) <= most
            if not look.forced:
                break
            world.tick()
        covered = [{int(name[1:]) for name in each.message_ids} for each in world.om.observations(resource)]
        assert sorted(n for some in covered for n in some) == [*range(messages)], resource
        assert all(n ^ 1 in some for some in covered for n in some), resource


def test_what_changed_under_a_look_is_left_to_the_next(world):
    """Time 0: two threads are read. Time 1: a message of the first is gone. Time 2: nothing of that plan is sealed."""
    for thread in ("t-1", "t-2"):
        _say(world, 2, thread=thread)
    look = world.services.run(scope_state.look(world.services.keys, HAROLD))
    run = world.services.run
    worker = ScopeWorker(world.services)

    def gone(steps):
        if getattr(steps, "__name__", "") == "seal" and not _chunks(world):
            world.client.zremrangebyrank(world.services.keys.of("harold").messages("t-1"), 0, 0)
        return run(steps)

    worker._run = gone
    assert worker.seal(look, Move("seal", threads=("t-1", "t-2"))).outcome is Outcome.SUPERSEDED
    assert _chunks(world) == []


@pytest.mark.parametrize(
    ("scope", "since", "meant", "other"),
    [("resource", "thread", "harold", "harold|t-1"), ("thread", "resource", "harold|t-1", "harold")],
)
def test_a_memory_is_observed_in_the_scope_it_began_with_whatever_the_settings_say_since(
    client, prefix, scope, since, meant, other
):
    """Catches workers that seal in the scope of their settings, which the script refuses for ever.

    Nobody has the other scope marked when it is looked at: its task came twice.
    """
    world = World(client, prefix, scope=scope)
    _say(world, 2)
    world.settle()
    world = World(client, prefix, scope=since)
    _say(world, 2)
    client.delete(_index(world))
    assert world.scope_worker().observe(other).outcome is Outcome.REST
    assert client.zrange(_index(world), 0, -1) == [meant.encode()]
    assert world.scope_worker().observe(meant).outcome is Outcome.SEALED


@pytest.mark.parametrize("why", ["full", "too many", "a drain waits", "nothing"])
def test_an_activation_marks_a_reflection_that_is_due_after_it_and_no_other(client, prefix, why):
    options = {"full": {"observation_threshold": "100"}, "too many": {"max_observations": "2"}}
    world = World(client, prefix, **options.get(why, {}))
    _say(world, 9)
    world.settle()
    if why == "a drain waits":
        client.hset(f"{prefix}:{{harold}}:record", "drain", 99)
    client.delete(_index(world, "reflect"))
    _say(world, 1)
    assert _look(world) is Outcome.ACTIVATED
    assert _due(world, "reflect") is (why != "nothing")


def test_a_seal_in_a_full_memory_leaves_the_reflector_alone(world):
    """Catches a mark at every chunk: who is full was marked by the activation that filled it."""
    _say(world, 2)
    world.settle()
    world.client.hset(f"{world.prefix}:{{harold}}:record", "observation_tokens", 4_000)
    world.client.delete(_index(world, "reflect"))
    _say(world, 2)
    assert _look(world) is Outcome.SEALED
    assert world.client.zcard(_index(world, "reflect")) == 0


def test_who_was_looked_at_is_listed_for_the_sweep(world):
    """Catches a resource that no list names: its gaps would be found by walking over all keys, or never."""
    for _ in ("raw", "sealed"):
        _say(world, 1)
        _look(world)
        world.client.delete(f"{world.prefix}:resources")
        _look(world)
        assert world.client.zscore(f"{world.prefix}:resources", "harold")


@pytest.mark.parametrize("why", ["paused", "not enabled"])
def test_a_scope_whose_chunks_may_not_be_observed_waits_off_the_index(client, prefix, why):
    """Catches a look that passes on what the Observer will only refuse: the scope would come back at every lease's end."""
    world = World(client, prefix)
    _say(world, 2)
    assert _look(world) is Outcome.SEALED
    if why == "paused":
        world.om.pause("harold")
    else:
        world = World(client, prefix, enabled="false")
    client.zadd(_index(world), {"harold": 1})
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    assert list(world.dispatch.queue) == []
    assert client.zcard(_index(world)) == 0


def test_the_next_chunk_goes_ahead_of_who_came_due_since_it_was_sealed(world):
    """Catches a long conversation of which one chunk a round is observed while many others wait for their first."""
    for thread in ("t-1", "t-2", "t-3"):
        _say(world, 2, thread=thread, tokens=50_000)  # too large for one call
    _look(world)
    seconds, _ = world.client.time()
    for chunk in _chunks(world):
        key = f"{world.prefix}:{{harold}}:chunk:{chunk.id}"
        world.client.hset(key, "sealed_at", (seconds - (3 if chunk.thread == "t-3" else 9)) * 1_000)
    _look(world)
    assert world.client.zscore(_index(world), "harold") == (seconds - 9) * 1_000


def test_no_more_chunks_are_observed_at_a_time_than_is_permitted(client, prefix):
    """Catches a look that hands a chunk out though as many as may be are with others already."""
    world = World(client, prefix, observer__max_parallel_chunks="1")
    for thread in ("t-1", "t-2"):
        _say(world, 2, thread=thread)
    assert _look(world) is Outcome.SEALED
    first, second = _chunks(world)
    lock = f"{world.prefix}:{{harold}}:lock:chunk:{first.id}"
    world.client.set(lock, "somebody", px=20_000)
    assert world.scope_worker().observe("harold", until=math.inf).chunks == ()
    world.client.rename(lock, lock.replace(first.id, second.id))
    assert world.scope_worker().observe("harold", until=math.inf).chunks == ()
    world.client.delete(lock.replace(first.id, second.id))
    assert set(world.scope_worker().observe("harold", until=math.inf).chunks) == {first.id, second.id}  # in one call


def test_a_scope_whose_chunks_others_observe_is_looked_at_when_the_first_of_their_locks_ends(world):
    """Catches a look at once, again and again while they live, and one that waits for the last lock of all."""
    for thread in ("t-1", "t-2"):
        _say(world, 2, thread=thread)
    assert _look(world) is Outcome.SEALED
    for chunk, ms in zip(_chunks(world), (12_000, 25_000), strict=True):
        world.client.set(f"{world.prefix}:{{harold}}:lock:chunk:{chunk.id}", "somebody", px=ms)
    seconds, _ = world.client.time()
    _look(world)
    assert 6_000 < world.client.zscore(_index(world), "harold") - seconds * 1_000 < 18_000


def test_redaction_before_a_seal_is_bounded_stored_message_by_message_and_ends_with_the_worker(
    client, prefix, monkeypatch
):
    World(client, prefix, redaction__before="off").say(*(f"write to {prefix}-{n}@example.com" for n in range(4)))
    world = World(client, prefix, redaction__before="store", scope="resource")
    monkeypatch.setattr(scope_worker, "_MOST_REDACTED", 1)
    redacting, redacted = world.services.redacting, []
    redact = redacting.message

    def counted(message):
        redacted.append(message.id)
        return redact(message)

    def stored():
        return sum(
            b"[email]" in each for each in client.zrange(world.services.keys.of("harold").messages("t-1"), 0, -1)
        )

    monkeypatch.setattr(redacting, "message", counted)
    world.om.force_observe("t-1", "harold")
    for n in (1, 2):
        assert world.scope_worker().observe("harold").outcome is Outcome.SUPERSEDED
        assert (stored(), _due(world)) == (n, True)
    monkeypatch.setattr(scope_worker, "_MOST_REDACTED", 1_000_000)
    monkeypatch.setattr(redacting, "message", lambda message: world.services.stopping.leave() or counted(message))
    with pytest.raises(StoppedError):
        world.scope_worker().observe("harold")
    assert (stored(), _due(world)) == (3, True)

    key, plain = world.services.keys.of("harold").messages("t-1"), '{"role": "user", "content": "ada@example.com"}'
    client.zadd(key, {plain: 1})
    with pytest.raises(StoppedError):  # adoption ends too
        world.scope_worker().observe("harold")
    assert client.zrem(key, plain)

    world.services.stopping._asked.clear()
    monkeypatch.setattr(redacting, "message", counted)
    world.scope_worker().observe("harold")
    assert len(redacted) == len(set(redacted)) == 4
    assert _chunks(world)
