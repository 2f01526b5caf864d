"""What contexts amount to beside the raw history: tallied from what was served, sent rarely, never in the reader's way."""

import pytest
from world import World

from om_api import ObservationalMemory
from om_api.client.remembered.context_usage import ContextUsage
from om_api.context import Block
from om_api.domain.errors import StoreError
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import Chunk, Generation, Observation, Record, Scope, Stored, ThreadState
from om_api.store.fleet import spending

POOLED = Scope("harold")


def block(text, tokens=10):
    return Block(kind="message", role="user", text=text, stable=False, tokens=tokens)


def observed(tokens, thread="t-1"):
    return Stored(1.0, Observation(id=f"o{tokens}", thread_id=thread, text="x", message_tokens=tokens), b"")


def snapshot(raw=0, seen=(), total=0, generation=0, others=0, scope=POOLED, sealed=0):
    chunk = Chunk(id="c", thread="t-1", seq=1, tokens=sealed, messages=1)
    return Snapshot(
        scope=scope,
        thread=ThreadState(id="t-1"),
        record=Record(observed_tokens=total),
        messages=[],
        chunks=[chunk] if sealed else [],
        observations=list(seen),
        generation=Generation(n=generation, text="g") if generation else None,
        unsealed={"t-1": (raw, 1), "t-2": (others, 1)},
    )


@pytest.fixture
def served():
    return ContextUsage(every_s=0)


def tallied(served, *snapshots, blocks=()):
    for each in snapshots:
        served.count(each, blocks)
    return served.all()["harold"]


def test_the_leading_blocks_that_stayed_byte_identical_are_the_cached_share(served):
    for texts in (["a", "b", "volatile 1"], ["a", "b", "c", "volatile 2"], ["a", "x", "c"]):
        served.count(snapshot(), [block(text) for text in texts])
    sums = served.all()["harold"]

    assert (sums["contexts"], sums["tokens"], sums["cached"]) == (3, 100, 20 + 10)


def test_a_threads_first_context_has_nothing_cached(served):
    served.count(snapshot(), [block("a")])
    other = snapshot()
    other.thread = ThreadState(id="t-2")
    served.count(other, [block("a")])

    assert served.all()["harold"]["cached"] == 0


def test_the_raw_history_is_what_was_observed_what_is_sealed_and_what_is_unsealed(served):
    first, second = snapshot(raw=100, sealed=50), snapshot(raw=20, sealed=50, seen=[observed(150)], total=150)
    sums = tallied(served, first, second)

    assert (sums["raw"], sums["raw_cached"]) == (150 + 220, 150)


def test_other_threads_are_no_part_of_a_threads_history(served):
    seen = [observed(100), observed(900, "t-2")]

    assert tallied(served, snapshot(raw=10, seen=seen, total=1_000, others=500))["raw"] == 110


def test_what_a_reflection_takes_in_stays_in_the_history(served):
    before = snapshot(raw=10, seen=[observed(100), observed(300, "t-2")], total=400)
    after = snapshot(raw=10, total=400, generation=1, others=90)

    assert tallied(served, before, after)["raw"] == 110 + 110


def test_what_an_undo_brings_back_is_not_counted_twice(served):
    before = snapshot(raw=10, seen=[observed(100)], total=100)
    after = snapshot(raw=10, total=100, generation=1)
    undone = snapshot(raw=10, seen=[observed(100)], total=100, generation=2)
    undone.generation = Generation(n=2, text="g", origin="restore")

    assert tallied(served, before, after, undone)["raw"] == 3 * 110


def test_a_client_that_comes_after_a_reflection_reckons_by_the_threads_share(served):
    alone = snapshot(raw=100, total=900, generation=1)
    assert tallied(served, alone)["raw"] == 1_000

    assert tallied(ContextUsage(), snapshot(raw=100, total=900, generation=1, others=200))["raw"] == 100 + 300


def test_in_thread_scope_the_record_says_the_whole_history(served):
    scope = Scope("harold", "t-1")

    assert tallied(served, snapshot(raw=100, seen=[observed(50)], total=900, generation=3, scope=scope))["raw"] == 1_000


def test_a_memory_that_was_cleared_begins_anew(served):
    before = snapshot(raw=100, total=900, generation=2)

    assert tallied(served, before, snapshot(raw=5))["raw"] == 1_000 + 5


def test_a_resource_is_due_again_only_after_a_while():
    served = ContextUsage(every_s=1_000)
    served.count(snapshot(), [block("a")])

    assert served.due(["harold"]) == {}
    assert served.all()["harold"]["contexts"] == 1


def test_what_was_taken_is_told_once_and_what_was_given_back_again(served):
    served.count(snapshot(), [block("a")])
    taken = served.due(["harold", "ada"])

    assert (list(taken), served.due(["harold"])) == (["harold"], {})
    served.give_back(taken)
    assert served.due(["harold"]) == taken


# -- in the client -----------------------------------------------------------------------------------------------------


def told(world, resource="harold"):
    day = spending.day_of(int(world.client.time()[0]) * 1000)
    (found,) = world.services.run(spending.read(world.services.keys, [day], resource))
    return {name.removeprefix("served|"): amount for name, amount in found.items() if name.startswith("served|")}


@pytest.fixture
def world(client, prefix) -> World:
    return World(client, prefix)


def test_figures_go_with_a_push_that_is_due_and_with_nothing_else(world):
    world.say("one")
    world.context()
    world.say("two")
    assert told(world) == {}

    world.om._core.reporter.usage._every_s = 0
    world.context()
    assert told(world) == {}
    world.say("three")
    assert told(world)["contexts"] == told(world, None)["contexts"] == 2


def test_a_context_and_a_push_take_the_round_trips_they_always_took(world, monkeypatch):
    world.say("one")
    world.context()
    server, trips = world.om._connection._endpoint, []
    ask = server.ask
    monkeypatch.setattr(server, "ask", lambda step: [trips.append(step), ask(step)][1])
    world.context()
    world.say("two")

    assert [type(step).__name__ for step in trips] == ["Batch", "Verb"]


def test_figures_belong_to_the_servers_day_whatever_this_clock_says(world):
    world.say("one")
    world.om._core.clock.offset_ms = 5 * spending.DAY_MS
    world.context()
    world.om.close()

    assert told(world)["contexts"] == 1


def test_closing_sends_what_was_not_sent(world):
    world.say("one")
    context = world.context()
    world.om.close()

    assert told(world) == {"contexts": 1, "tokens": context.tokens, "raw": 100}


def test_contexts_of_a_long_conversation_cost_less_than_its_history(world):
    for n in range(60):
        world.say(f"message {n}")
        world.tick()
        world.context()
    world.om.close()
    sums = told(world)

    assert (sums["contexts"], sums["raw"]) == (60, sum(100 * n for n in range(1, 61)))
    assert sums["raw_cached"] == sum(100 * n for n in range(1, 60))
    assert sums["tokens"] < sums["raw"] / 2


def test_a_reflection_and_its_undo_leave_the_history_as_long_as_it_was(world):
    for _ in range(2):
        world.say(*[f"message {n}" for n in range(12)])
        world.settle()
        world.context()
        world.om.force_reflect("harold")
        world.settle()
        world.context()
    assert world.om.restore("harold", 1) == "restored"
    world.context()
    world.om.close()

    assert told(world)["raw"] == 2 * 1_200 + 3 * 2_400


def test_a_reader_of_a_read_only_memory_sends_nothing(world, client, prefix):
    world.say("one")
    reader = World(client, prefix, read_only="true")
    reader.context()
    reader.om.close()

    assert told(world) == {}


def test_a_client_that_is_told_to_tally_nothing_sends_nothing(world):
    world.say("one")
    with ObservationalMemory(world.settings, client=world.client, tally=False) as om:
        om.get_context("t-1", "harold")

    assert told(world) == {}


def test_figures_that_cannot_be_sent_fail_no_push_and_are_sent_with_the_next(world, monkeypatch):
    world.om._core.reporter.usage._every_s = 0
    world.say("one")
    world.context()
    tell = spending.tell

    def refuse(*_):
        raise StoreError("full", stored=False)
        yield

    monkeypatch.setattr(spending, "tell", refuse)
    world.say("two")
    monkeypatch.setattr(spending, "tell", tell)
    world.say("three")

    assert told(world)["contexts"] == 1
    assert len(world.context().messages) == 3
