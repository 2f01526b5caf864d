"""Written, read back, then dropped: whoever stops on the way loses nothing, and what changed meanwhile stays."""

import pytest
from scene import interrupted

from om_api.domain.errors import ArchiveError
from om_api.store.archiving.moving import move


def test_what_was_moved_stands_in_the_archive_alone_and_is_found_as_before(old):
    before = old.said()

    assert old.move() == 4
    assert old.stands("source") == old.stands("segment") == old.stands("reflected") == []
    assert set(old.marks().items()) == old.archive.names("harold")
    assert old.said() == before
    assert len(before) == 6


def test_what_is_moved_already_is_not_moved_twice(old):
    old.move()
    marks = old.marks()

    assert old.move() == 0
    assert old.marks() == marks


@pytest.mark.parametrize("call", ["fences", "write", "read"])
def test_an_archive_that_fails_at_any_call_costs_nothing(call, old, before):
    def fail():
        raise ArchiveError("the disk is full")

    stood, said = old.stands("source"), old.said()
    before(call, fail)
    with pytest.raises(ArchiveError, match="disk is full"):
        old.move()

    assert old.marks() == {}
    assert old.stands("source") == stood
    assert old.said() == said
    assert old.move() == 4  # the next one finds it written, or writes it


@pytest.mark.parametrize("call", ["write", "read"])
def test_a_message_that_is_erased_while_its_source_moves_is_in_neither_home(call, old, before):
    """Time 0: the worker read the source. Time 1: a message of it is erased. Time 2: it writes, or reads back, and drops."""
    before(call, lambda: old.world.om.erase("harold", matching="m10"))

    old.move()

    assert old.in_rows("m10") == []
    assert len(old.said()) == 5
    assert old.world.om.verify() == []


def test_a_message_that_is_erased_between_reading_back_and_dropping_is_in_neither_home(old):
    steps = move(old.world.services.keys, old.planned())
    erase = lambda: old.world.om.erase("harold", matching="m10")  # noqa: E731

    moved = old.run(interrupted(steps, "archive", erase))

    assert moved < 4
    assert old.in_rows("m10") == []
    assert len(old.said()) == 5


def test_a_memory_that_is_cleared_while_it_moves_does_not_come_back(old, before):
    before("write", lambda: old.world.om.clear("harold"))

    assert old.move() == 0
    assert old.archive.names("harold") == set()
    assert old.said() == []


def test_what_the_archive_gives_back_otherwise_is_not_dropped(old, monkeypatch):
    """An archive that lies, or a disk that does: nothing leaves Redis that is not read back byte by byte."""
    read = type(old.archive).read

    def lying(archive, resource, marks):
        return {
            name: entry._replace(members=entry.members[:-1]) for name, entry in read(archive, resource, marks).items()
        }

    monkeypatch.setattr(type(old.archive), "read", lying)

    assert old.move() == 0
    assert old.marks() == {}
