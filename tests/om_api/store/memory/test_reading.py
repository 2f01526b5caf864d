"""snapshot: one instant, one round trip when the names are known, and never less than everything."""

import msgspec
from scene import HAROLD, each_step, emptied, filled, observed, push, ready, reflect, seal, trips

from om_api.domain.values import Observation, Scope
from om_api.store.memory import composing, reading
from om_api.store.memory.composing import ComposedReader
from om_api.store.memory.context_query import Names

COLD = Names(HAROLD, {}, ())


def snapshot(store, known=COLD, thread="t1"):
    """A snapshot, the names for the next one, and how many round trips it took."""
    (found, names), count = store.run(trips(reading.snapshot(store.keys, "harold", thread, known)))
    return found, names, count


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


def test_no_message_is_read_twice_or_never_whatever_is_sealed_meanwhile(store):
    """Breaks without the second look: time 0 names are known, time 1 m10 and m11 are sealed, time 2 raw and named miss them."""
    filled(store)
    names = warm(store)
    seal(store, "c9", 10, 11)
    ids = [m.id for m in snapshot(store, names)[0].messages]
    assert ids == [f"m{n}" for n in range(5, 12)]


def test_snapshot_reads_the_newest_messages_only_and_counts_the_rest(store):
    filled(store)  # m5 and m6 in c4, m7 to m9 in c5
    for newest, ids in [(1, [11]), (2, [10, 11]), (3, [7, 8, 9, 10, 11]), (6, [5, 6, 7, 8, 9, 10, 11])]:
        found = snapshot(store, COLD._replace(newest=newest))[0]
        assert [m.id for m in found.messages] == [f"m{n}" for n in ids], newest
        assert found.unread == 7 - len(ids), newest


def test_composed_reader_reads_the_newest_notes_alone_and_the_same_whatever_it_holds(store, monkeypatch):
    monkeypatch.setattr(composing, "WINDOW", 4)
    key, reader = store.keys.of("team").observations(Scope("team")), ComposedReader()
    for n in range(1, 22):
        made = Observation(id=f"o{n:02}", thread_id="t1", text="* tea")
        store.client.zadd(key, {msgspec.json.encode(made): n})
        for each in (reader, ComposedReader()):
            (asked,) = [words for words in each.commands(store.keys, ["team"]) if words[:2] == ("ZRANGE", key)]
            assert len(store.client.execute_command(*asked)) <= 8, n
            found = store.run(each.read(store.keys, ["team"]))["team"]
            shown = [stored.observation.id for stored in found.observations]
            assert found.unread == max(0, n // 4 - 1) * 4, n
            assert shown == [f"o{m:02}" for m in range(found.unread + 1, n + 1)], n
    store.client.zadd(
        key, {msgspec.json.encode(Observation(id=f"p{n}", thread_id="t1", text="")): 30 + n for n in range(9)}
    )
    assert store.run(reader.read(store.keys, ["team"])) is None  # more came than is read: asked again
    assert store.run(reader.read(store.keys, ["team"]))["team"].unread == 24
    store.client.delete(key)


def test_a_scope_guessed_wrong_is_read_again(store):
    observed(store, "o1", 1, scope=Scope("harold", "t1"))
    found, names, count = snapshot(store)
    assert (found.scope, count) == (Scope("harold", "t1"), 2)
    assert [s.observation.id for s in found.observations] == ["o1"]
    assert snapshot(store, names)[2] == 1


def _unsettled(store, known, verbs):
    """A snapshot whose every MULTI meets a chunk more than it named; `verbs` takes what was called."""

    def before(step):
        verbs.append(getattr(step, "name", "multi"))
        if verbs[-1] == "multi":
            seal(store, f"x{50 + len(verbs)}", 50 + len(verbs), scope=known.scope)

    return each_step(reading.snapshot(store.keys, "harold", "t1", known), before)


def test_a_memory_that_never_holds_still_is_settled_by_one_script(store):
    filled(store)
    verbs = []
    found, _ = store.run(_unsettled(store, warm(store), verbs))
    assert verbs == ["multi", "multi", "multi", "snapshot"]
    assert [m.id for m in found.messages] == [f"m{n}" for n in (5, 6, 7, 8, 9, 10, 11, 51, 52, 53)]


def test_a_settled_read_gives_what_the_usual_one_gives(store):
    def same(known):
        settled, names = store.run(_unsettled(store, known, []))
        usual, expected, _ = snapshot(store, known)
        return (msgspec.structs.replace(settled, now=usual.now), names) == (usual, expected)

    observed(store, "o0", 60)
    filled(store)
    reflect(store, "o2", text="* up to o2")
    push(store, *range(34, 54), thread="t2")
    assert same(COLD)
    assert same(COLD._replace(newest=2))
    by_thread = Scope("harold", "t1")
    ready(emptied(store), "c1", 1, scope=by_thread)
    push(store, 31, thread="t2")
    assert same(Names(by_thread, {}, ()))
