"""What is archived, when, and by whom: written, read back, then dropped; a crash or a change on the way loses nothing."""

import pytest
from scene import interrupted

from om_api.domain.errors import ArchiveError
from om_api.store.archiving import archivable, holding
from om_api.store.archiving.holding import held
from om_api.store.archiving.moving import move


def test_what_was_moved_stands_in_the_archive_alone_and_is_found_as_before(old):
    before = old.said()

    assert old.move() == 4
    assert old.stands("source") == old.stands("segment") == old.stands("reflected") == []
    assert set(old.marks().items()) == old.archive.names("harold")
    assert old.said() == before
    assert len(before) == 6
    marks = old.marks()
    assert old.move() == 0
    assert old.marks() == marks


def test_an_archive_that_fails_at_any_call_costs_nothing(old, before):
    def fail():
        raise ArchiveError("the disk is full")

    stood, said = old.stands("source"), old.said()
    for call in ("fences", "write", "read"):
        before(call, fail)
        with pytest.raises(ArchiveError, match="disk is full"):
            old.move()
        assert (old.marks(), old.stands("source"), old.said()) == ({}, stood, said), call
    assert old.move() == 4  # the next one finds it written, or writes it


def test_a_message_that_is_erased_while_its_source_moves_is_in_neither_home(old, before):
    """Time 0: the worker read the source. Time 1: a message of it is erased. Time 2: it writes, or reads back, and drops."""
    for left, (call, message) in enumerate({"write": "m10", "read": "m20"}.items(), start=1):
        before(call, lambda message=message: old.world.om.erase("harold", matching=message))
        old.move()
        assert old.in_rows(message) == [], call
        assert len(old.said()) == 6 - left, call
        assert old.world.om.verify() == [], call


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


def _holding(old, work):
    """Hold it, and do something that is told who holds it."""

    def steps(holder):
        yield from ()
        return work(holder)

    return old.run(held(old.of, steps))


def _discard_all(old, *_):
    old.archive.discard("harold", old.archive.names("harold"))


def test_while_one_holds_it_nobody_else_archives_any_of_it_and_of_two_holders_neither(old, monkeypatch):
    """Breaks when what was seen of the lock is believed for longer than the lock lives."""

    def archive(holder):
        own = [plan._replace(holder=holder) for plan in old.planned()]
        return old.run(move(old.world.services.keys, own))

    assert _holding(old, lambda _: (old.move(), archive("somebody"))) == (0, 0)
    with monkeypatch.context() as late:
        late.setattr(holding, "_PATIENCE_MS", -1_000)
        assert old.move() == 0
    assert _holding(old, lambda _: _holding(old, archive)) == 0
    assert _holding(old, archive) == 4
    assert len(old.marks()) == 4


def test_who_began_before_one_held_it_drops_nothing_after_it(old):
    """Time 0: a worker wrote rows, and read them back. Time 1: who holds the resource discards them. Time 2: it goes on."""
    said, steps = old.said(), move(old.world.services.keys, old.planned())

    def meanwhile():
        return _holding(old, lambda _: _discard_all(old))

    assert old.run(interrupted(steps, "archive", meanwhile)) == 0
    assert old.said() == said
    assert old.world.om.verify() == []
    assert old.move() == 4


def test_a_memory_that_is_cleared_while_it_moves_does_not_come_back(old, before):
    """Nor is one dropped that was cleared and imported again meanwhile, by who began before."""
    said, steps = old.said(), move(old.world.services.keys, old.planned())

    def comes_again():
        file = list(old.world.om.export_memory("harold"))
        old.world.om.clear("harold")
        old.world.om.import_memory(file)

    assert old.run(interrupted(steps, "archive", comes_again)) == 0
    assert old.said() == said
    assert old.world.om.verify() == []
    before("write", lambda: old.world.om.clear("harold"))
    assert old.move() == 0
    assert (old.archive.names("harold"), old.said()) == (set(), [])


def test_who_died_holds_it_for_a_quarter_of_an_hour_and_no_longer(old):
    now = int(old.world.client.time()[0]) * 1_000
    old.world.client.hset(old.of.hold, "who died", now + 60_000)
    assert old.move() == 0

    old.world.client.hset(old.of.hold, "who died", now - 1)
    assert old.move() == 4
    _holding(old, lambda _: None)
    assert 800 < old.world.client.ttl(old.of.hold) <= 900


def test_what_is_younger_or_in_force_stays_and_says_when_it_may_go(old):
    ages = sorted(each.at for each in old.past().ready if each.kind == "messages")
    found = old.past(before=ages[0])

    assert [each.at for each in found.ready if each.kind == "messages"] == ages[:1]
    assert found.next_at is not None
    assert ages[0] < found.next_at <= ages[1]

    assert not [each for each in old.past().ready if each.kind == "generation"]

    old.world.om.force_reflect("harold")
    old.world.settle()
    assert [each.name for each in old.past().ready if each.kind == "generation"] == ["reflections|1"]


def test_what_is_due_comes_first_the_longest_and_again_when_it_was_said(store):
    expect = [(["late"], 20), (["early", "later"], 10), (["never"], 10**15), (["early"], 99), ([], 99)]
    for names, at in expect:  # who is expected already is not put off
        store.run(archivable.expect(store.keys, names, at))
    assert store.run(archivable.due(store.keys, 30, 2)) == ["early", "later"]
    assert store.run(archivable.due(store.keys, 30, 9)) == ["early", "later", "late"]

    store.run(archivable.looked(store.keys, {"early": 50, "later": None}))
    assert store.run(archivable.due(store.keys, 49, 9)) == ["late"]
    assert store.run(archivable.due(store.keys, 50, 9)) == ["late", "early"]
    assert not store.client.zscore(store.keys.archivable, "later")
    store.client.zadd(store.keys.archivable, {"late": 9e15})  # by another agent's user
    store.run(archivable.expect(store.keys, ["late"], 60))
    assert store.client.zscore(store.keys.archivable, "late") == 60 + archivable.LONGEST_MS


def test_how_far_archiving_is_behind_and_a_fault_since_it_began_until_it_is_over(store):
    assert store.run(archivable.backlog(store.keys)) == archivable.ArchiveBacklog(0, 0, None)
    now = int(store.client.time()[0]) * 1000
    store.run(archivable.expect(store.keys, ["harold"], now - 60_000))
    store.run(archivable.expect(store.keys, ["albert"], now + 3_600_000))
    store.run(archivable.failed(store.keys, "the disk is full"))
    since = store.run(archivable.fault(store.keys)).since
    store.run(archivable.failed(store.keys, "it cannot be reached"))
    found = store.run(archivable.backlog(store.keys))

    assert found.due == 1
    assert 60_000 <= found.behind_ms < 120_000
    assert (found.fault.since, found.fault.why) == (since, "it cannot be reached")
    store.run(archivable.recovered(store.keys))
    assert store.run(archivable.fault(store.keys)) is None
