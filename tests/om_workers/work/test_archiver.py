"""A worker's rounds of archiving: what is due goes, what fails is told, and nobody is looked at in vain."""

import pytest
from world import World

from om_api.domain.errors import ArchiveError
from om_api.store.archiving import archivable
from om_api.store.fleet import event_stream
from om_workers.work.archiver import Archiver


@pytest.fixture
def house(client, prefix, tmp_path):
    made = World(
        client, prefix, archive__url=f"sqlite:///{tmp_path}/archive.db", archive__after="0s", archive__keep="1d"
    )
    yield made
    made.om.close()


def _old(house, resource="harold"):
    house.say("the anchor is up", "the anchor is down", resource=resource)
    house.om.force_observe("t-1", resource)
    house.settle()


def _sources(house):
    return list(house.client.scan_iter(f"{house.prefix}:*:source:*"))


def test_what_the_sweep_met_is_archived_and_found(house):
    _old(house), _old(house, "albert")
    house.sweep()

    assert Archiver(house.services).round(10).archived == 2
    assert _sources(house) == []
    assert len(house.om.recall("anchor", "harold").hits) == 2
    assert len(house.om.recall("anchor", "albert").hits) == 2


def test_who_has_nothing_to_archive_is_due_later(house):
    _old(house)
    house.sweep()
    Archiver(house.services).round(10)

    assert house.services.run(archivable.backlog(house.services.keys)).due == 0
    assert Archiver(house.services).round(10).archived == 0


def test_an_archive_that_cannot_be_asked_is_told_and_nothing_leaves_redis(house, monkeypatch):
    _old(house)
    house.sweep()
    past = house.services.connection._endpoint.past

    def full(*_):
        raise ArchiveError("the disk is full: make room")

    monkeypatch.setattr(type(past), "write", full)
    monkeypatch.setattr(type(past), "check", full)
    with pytest.raises(ArchiveError, match="make room"):
        Archiver(house.services).round(10)

    assert house.services.run(archivable.fault(house.services.keys)).why == "the disk is full: make room"
    assert len(_sources(house)) == 1
    monkeypatch.undo()
    assert Archiver(house.services).round(10).archived == 1
    assert house.services.run(archivable.fault(house.services.keys)) is None


def test_a_thing_that_no_archive_can_take_stays_and_is_no_fault_of_the_archive(house):
    """A plain writer gave a message a score of infinity, which is no number of JSON's."""
    _old(house), _old(house, "albert")
    house.sweep()
    unfit = next(key for key in _sources(house) if b"albert" in key)
    house.client.zadd(unfit, {house.client.zrange(unfit, 0, 0)[0]: float("inf")})

    assert Archiver(house.services).round(10).archived == 1
    house.client.zadd(house.services.keys.archivable, {"albert": 0})
    assert Archiver(house.services).round(10).archived == 0
    assert _sources(house) == [unfit]
    assert house.services.run(archivable.fault(house.services.keys)) is None


def test_a_full_disk_is_rid_of_what_has_expired(house, monkeypatch):
    """Breaks when a round ends at what it cannot write: then expiry never makes room."""
    tidied = []
    _old(house)
    house.sweep()
    past = type(house.services.connection._endpoint.past)
    monkeypatch.setattr(past, "write", _away)
    monkeypatch.setattr(past, "expired", lambda *_: tidied.append(1) or [])

    with pytest.raises(ArchiveError):
        Archiver(house.services).round(10)
    assert tidied


def test_what_was_moved_before_the_archive_was_away_is_counted(house, monkeypatch):
    _old(house)
    house.sweep()
    monkeypatch.setattr(type(house.services.connection._endpoint.past), "expired", _away)

    with pytest.raises(ArchiveError):
        Archiver(house.services).round(10)
    (counted,) = house.services.run(event_stream.counted(house.services.keys, [None]))
    assert counted["archived"] == 1


def _away(*_):
    raise ArchiveError("it cannot be reached")


def test_a_memory_that_cannot_be_read_keeps_no_other_from_the_archive(house):
    _old(house), _old(house, "albert")
    house.sweep()
    broken = f"{house.prefix}:{{albert}}:threads"
    house.client.unlink(broken)
    house.client.set(broken, "ours it is not", ex=60)

    done = Archiver(house.services).round(10)

    assert (done.archived, done.failed) == (1, 1)
    assert house.services.run(archivable.backlog(house.services.keys)).due == 0


def test_a_round_that_has_no_time_leaves_what_is_due(house):
    _old(house)
    house.sweep()

    assert Archiver(house.services).round(0).archived == 0
    assert house.services.run(archivable.backlog(house.services.keys)).due == 1
