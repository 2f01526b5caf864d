"""restore: an earlier generation is in force again, and every message is covered exactly once."""

import pytest
from scene import (
    HAROLD,
    SETTINGS,
    TTL,
    activate,
    call,
    expiring,
    interrupted,
    nothing_changes,
    observed,
    ready,
    record,
    reflect,
    reflecting,
    restored,
    restoring,
    words,
)

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.driver.steps import Verb
from om_api.store.memory import clear, migrate, reading
from om_api.store.memory import reflect as reflect_steps

T1 = Scope("harold", "t1")


def in_force(store, scope=HAROLD):
    return [s.observation.id for s in store.run(reading.observations(store.keys, scope))]


def text(store, scope=HAROLD):
    return store.run(reading.generations(store.keys, scope))[-1].text


def replaced(store, n, scope=HAROLD):
    return [s.observation.id for s in store.run(reading.replaced(store.keys, scope, n))]


def three_generations(store, scope=HAROLD):
    """Generation n replaced observation on; o4 came since."""
    for n in (1, 2, 3):
        observed(store, f"o{n}", n, scope=scope)
        reflect(store, f"o{n}", text=f"* all up to {n}", scope=scope)
    observed(store, "o4", 4, scope=scope)


def sound(store):
    return store.run(verify(store.keys)) == []


def test_an_earlier_text_is_in_force_again_as_a_new_generation(store):
    three_generations(store)

    assert restored(store, 1) is Outcome.RESTORED
    (*_, made) = store.run(reading.generations(store.keys, HAROLD))
    assert (made.n, made.text, made.origin, made.restores, made.cost) == (4, "* all up to 1", "restore", 1, 0.0)
    assert record(store).origin == "restore"
    assert sound(store)


def test_what_was_condensed_since_comes_back_in_order_before_what_is_newer(store):
    three_generations(store)
    restored(store, 1)

    assert in_force(store) == ["o2", "o3", "o4"]
    assert (replaced(store, 1), replaced(store, 2), replaced(store, 3)) == (["o1"], [], [])


def test_the_totals_follow(store):
    three_generations(store)
    restored(store, 1)
    now = record(store)

    assert (now.generation, now.observation_count, now.observation_tokens, now.reflection_tokens) == (4, 3, 15, 3)
    assert now.observed_messages == 4


def test_everything_can_be_undone_to_the_time_before_the_first(store):
    three_generations(store)

    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store) == ["o1", "o2", "o3", "o4"]
    assert (text(store), record(store).reflection_tokens) == ("", 0)
    assert sound(store)


def test_an_undo_can_be_undone(store):
    three_generations(store)
    restored(store, 1)
    restored(store, 3)

    assert (in_force(store), text(store)) == (["o4"], "* all up to 3")
    assert (replaced(store, 1), replaced(store, 5)) == (["o1"], ["o2", "o3"])
    assert store.client.ttl(store.keys.of("harold").reflected(HAROLD, 5)) in {TTL, TTL - 1}
    assert sound(store)


@pytest.mark.parametrize("n", range(7))
def test_every_generation_can_be_restored_whatever_was_restored_before(store, n):
    three_generations(store)
    restored(store, 1)
    reflect(store, "o2", "o4")
    restored(store, 2)
    restored(store, n)
    covered = {
        0: [],
        1: ["o1"],
        2: ["o1", "o2"],
        3: ["o1", "o2", "o3"],
        4: ["o1"],
        5: ["o1", "o2", "o4"],
        6: ["o1", "o2"],
    }[n]

    assert in_force(store) == [name for name in ("o1", "o2", "o3", "o4") if name not in covered]
    assert sound(store)


def test_what_is_restored_can_be_reflected_again(store):
    three_generations(store)
    restored(store, 1)

    assert reflect(store, "o2", "o3") is Outcome.REFLECTED
    assert replaced(store, 5) == ["o2", "o3"]
    assert sound(store)


def test_a_restore_repeated_answers_the_same_and_changes_nothing(store):
    three_generations(store)
    restored(store, 1)
    with nothing_changes(store):
        assert restored(store, 1) is Outcome.RESTORED


def test_a_restore_repeated_with_its_id_after_a_lost_reply_answers_as_before(store):
    three_generations(store)
    sent = []

    def listening(steps):
        step = next(steps)
        try:
            while True:
                sent.append(step)
                step = steps.send((yield step))
        except StopIteration as end:
            return end.value

    store.run(listening(restoring(store, 1)))
    (verb,) = [step for step in sent if isinstance(step, Verb)]
    with nothing_changes(store):
        assert call(store, verb.name, verb.keys, verb.args) == b"restored"


def test_the_generation_in_force_rests(store):
    three_generations(store)
    with nothing_changes(store):
        assert restored(store, 3) is Outcome.REST


@pytest.mark.parametrize("n", [4, 17])
def test_a_generation_that_is_not_there_cannot_be_restored(store, n):
    three_generations(store)
    with nothing_changes(store), pytest.raises(InvalidInputError, match=f"no generation {n}"):
        restored(store, n)


def test_what_has_expired_cannot_come_back_and_nothing_changes(store):
    three_generations(store)
    store.client.delete(store.keys.of("harold").reflected(HAROLD, 2))
    with (
        nothing_changes(store),
        pytest.raises(InvalidInputError, match="1 of 2 observations that were condensed since have expired"),
    ):
        restored(store, 1)

    assert restored(store, 2) is Outcome.RESTORED


def test_a_generation_that_was_trimmed_cannot_be_restored(store):
    for n in range(1, 5):
        observed(store, f"o{n}", n)
        reflect(store, f"o{n}", keep=2)
    with nothing_changes(store), pytest.raises(InvalidInputError, match="no generation 2"):
        restored(store, 2)
    with nothing_changes(store), pytest.raises(InvalidInputError, match="no longer known"):
        restored(store, 0)

    assert restored(store, 3, keep=2) is Outcome.RESTORED
    assert [g.n for g in store.run(reading.generations(store.keys, HAROLD))] == [4, 5]
    assert sound(store)


def test_an_activation_in_between_is_kept(store):
    """Time 0: the undo is planned. Time 1: o5 is activated. Time 2: the undo is done, and o5 stands at the end."""
    three_generations(store)
    ready(store, "o5", 5)
    done = store.run(interrupted(restoring(store, 1), "restore", lambda: activate(store, "o5", by="a5")))

    assert done is Outcome.RESTORED
    assert in_force(store) == ["o2", "o3", "o4", "o5"]
    assert sound(store)


def _forget(store, name):
    stored = next(s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.id == name)
    return store.run(clear.forget(store.keys, HAROLD, record(store).epoch, stored))


@pytest.mark.parametrize("meanwhile", ["reflect", "restore", "clear thread", "clear another thread", "expire"])
def test_a_restore_that_was_overtaken_changes_nothing(store, meanwhile):
    three_generations(store)
    overtake = {
        "reflect": lambda: reflect(store, "o4"),
        "restore": lambda: restored(store, 2),
        "clear thread": lambda: store.run(clear.clear_thread(store.keys, HAROLD, "t1", words)),
        "clear another thread": lambda: store.run(clear.clear_thread(store.keys, HAROLD, "t2", words)),
        "expire": lambda: store.client.delete(store.keys.of("harold").reflected(HAROLD, 2)),
    }[meanwhile]
    before = []

    def overtaking():
        overtake()
        before.append(nothing_changes(store))
        before[0].__enter__()

    assert store.run(interrupted(restoring(store, 1), "restore", overtaking)) is Outcome.SUPERSEDED
    before[0].__exit__(None, None, None)


def test_what_would_be_told_twice_is_not_restored_when_it_was_removed_meanwhile(store):
    """Time 0: generation 3 is to come back. Time 1: o2, which it tells of, is forgotten. Time 2: the undo is refused."""
    three_generations(store)
    restored(store, 1)

    assert store.run(interrupted(restoring(store, 3), "restore", lambda: _forget(store, "o2"))) is Outcome.SUPERSEDED
    with nothing_changes(store), pytest.raises(InvalidInputError, match="1 observations that were removed"):
        restored(store, 3)


def test_a_reflection_that_was_thought_before_an_undo_is_not_committed(store):
    three_generations(store)
    done = store.run(interrupted(reflecting(store, "o4"), "reflect", lambda: restored(store, 1)))

    assert done is Outcome.SUPERSEDED
    assert in_force(store) == ["o2", "o3", "o4"]


def test_an_undo_drops_the_draft(store):
    three_generations(store)
    store.run(reflect_steps.draft(store.keys, HAROLD, record(store).epoch, 3, b"thought ahead", TTL))
    restored(store, 1)

    assert not store.client.exists(store.keys.of("harold").draft(HAROLD))


def test_what_an_owner_cleared_does_not_come_back_and_stops_no_undo(store):
    observed(store, "o1", 1)
    observed(store, "o2", 31, thread="t2")
    reflect(store, "o1", "o2", text='* both\n<thread id="t1">\n* one\n</thread>')
    observed(store, "o3", 3)
    reflect(store, "o3")
    store.run(clear.clear_thread(store.keys, HAROLD, "t1", words))

    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store) == ["o2"]
    assert sound(store)


def test_what_was_cleared_after_an_undo_is_not_told_of_again(store):
    observed(store, "o1", 1)
    observed(store, "o2", 31, thread="t2")
    reflect(store, "o1", "o2", text='<thread id="t1">\n* one\n</thread>\n<thread id="t2">\n* two\n</thread>')
    restored(store, 0)
    store.run(clear.clear_thread(store.keys, HAROLD, "t1", words))

    assert restored(store, 1) is Outcome.RESTORED
    assert (text(store), in_force(store)) == ('<thread id="t2">\n* two\n</thread>', [])
    assert sound(store)


def test_nothing_can_be_undone_beyond_a_migration(store):
    """What had expired before stands in the leading generation only: without it, it would be covered by nothing."""
    three_generations(store)
    store.client.delete(store.keys.of("harold").reflected(HAROLD, 1), *expiring(store, "o1"))
    store.run(migrate.migrate(store.keys, "harold", "thread", words, SETTINGS))
    observed(store, "o5", 5, scope=T1)
    reflect(store, "o5", scope=T1)
    with nothing_changes(store), pytest.raises(InvalidInputError, match="moved to another scope"):
        restored(store, 0, scope=T1)

    assert restored(store, 1, scope=T1) is Outcome.RESTORED
    assert in_force(store, T1) == ["o4", "o5"]
    assert sound(store)


def test_a_memory_with_an_undo_can_be_moved(store):
    three_generations(store)
    restored(store, 1)
    store.run(migrate.migrate(store.keys, "harold", "thread", words, SETTINGS))

    assert in_force(store, T1) == ["o2", "o3", "o4"]
    assert sound(store)


def test_in_thread_scope_each_thread_is_undone_by_itself(store):
    three_generations(store, scope=T1)

    assert restored(store, 2, scope=T1) is Outcome.RESTORED
    assert in_force(store, T1) == ["o3", "o4"]
    assert sound(store)


@pytest.mark.parametrize("broken", ["told twice", "told by nobody"])
def test_verify_finds_what_a_wrong_undo_would_leave(store, broken):
    three_generations(store)
    of = store.keys.of("harold")
    ((member, seq),) = store.client.zrange(of.reflected(HAROLD, 2), 0, -1, withscores=True)
    if broken == "told twice":
        store.client.zrem(of.reflected(HAROLD, 2), member)
        store.client.zadd(of.observations(HAROLD), {member: seq})
        store.client.hincrby(of.record(HAROLD), "observation_tokens", 5)
        store.client.hincrby(of.record(HAROLD), "observation_count", 1)
    else:
        restored(store, 1)
        store.client.zrem(of.observations(HAROLD), member)
        store.client.zadd(of.reflected(HAROLD, 2), {member: seq})
        store.client.expire(of.reflected(HAROLD, 2), TTL)
        store.client.hincrby(of.record(HAROLD), "observation_tokens", -5)
        store.client.hincrby(of.record(HAROLD), "observation_count", -1)

    (breach,) = store.run(verify(store.keys))
    assert ("stands for it too" if broken == "told twice" else "no generation in force") in breach.what


def test_an_undo_past_an_undo_of_an_undo_brings_back_nothing_that_the_text_stands_for(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text="* all up to 1")
    restored(store, 0)
    restored(store, 1)  # o1 goes to the history of generation 3, and generation 1 stands for it as well
    observed(store, "o2", 2)
    reflect(store, "o2", text="* all up to 2")

    assert restored(store, 1) is Outcome.RESTORED
    assert in_force(store) == ["o2"]
    assert sound(store)
    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store) == ["o1", "o2"]
    assert sound(store)


def test_who_names_a_generation_that_is_none_is_told_which_there_are(store):
    with pytest.raises(InvalidInputError, match="no generation 7: nothing was reflected yet"):
        restored(store, 7)
    three_generations(store)
    with pytest.raises(InvalidInputError, match=r"harold has no generation 7: om history lists 1, 2, 3 \(a move to an"):
        restored(store, 7)
