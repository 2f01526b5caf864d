"""What owners change of the past that was archived: it is gone from both homes when they are answered."""

import sqlite3
from functools import partial

import pytest
from scene import interrupted
from world import World

from om_api.domain.errors import ArchiveError
from om_api.domain.values import Outcome, Scope
from om_api.store.archiving import archivable
from om_api.store.archiving.changing import bring_back, changed, everything, settle
from om_api.store.archiving.comparing import tidy
from om_api.store.memory import clear
from om_workers.work.archiver import Archiver


def fail():
    raise ArchiveError("it cannot be reached")


def test_of_two_owners_the_second_may_have_read_before_the_first_was_done(old, before):
    """Time 0: both read what is archived. Time 1: one erases, and has the rest archived again. Time 2: the other one goes on."""
    old.move()
    other = World(old.world.client, old.world.prefix, **_same(old)).om
    before("read", lambda: other.erase("harold", matching="m10"), old.world.om._connection)
    assert old.world.om.erase("harold", matching="m11").outcome is Outcome.CLEARED
    assert old.in_rows("m10") == old.in_rows("m11") == []
    assert set(old.marks().items()) == old.archive.names("harold")
    assert len(old.said()) == 4

    # what the other one archived again, at a revision that the first never heard of, comes back before it is cleared
    before("read", lambda: other.erase("harold", matching="m20"), old.world.om._connection)
    assert old.world.om.clear("harold", "t-1").outcome is Outcome.CLEARED
    assert old.in_rows("harbour") == old.stands("source") == []


def test_of_two_who_bring_back_the_same_the_second_brings_nothing(old):
    old.move()
    assert [old.run(bring_back(old.world.services.keys, "harold", everything)) for _ in range(2)] == [4, 0]
    assert (len(old.stands("source")), old.marks(), len(old.said())) == (3, {}, 6)


def test_who_died_after_a_change_is_completed_by_who_repeats_it(old, before):
    """Time 0: a message was erased in Redis. Time 1: the archive is away: its rows still hold it. Time 2: it is repeated."""
    old.move()
    before("fence", fail, old.world.om._connection)
    with pytest.raises(ArchiveError, match="repeat"):
        old.world.om.erase("harold", matching="m10")

    assert old.in_rows("m10")
    old.run(settle(old.world.services.keys, "harold", "auto", removes=True, holder=""))
    assert old.in_rows("m10") == []
    assert len(old.said()) == 5


def _expire_and_archive(old):
    old.world.client.delete(old.of.hold)
    assert old.move()


def test_a_cleared_thread_takes_along_what_was_archived_once_its_hold_expired(old):
    """Time 0: a client plans to clear a thread. Time 1: its hold expires, a worker archives a source. Time 2: it clears."""
    keys = old.world.services.keys
    clearing = partial(clear.clear_thread, keys, Scope("harold"), "t-1", len)
    steps = changed(keys, "harold", "auto", clearing, everything)
    assert old.run(interrupted(steps, "clear_thread", lambda: _expire_and_archive(old))).outcome is Outcome.CLEARED
    assert (old.said(), old.marks(), old.in_rows("harbour")) == ([], {}, [])


def test_forget_takes_along_messages_that_were_archived_once_its_hold_expired(old):
    """Time 0: a client plans to forget. Time 1: its hold expires, a worker archives the messages. Time 2: it forgets."""
    old.move()
    first = old.world.om.observations("harold")[0]
    steps = old.world.om._core.owning.forget(first.id, "harold")
    assert old.run(interrupted(steps, "forget", lambda: _expire_and_archive(old))) is Outcome.CLEARED
    assert (old.in_rows("m10"), f"source:{first.id}" in old.marks(), old.stands("source")) == ([], False, [])


def test_nothing_is_changed_while_the_archive_is_away_or_not_set(old, before):
    old.move()
    marks, bare = old.marks(), World(old.world.client, old.world.prefix).om
    before("read", fail, old.world.om._connection)
    with pytest.raises(ArchiveError, match="cannot be reached"):
        old.world.om.erase("harold", matching="m10")
    for ask in (lambda: bare.erase("harold", matching="m10"), lambda: bare.clear("harold")):
        with pytest.raises(ArchiveError, match=r"archive\.url"):
            ask()
    assert old.marks() == marks
    assert len(old.said()) == 6
    old.run(archivable.begun(old.world.services.keys))  # rows of what came back hold it too, though nothing names them
    old.run(bring_back(old.world.services.keys, "harold", everything))
    with pytest.raises(ArchiveError, match=r"archive\.url"):
        World(old.world.client, old.world.prefix).om.erase("harold", matching="m10")


def test_a_clear_that_the_archive_does_not_answer_says_what_was_done(old, before):
    old.move()
    before("remove", fail, old.world.om._connection)
    with pytest.raises(ArchiveError, match=r"harold was changed in Redis, and the archive still holds .* repeat"):
        old.world.om.clear("harold")
    old.world.om.clear("harold")
    assert old.archive.names("harold") == set()


def _reflected(world, times):
    for n in range(times):
        world.say(f"r{n} in the harbour", f"r{n} at sea")
        world.om.force_observe("t-1", "harold")
        world.settle()
        world.om.force_reflect("harold")
        world.settle()


@pytest.mark.parametrize("act", ["restore", "reflect"])
def test_no_generation_that_came_back_is_dropped_for_its_number(act, client, prefix, tmp_path):
    """Breaks when max_reflections counts those that came back: with them goes what covers their messages."""
    url = f"sqlite:///{tmp_path}/a.db"
    world = World(client, prefix, archive__url=url, archive__after="0s", max_reflections="2")
    _reflected(world, 4)
    world.sweep()
    Archiver(world.services).round(60)
    if act == "restore":
        world.om.restore("harold", 3)
    else:
        world.services.run(bring_back(world.services.keys, "harold", everything))
        _reflected(world, 1)

    assert [generation.n for generation in world.om.generations("harold")] == [1, 2, 3, 4, 5]
    assert world.om.verify() == []
    world.om.close()


def _same(old):
    return {"archive__url": f"sqlite:///{old.path}", "archive__after": "0s", "max_reflections": "100"}


def test_what_has_expired_and_was_not_tidied_yet_is_not_found_and_hides_nothing_else(old):
    om = old.world.om
    old.move()
    before = len(om.recall("harbour", "harold", limit=50).hits)
    with sqlite3.connect(old.path) as connection:
        named = "(SELECT min(name) FROM om_entries WHERE kind = 'messages')"
        connection.execute(f"UPDATE om_entries SET expires_at = 1 WHERE name = {named}")

    for client in (om, World(old.world.client, old.world.prefix, archive__url=f"sqlite:///{old.path}").om):
        found = client.recall("harbour", "harold", limit=50)
        assert (len(found.hits), found.partial) == (before - 2, "")
    old.run(tidy(old.world.services.keys, "", 50))
    assert len(om.recall("harbour", "harold", limit=50).hits) == before - 2
