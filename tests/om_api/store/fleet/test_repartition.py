"""Moving the indexes while everybody goes on: whatever comes between two steps, each entry ends once where it belongs."""

import pytest
from scene import HAROLD, at_step, interrupted
from stores import Store

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Scope
from om_api.store.fleet import event_stream, repartition
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keys import Keys, queued

AGENTS = [f"agent-{n}" for n in range(40)]


def again(store):
    return Store(Keys(store.keys.prefix), store.clock, store.client)


def due_of(store):
    """Every due scope with its time, each once, and where it belongs."""
    index, found = store.keys.due_observe, {}
    for part in index.parts():
        for name, score in store.client.zrange(part, 0, -1, withscores=True):
            assert index.of(name.decode()) == part
            assert name not in found
            found[name] = score
    return {name.decode(): score for name, score in found.items()}


@pytest.fixture
def filled(store):
    store.client.zadd(store.keys.due_observe, {name: n for n, name in enumerate(AGENTS)})
    store.client.zadd(store.keys.resources, {name: n for n, name in enumerate(AGENTS)})
    return store


@pytest.mark.parametrize("way", [[4], [3, 5, 1]])
def test_every_entry_ends_where_it_belongs_as_it_was(filled, way):
    for count in way:
        filled.run(repartition.repartition(filled.keys, count))
    process = again(filled)

    process.run(keyspace_scan.all_resources(process.keys))
    assert due_of(process) == {name: n for n, name in enumerate(AGENTS)}
    assert sorted(process.run(keyspace_scan.all_resources(process.keys))) == sorted(AGENTS)
    assert process.keys.layout.now.count == way[-1]


def test_a_move_that_is_cut_off_anywhere_is_ended_by_whoever_comes_next(filled):
    """Time 0: a command moves. Time 1: it is killed between any two of its calls. Time 2: a sweep goes on."""
    ended = 0
    for calls in range(1, 100, 6):
        process = again(filled)
        moving = repartition.repartition(process.keys, 3 + calls // 6 % 2)
        ended += process.run(at_step(moving, calls, None)) is not None
        other = again(filled)
        other.run(repartition.go_on(other.keys))

        assert due_of(other) == {name: n for n, name in enumerate(AGENTS)}, calls
        assert not other.keys.layout.now.moving
    assert 0 < ended < 17


def test_a_sweep_that_closes_while_somebody_moves_there_opens_again(filled, monkeypatch):
    """Time 0: a sweep has read that there are 4 parts. Time 1: somebody moves into one. Time 2: the sweep closes that one."""
    filled.run(repartition.repartition(filled.keys, 4))
    sweep, process, empty, came = again(filled), again(filled), repartition._empty, []

    def overtaken(*args):
        if not came:
            came.append(1)
            process.run(repartition.repartition(process.keys, 1))
            filled.client.delete(process.keys.due_observe)  # all was done: nothing stands there to be moved
        return (yield from empty(*args))

    monkeypatch.setattr(repartition, "_empty", overtaken)
    with pytest.raises(StoreError, match="WRONGTYPE"):  # of the resources, which stand in one part by now
        sweep.run(repartition.go_on(sweep.keys))
    process.run(due.mark(process.keys.due_observe, [Scope("late")]))

    assert due_of(process).keys() == {"late"}


def test_a_sweep_that_closes_what_a_move_has_opened_does_not_leave_it_closed(filled):
    """Time 0: a move opens the only part. Time 1: a sweep closes it again. Time 2: the move writes the number."""
    filled.run(repartition.repartition(filled.keys, 4))
    process, sweep = again(filled), again(filled)
    moving = repartition.repartition(process.keys, 1)
    process.run(interrupted(moving, "relayout", lambda: sweep.run(repartition.go_on(sweep.keys))))

    assert due_of(process).keys() == {*AGENTS}
    assert process.keys.layout.now.count == 1


def test_who_dies_on_the_way_back_into_one_part_leaves_none_open_that_nobody_looks_at(filled):
    """Time 0: the only part takes entries again. Time 1: who moves dies, the number is as it was. Time 2: a mark comes."""
    filled.run(repartition.repartition(filled.keys, 4))
    filled.run(at_step(repartition.repartition(again(filled).keys, 1), 2, None))
    stale = again(filled)
    stale.run(due.mark(stale.keys.due_observe, [Scope("late")]))
    assert filled.client.zcard(stale.keys.due_observe) == 1

    process = again(filled)
    assert process.run(repartition.go_on(process.keys)) == 1
    assert due_of(process).keys() == {*AGENTS, "late"}
    assert filled.client.get(process.keys.due_observe) == b"moved"


def test_what_is_marked_in_an_old_part_meanwhile_is_moved_and_what_comes_later_is_refused(filled, monkeypatch):
    """Time 0: entries are read and put. Time 1: a client that knows one part marks another, and one of them anew. Time 2: the
    part is not as it was read: it stays open until these are moved too."""
    stale, put, came = again(filled), repartition._put, []

    def overtaken(*args):
        yield from put(*args)
        if not came and args[1]:
            came.append(1)
            yield from due.mark(stale.keys.due_observe, [Scope("late")])
            yield from due.postpone(stale.keys.due_observe, Scope("agent-7"), 5)

    monkeypatch.setattr(repartition, "_put", overtaken)
    filled.run(repartition.repartition(filled.keys, 4))
    stale.run(due.mark(stale.keys.due_observe, [Scope("later")]))

    assert {"late", "later", *AGENTS} == due_of(filled).keys()
    assert due_of(filled)["agent-7"] == 5


def test_a_task_that_waits_keeps_its_place_and_begins_once(store):
    """Catches a scope that is handed out a second time while its task waits, because its place stayed behind."""
    store.run(due.mark(store.keys.due_observe, [HAROLD]))
    (held,) = store.run(due.claim(store.keys.due_observe, 1))
    store.run(repartition.repartition(store.keys, 4))
    part = store.keys.due_observe.of("harold")

    assert store.client.zscore(queued(part), "harold") == float(held.lease)
    assert store.client.pttl(queued(part)) > 0
    assert store.run(due.claim(part, 9)) == []
    assert store.run(due.start(store.keys.due_observe, held)) == "started"
    assert store.client.zscore(queued(part), "harold") is None

    for count in (4, 1):  # nor does a sweep, or a move back, take its place from the old part
        store.run(repartition.repartition(store.keys, count))
        store.run(due.mark(store.keys.due_observe, [HAROLD]))
        store.run(repartition.go_on(store.keys))
        part = store.keys.due_observe.of("harold")
        assert store.client.zcard(queued(part)) == 0, count
        (held,) = store.run(due.claim(part, 9))
        assert (held.scope, store.run(due.start(store.keys.due_observe, held))) == ("harold", "started")


def test_a_task_that_begins_while_its_place_is_moved_waits_nowhere(store, monkeypatch):
    """Time 0: its place is put. Time 1: a worker that knows only the old part begins it. Time 2: its scope is put."""
    worker, put, began = again(store), repartition._put, []
    store.run(due.mark(store.keys.due_observe, [HAROLD, Scope("ada")]))
    held = {claim.scope: claim for claim in store.run(due.claim(store.keys.due_observe, 2))}

    def overtaken(*args):
        yield from put(*args)
        if not began:
            began.append((yield from due.start(worker.keys.due_observe, held["harold"])))

    monkeypatch.setattr(repartition, "_put", overtaken)
    store.run(repartition.repartition(store.keys, 4))
    places = {name for part in store.keys.due_observe.parts() for name in store.client.zrange(queued(part), 0, -1)}

    assert began == ["started"]
    assert places == {b"ada"}
    assert due_of(store).keys() == {"harold", "ada"}


def test_a_lease_and_counters_of_before_a_move_are_known_after_it(store):
    keys, worker = store.keys, again(store)
    worker.run(due.mark(worker.keys.due_observe, [HAROLD]))
    held = worker.run(due.take(worker.keys.due_observe, HAROLD))
    store.run(event_stream.add(keys, {"harold": {"pushed": 1}}))
    store.run(repartition.repartition(keys, 4))
    renewed = worker.run(due.renew(worker.keys.due_observe, held))
    assert worker.run(due.done(worker.keys.due_observe, renewed))
    assert due_of(store) == {}

    store.run(event_stream.add(keys, {"harold": {"pushed": 2}, "ada": {"pushed": 4}}))
    store.run(repartition.repartition(keys, 2))
    worker.run(event_stream.add(worker.keys, {"": {"pushed": 8}}))  # by the parts that it believes in
    assert store.run(event_stream.counted(keys, [None]))[0]["pushed"] == 15


def test_a_number_that_cannot_be_is_refused_and_an_unreadable_one_written_anew(filled):
    for count in (0, 4_097, -1):
        with pytest.raises(InvalidInputError, match=r"permitted: 1 to 4,096"):
            filled.run(repartition.repartition(filled.keys, count))
    assert filled.client.get(filled.keys.partitions) is None
    for count in (1, 4):
        filled.run(repartition.repartition(filled.keys, count))
        filled.client.set(filled.keys.partitions, "many")
        process = again(filled)
        process.run(repartition.repartition(process.keys, count))
        assert due_of(process) == {name: n for n, name in enumerate(AGENTS)}, count
        assert (process.keys.layout.now.count, process.keys.layout.now.moving) == (count, False)


def test_of_two_who_move_at_once_into_different_numbers_one_is_told(filled):
    """Time 0: both read. Time 1: one writes its number. Time 2: the other one would write its own."""
    slow, quick = repartition.repartition(again(filled).keys, 8), again(filled)
    meanwhile = at_step(repartition.repartition(quick.keys, 4), 20, None)
    with pytest.raises(InvalidInputError, match="somebody else moves partitions"):
        filled.run(at_step(slow, 1, lambda: quick.run(meanwhile)))
    with pytest.raises(InvalidInputError, match="on its way to 4 partitions: repeat om partitions 4 first"):
        quick.run(repartition.repartition(quick.keys, 8))

    quick.run(repartition.go_on(quick.keys))
    assert due_of(quick).keys() == set(AGENTS)
