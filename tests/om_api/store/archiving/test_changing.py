"""What owners change of the past that was archived: it is gone from both homes when they are answered."""

from contextlib import closing

import pytest
from world import World

from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError
from om_api.domain.values import Outcome
from om_api.store.archiving import archivable
from om_api.store.archiving.changing import bring_back, everything, settle
from om_api.store.driver.archived_keys import lacks
from om_workers.work.archiver import Archiver


def test_what_is_erased_is_in_no_row_and_the_rest_is_archived_again(old):
    old.move()
    old.world.om.erase("harold", matching="m10")

    assert old.in_rows("m10") == []
    assert set(old.marks().items()) == old.archive.names("harold")
    assert len(old.said()) == 5


def test_two_owners_of_whom_the_second_read_before_the_first_was_done(old, before):
    """Time 0: both read what is archived. Time 1: one erases, and has the rest archived again. Time 2: the other one goes on."""
    old.move()
    before(
        "read",
        lambda: World(old.world.client, old.world.prefix, **_same(old)).om.erase("harold", matching="m10"),
        old.world.om._connection,
    )

    assert old.world.om.erase("harold", matching="m11").outcome is Outcome.CLEARED
    assert old.in_rows("m10") == old.in_rows("m11") == []
    assert len(old.said()) == 4


def test_clearing_a_thread_while_somebody_erases_leaves_nothing_of_it(old, before):
    """What the other one archived again, at a revision that the first never heard of, comes back before it is cleared."""
    old.move()
    other = World(old.world.client, old.world.prefix, **_same(old)).om
    before("read", lambda: other.erase("harold", matching="m10"), old.world.om._connection)

    assert old.world.om.clear("harold", "t-1").outcome is Outcome.CLEARED
    assert old.in_rows("harbour") == []
    assert old.stands("source") == []


def test_two_who_bring_back_the_same_do_it_once(old):
    old.move()
    keys = old.world.services.keys

    assert old.run(bring_back(keys, "harold", everything)) == 4
    assert old.run(bring_back(keys, "harold", everything)) == 0
    assert len(old.stands("source")) == 3
    assert old.marks() == {}
    assert len(old.said()) == 6


def test_who_died_after_a_change_is_completed_by_who_repeats_it(old, before):
    """Time 0: a message was erased in Redis. Time 1: the archive is away: its rows still hold it. Time 2: it is repeated."""
    old.move()

    def fail():
        raise ArchiveError("it cannot be reached")

    before("fence", fail, old.world.om._connection)
    with pytest.raises(ArchiveError, match="repeat"):
        old.world.om.erase("harold", matching="m10")

    assert old.in_rows("m10")
    old.run(settle(old.world.services.keys, "harold", "auto", removes=True, holder=""))
    assert old.in_rows("m10") == []
    assert len(old.said()) == 5


def test_nothing_is_changed_while_the_archive_is_away(old, before):
    old.move()
    marks = old.marks()

    def fail():
        raise ArchiveError("it cannot be reached")

    before("read", fail, old.world.om._connection)
    with pytest.raises(ArchiveError):
        old.world.om.erase("harold", matching="m10")

    assert old.marks() == marks
    assert len(old.said()) == 6


def test_a_process_without_an_archive_is_told_which_setting_is_missing(old):
    old.move()
    bare = World(old.world.client, old.world.prefix).om

    with pytest.raises(ArchiveError, match=r"archive\.url"):
        bare.erase("harold", matching="m10")
    with pytest.raises(ArchiveError, match=r"archive\.url"):
        bare.clear("harold")
    assert len(old.said()) == 6


def test_clearing_takes_the_rows_that_nobody_names_too(old):
    old.move()
    old.run(bring_back(old.world.services.keys, "harold", everything))
    assert old.archive.names("harold")

    old.world.om.clear("harold")

    assert old.archive.names("harold") == set()


def test_what_is_left_of_an_erased_source_is_indexed_in_the_agents_language(client, prefix, tmp_path):
    """Breaks when it is indexed in whatever language each message seems to be in: other words find it then than before."""
    settings = {"archive__url": f"sqlite:///{tmp_path}/a.db", "archive__after": "0s", "recall__language": "german"}
    world = World(client, prefix, **settings)
    world.say("the houses are yellow", "secret boats are green")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    world.sweep()
    Archiver(world.services).round(60)
    world.om.erase("harold", matching="secret")

    with closing(open_archive(f"sqlite:///{tmp_path}/a.db")) as archive:
        archived = [head.languages for head in archive.heads("harold")]
    world.om.close()
    assert archived == [("german",)]


def test_a_clear_that_the_archive_does_not_answer_says_what_was_done(old, before):
    old.move()

    def fail():
        raise ArchiveError("it cannot be reached")

    before("remove", fail, old.world.om._connection)
    with pytest.raises(ArchiveError, match=r"harold was changed in Redis, and the archive still holds .* repeat"):
        old.world.om.clear("harold")

    old.world.om.clear("harold")
    assert old.archive.names("harold") == set()


def test_an_undo_brings_the_history_back(old):
    old.move()

    assert old.world.om.restore("harold", 0) is Outcome.RESTORED
    assert sorted(old.world.covering()) == sorted(old.said())
    assert old.world.om.verify() == []


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


def test_what_an_owner_left_in_redis_goes_in_the_next_round(old, before):
    """Time 0: two owners hold the resource. Time 1: neither of them may archive what came back. Time 2: a worker does."""
    old.move()
    other = World(old.world.client, old.world.prefix, **_same(old)).om
    before("fence", lambda: other.erase("harold", matching="m20"), old.world.om._connection)
    old.world.client.delete(old.world.services.keys.archivable)
    old.world.om.erase("harold", matching="m10")

    Archiver(old.world.services).round(60)
    assert old.stands("reflected") == []
    assert old.in_rows("m10") == old.in_rows("m20") == []


def test_who_knows_of_no_archive_removes_nothing_where_there_is_one(old):
    """Rows of what came back hold it too, though Redis names none of them."""
    old.move()
    old.run(archivable.begun(old.world.services.keys))
    old.run(bring_back(old.world.services.keys, "harold", everything))

    with pytest.raises(ArchiveError, match=r"archive\.url"):
        World(old.world.client, old.world.prefix).om.erase("harold", matching="m10")


def test_what_an_archive_lacks_is_said_by_name():
    assert "source:c1 of harold" in str(lacks("harold", ["source:c2", "source:c1"]))


def _same(old):
    return {"archive__url": f"sqlite:///{old.path}", "archive__after": "0s", "max_reflections": "100"}
