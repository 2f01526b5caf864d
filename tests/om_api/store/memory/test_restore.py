"""restore: an earlier generation is in force again, and every message is covered exactly once."""

import pytest
from scene import (
    HAROLD,
    SETTINGS,
    TTL,
    activate,
    emptied,
    expiring,
    forget_first,
    in_force,
    interrupted,
    nothing_changes,
    observed,
    overtaken,
    ready,
    record,
    reflect,
    repeating,
    restored,
    restoring,
    words,
)

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import clear, migrate, reading
from om_api.store.memory import reflect as reflect_steps

T1 = Scope("harold", "t1")


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


def test_restore_puts_an_earlier_text_in_force_as_a_new_generation(store):
    three_generations(store)
    store.run(reflect_steps.draft(store.keys, HAROLD, record(store).epoch, 3, b"thought ahead", TTL))

    assert restored(store, 1) is Outcome.RESTORED
    (*_, made) = store.run(reading.generations(store.keys, HAROLD))
    assert (made.n, made.text, made.origin, made.restores, made.cost) == (4, "* all up to 1", "restore", 1, 0.0)
    assert in_force(store) == ["o2", "o3", "o4"]
    assert (replaced(store, 1), replaced(store, 2), replaced(store, 3)) == (["o1"], [], [])
    now = record(store)
    assert (now.generation, now.observation_count, now.observation_tokens, now.reflection_tokens) == (4, 3, 15, 3)
    assert (now.observed_messages, now.origin) == (4, "restore")
    assert not store.client.exists(store.keys.of("harold").draft(HAROLD))
    with nothing_changes(store):
        assert restored(store, 1) is Outcome.RESTORED
        assert restored(store, 4) is Outcome.REST
    assert reflect(store, "o2", "o3") is Outcome.REFLECTED
    assert (replaced(store, 5), sound(store)) == (["o2", "o3"], True)


def test_restore_can_be_undone_and_go_back_before_the_first(store):
    three_generations(store)
    restored(store, 1)
    restored(store, 3)
    assert (in_force(store), text(store)) == (["o4"], "* all up to 3")
    assert (replaced(store, 1), replaced(store, 5)) == (["o1"], ["o2", "o3"])
    assert store.client.ttl(store.keys.of("harold").reflected(HAROLD, 5)) in {TTL, TTL - 1}

    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store) == ["o1", "o2", "o3", "o4"]
    assert (text(store), record(store).reflection_tokens, sound(store)) == ("", 0, True)


def test_restore_of_every_generation_whatever_was_restored_before(store):
    covered = ["", "o1", "o1 o2", "o1 o2 o3", "o1", "o1 o2 o4", "o1 o2"]
    for n, names in enumerate(covered):
        three_generations(emptied(store))
        restored(store, 1)
        reflect(store, "o2", "o4")
        restored(store, 2)
        restored(store, n)
        assert in_force(store) == [name for name in ("o1", "o2", "o3", "o4") if name not in names], n
        assert sound(store), n


def test_restore_past_an_undo_of_an_undo_brings_back_nothing_that_the_text_stands_for(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text="* all up to 1")
    restored(store, 0)
    restored(store, 1)  # o1 goes to the history of generation 3, and generation 1 stands for it as well
    observed(store, "o2", 2)
    reflect(store, "o2", text="* all up to 2")

    assert (restored(store, 1), in_force(store), sound(store)) == (Outcome.RESTORED, ["o2"], True)
    assert (restored(store, 0), in_force(store), sound(store)) == (Outcome.RESTORED, ["o1", "o2"], True)


def test_restore_repeated_with_its_id_after_a_lost_reply_answers_as_before(store):
    three_generations(store)
    again = repeating(store, restoring(store, 1), "restore")
    with nothing_changes(store):
        assert again() == b"restored"


def refused(store, n, says, **where):
    with nothing_changes(store), pytest.raises(InvalidInputError, match=says):
        restored(store, n, **where)


def test_restore_refuses_what_is_not_there_or_has_expired_and_changes_nothing(store):
    refused(store, 7, "no generation 7: nothing was reflected yet")
    three_generations(store)
    refused(store, 4, "no generation 4")
    refused(store, 7, r"harold has no generation 7: om history lists 1, 2, 3 \(a move to an")
    store.client.delete(store.keys.of("harold").reflected(HAROLD, 2))
    refused(store, 1, "1 of 2 observations that were condensed since have expired")
    assert restored(store, 2) is Outcome.RESTORED

    emptied(store)
    for n in range(1, 5):
        observed(store, f"o{n}", n)
        reflect(store, f"o{n}", keep=2)
    refused(store, 2, "no generation 2")
    refused(store, 0, "no longer known")
    assert restored(store, 3, keep=2) is Outcome.RESTORED
    assert [g.n for g in store.run(reading.generations(store.keys, HAROLD))] == [4, 5]
    assert sound(store)


def test_restore_keeps_an_activation_in_between(store):
    """Time 0: the undo is planned. Time 1: o5 is activated. Time 2: the undo is done, and o5 stands at the end."""
    three_generations(store)
    ready(store, "o5", 5)
    done = store.run(interrupted(restoring(store, 1), "restore", lambda: activate(store, "o5", by="a5")))

    assert (done, in_force(store), sound(store)) == (Outcome.RESTORED, ["o2", "o3", "o4", "o5"], True)


def test_restore_overtaken_changes_nothing(store):
    for came, overtake in {
        "reflect": lambda: reflect(store, "o4"),
        "restore": lambda: restored(store, 2),
        "clear thread": lambda: store.run(clear.clear_thread(store.keys, HAROLD, "t1", words)),
        "clear another thread": lambda: store.run(clear.clear_thread(store.keys, HAROLD, "t2", words)),
        "expire": lambda: store.client.delete(store.keys.of("harold").reflected(HAROLD, 2)),
    }.items():
        three_generations(emptied(store))
        assert overtaken(store, restoring(store, 1), "restore", overtake) is Outcome.SUPERSEDED, came


def test_restore_does_not_tell_again_of_what_was_removed(store):
    """Time 0: generation 3 is to come back. Time 1: o2, which it tells of, is forgotten. Time 2: the undo is refused."""
    three_generations(store)
    restored(store, 1)
    assert store.run(interrupted(restoring(store, 3), "restore", lambda: forget_first(store))) is Outcome.SUPERSEDED
    refused(store, 3, "1 observations that were removed")

    observed(emptied(store), "o1", 1)
    observed(store, "o2", 31, thread="t2")
    reflect(store, "o1", "o2", text='<thread id="t1">\n* one\n</thread>\n<thread id="t2">\n* two\n</thread>')
    restored(store, 0)
    store.run(clear.clear_thread(store.keys, HAROLD, "t1", words))
    assert restored(store, 1) is Outcome.RESTORED
    assert (text(store), in_force(store)) == ('<thread id="t2">\n* two\n</thread>', [])
    assert restored(store, 0) is Outcome.RESTORED
    assert (in_force(store), sound(store)) == (["o2"], True)


def test_restore_undoes_nothing_beyond_a_migration(store):
    """What had expired before stands in the leading generation only: without it, it would be covered by nothing."""
    three_generations(store)
    store.client.delete(store.keys.of("harold").reflected(HAROLD, 1), *expiring(store, "o1"))
    store.run(migrate.migrate(store.keys, "harold", "thread", words, SETTINGS))
    observed(store, "o5", 5, scope=T1)
    reflect(store, "o5", scope=T1)
    refused(store, 0, "moved to another scope", scope=T1)
    assert restored(store, 1, scope=T1) is Outcome.RESTORED
    assert (in_force(store, T1), sound(store)) == (["o4", "o5"], True)

    three_generations(emptied(store))
    restored(store, 1)
    store.run(migrate.migrate(store.keys, "harold", "thread", words, SETTINGS))
    assert (in_force(store, T1), sound(store)) == (["o2", "o3", "o4"], True)


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
