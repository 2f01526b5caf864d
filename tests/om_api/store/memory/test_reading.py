"""snapshot: one instant, one round trip when the names are known, and never less than everything."""

import msgspec
import pytest
from scene import HAROLD, activate, buffer, filled, member, observed, push, ready, reflect, seal

from om_api.domain.values import Scope
from om_api.store.memory import reading
from om_api.store.memory.context_query import EXCERPT_MESSAGES, OTHERS, Names
from om_api.store.memory.decode_cache import Past
from om_api.store.memory.reading import newest_others

COLD = Names(HAROLD, {}, ())


def snapshot(store, known=COLD, thread="t1"):
    """A snapshot, the names for the next one, and how many round trips it took."""
    trips = 0

    def counted():
        nonlocal trips
        steps = reading.snapshot(store.keys, "harold", thread, known)
        try:
            step = next(steps)
            while True:
                trips += 1
                step = steps.send((yield step))
        except StopIteration as end:
            return end.value

    found, names = store.run(counted())
    return found, names, trips


def warm(store, thread="t1"):
    return snapshot(store, thread=thread)[1]


def test_a_snapshot_holds_every_tier(store):
    filled(store)
    found, _, _ = snapshot(store)

    assert [m.id for m in found.messages] == ["m5", "m6", "m7", "m8", "m9", "m10", "m11"]
    assert [s.observation.id for s in found.observations] == ["o2", "o3"]
    assert found.generation.text == "* all of it"
    assert [(c.id, c.ready) for c in found.chunks] == [("c4", True), ("c5", False)]
    assert found.unsealed == {"t1": (20, 2), "t2": (10, 1)}


def test_a_warm_snapshot_takes_one_round_trip(store):
    filled(store)
    names = warm(store)

    assert snapshot(store, names)[2] == 1


def test_a_cold_snapshot_reads_again_what_it_had_not_named(store):
    filled(store)

    assert snapshot(store)[2] == 2


@pytest.mark.parametrize("came", ["a chunk", "a thread"])
def test_a_name_unread_is_read_in_one_more_round_trip(store, came):
    filled(store)
    names = warm(store)
    if came == "a chunk":
        seal(store, "c9", 12)
    else:
        push(store, 41, thread="t4")
    found, _, trips = snapshot(store, names)

    assert trips == 2
    assert ("m12" in [m.id for m in found.messages]) is (came == "a chunk")
    assert ("t4" in found.others) is (came == "a thread")


@pytest.mark.parametrize("came", ["a push", "an observation", "an activation"])
def test_what_needs_no_new_name_costs_no_round_trip(store, came):
    filled(store)
    names = warm(store)
    if came == "a push":
        push(store, 12)
    elif came == "an observation":
        buffer(store, "c5")
    else:
        activate(store, "c4", by="a4")

    assert snapshot(store, names)[2] == 1


def test_no_message_is_read_twice_or_never_whatever_is_sealed_meanwhile(store):
    """Breaks without the second look: time 0 names are known, time 1 m10 and m11 are sealed, time 2 raw and named miss them."""
    filled(store)
    names = warm(store)
    seal(store, "c9", 10, 11)
    ids = [m.id for m in snapshot(store, names)[0].messages]

    assert ids == [f"m{n}" for n in range(5, 12)]


def test_a_scope_guessed_wrong_is_read_again(store):
    observed(store, "o1", 1, scope=Scope("harold", "t1"))
    found, names, trips = snapshot(store)

    assert (found.scope, trips) == (Scope("harold", "t1"), 2)
    assert [s.observation.id for s in found.observations] == ["o1"]
    assert snapshot(store, names)[2] == 1


def _unsettled(store, known):
    """A snapshot whose every MULTI meets a chunk more than it named."""
    steps, n = reading.snapshot(store.keys, "harold", "t1", known), 50
    step, verbs = next(steps), []
    try:
        while True:
            verbs.append(getattr(step, "name", "multi"))
            if verbs[-1] == "multi":
                n += 1
                seal(store, f"x{n}", n)
            step = steps.send(_perform(store, step))
    except StopIteration as end:
        return end.value[0], verbs


def _perform(store, step):
    def one():
        return (yield step)

    return store.run(one())


def test_a_memory_that_never_holds_still_is_settled_by_one_script(store):
    filled(store)
    found, verbs = _unsettled(store, warm(store))

    assert verbs == ["multi", "multi", "multi", "snapshot"]
    assert [m.id for m in found.messages] == [f"m{n}" for n in (5, 6, 7, 8, 9, 10, 11, 51, 52, 53)]


def test_the_settled_read_gives_the_same_snapshot(store):
    filled(store)
    settled, _ = _unsettled(store, warm(store))
    usual, _, _ = snapshot(store)

    assert settled.now <= usual.now
    assert msgspec.structs.replace(settled, now=0) == msgspec.structs.replace(usual, now=0)


def test_the_settled_read_names_other_threads_alone_and_the_newest_first(store):
    filled(store)
    found, names = store.run(reading._settled(store.keys.of("harold"), "t1", HAROLD))

    assert names == Names(HAROLD, {"c4": "", "c5": ""}, ("t2",))
    assert found.newest == [b"t2", b"t1"]


def test_the_settled_read_gives_the_last_of_several_generations(store):
    for n in (1, 2, 3):
        observed(store, f"o{n}", n)
        reflect(store, f"o{n}", text=f"* all up to {n}")
    settled, _ = _unsettled(store, warm(store))

    assert settled.generation.text == "* all up to 3"


def test_the_settled_read_excerpts_the_newest_messages_of_another_thread(store):
    push(store, 1)
    push(store, *range(30, 50), thread="t2")
    found, _ = store.run(reading._settled(store.keys.of("harold"), "t1", HAROLD))

    assert [one for one, _ in found.others["t2"]] == [member(n, "t2") for n in range(50 - EXCERPT_MESSAGES, 50)]


def test_the_settled_read_names_no_more_threads_than_the_usual_one(store):
    """As many again as it excerpts: some of the newest have nothing raw."""
    store.client.zadd(store.keys.of("harold").threads, {f"t{n}": n for n in range(5 * OTHERS)})
    found, _ = store.run(reading._settled(store.keys.of("harold"), "t1", HAROLD))

    assert found.newest == [b"t%d" % n for n in range(5 * OTHERS - 1, 3 * OTHERS - 2, -1)]


def test_in_thread_scope_the_settled_read_gives_the_same_snapshot(store):
    scope = Scope("harold", "t1")
    ready(store, "c1", 1, scope=scope)
    push(store, 31, thread="t2")
    keys = reading._settled(store.keys.of("harold"), "t1", scope)
    found, names = store.run(keys)
    settled, _ = reading._assemble("t1", names, names.others, found, Past(), {})
    usual, _, _ = snapshot(store, Names(scope, {}, ()))

    assert msgspec.structs.replace(settled, now=0) == msgspec.structs.replace(usual, now=0)


def test_other_threads_are_excerpted_newest_last(store):
    push(store, 1)
    push(store, *range(30, 50), thread="t2")
    found, _, _ = snapshot(store)

    assert [m.id for m in found.others["t2"]] == [f"m{n}" for n in range(42, 50)]
    assert found.other_counts == {"t2": 20}


def test_the_newest_threads_are_read_and_the_others_counted(store):
    for n in range(14):
        push(store, n, thread=f"t{n:02}")
    found, _, _ = snapshot(store, thread="t00")

    assert len(found.others) == OTHERS
    assert len(found.other_counts) == 13


def test_threads_that_the_workers_have_not_met_are_the_newest():
    unsealed = ["own", "old", "new", "unmet"]

    assert newest_others(unsealed, ["new", "old"], "own") == ("unmet", "new", "old")


def test_a_malformed_member_is_left_out_until_it_is_rejected(store):
    push(store, 1)
    store.client.zadd(store.keys.of("harold").messages("t1"), {b"no JSON": 1})

    assert [m.id for m in snapshot(store)[0].messages] == ["m1"]
