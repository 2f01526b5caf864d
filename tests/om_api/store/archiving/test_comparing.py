"""Both homes compared: what is in neither, in both, or named by nobody; and what leaves the archive."""

import pytest
from scene import interrupted

from om_api.domain.errors import StoreError
from om_api.store.archiving.changing import bring_back, everything
from om_api.store.archiving.comparing import compare, give_up, tidy
from om_api.store.archiving.moving import move


def _compared(old):
    return old.run(compare(old.world.services.keys, "harold"))


def _tidied(old):
    return old.run(tidy(old.world.services.keys, "", 10))


def test_compare_names_what_stands_in_neither_home_and_in_both(old):
    """A server that lost its last second names the revision before; an archive of an older backup has only that."""
    old.move()
    found = _compared(old)
    assert (found.neither, found.both, found.unnamed, found.known) == ([], [], set(), True)
    name = next(name for name in sorted(old.marks()) if name.startswith("source:"))
    for revision, neither in ((0.0, []), (2.0, [name]), (1.0, [])):
        old.world.client.zadd(old.of.archived, {name: revision})
        assert _compared(old).neither == neither, revision
    old.world.client.zadd(f"{old.of.base}:{name}", {"again": 1})
    old.world.client.expire(f"{old.of.base}:{name}", 60)
    assert _compared(old).both == [name]
    lost, revision = min(old.archive.names("harold"))
    old.archive.discard("harold", [(lost, revision)])
    assert _compared(old).neither == [lost]


def test_rows_that_nobody_names_go_and_the_others_stay(old):
    old.move()
    old.run(bring_back(old.world.services.keys, "harold", lambda name: name.startswith("source:")))
    old.world.client.unlink(*(key for key in old.world.client.scan_iter(f"{old.of.base}:source:*")))

    assert len(_compared(old).unnamed) == 3
    assert _tidied(old).unnamed == 3
    assert {name for name, _ in old.archive.names("harold")} == {"reflected:1"}


def test_what_is_named_while_it_is_tidied_stays(old):
    """Time 0: a row is there that nobody names, of a worker that died. Time 1: another one finds it written, and names it when
    it drops what it was made of. Time 2: who tidies finds nothing of that in Redis."""
    said = old.said()
    with pytest.raises(StoreError):
        old.run(interrupted(move(old.world.services.keys, old.planned()), "archive", _dies))
    assert len(old.archive.names("harold")) == 4
    tidied = old.run(interrupted(tidy(old.world.services.keys, "", 10), "ZCOUNT", old.move))

    assert (tidied.unnamed, len(old.marks())) == (0, 4)
    assert _compared(old).neither == []
    assert old.said() == said


def _dies():
    raise StoreError("gone", stored=False)


def test_of_a_resource_that_redis_lost_nothing_is_tidied_and_verify_tells(old):
    """Breaks when one word makes it known: all that is left of it would go before Redis is restored."""
    old.move()
    old.world.client.unlink(*old.world.client.scan_iter(f"{old.of.base}:*"))
    assert not _compared(old).known
    assert _tidied(old).unnamed == 0
    old.world.say("hello again")

    assert _tidied(old).unnamed == 0
    assert len(old.archive.names("harold")) == 4
    assert [breach.what for breach in old.world.om.verify() if "names nothing of it" in breach.what]


def test_what_only_one_of_them_has_is_given_up(old):
    old.move()
    lost, unnamed = sorted(old.marks())[:2]
    old.archive.discard("harold", [(lost, 1)])
    old.world.client.zrem(old.of.archived, unnamed)
    keys = old.world.services.keys

    assert old.run(give_up(keys, "harold")) == (1, 1)
    assert old.run(give_up(keys, "harold")) == (0, 0)
    assert len(old.marks()) == len(old.archive.names("harold")) == 2


def test_what_has_expired_leaves_both_homes(old, monkeypatch):
    old.move()
    monkeypatch.setattr(type(old.archive), "expired", lambda archive, *_: _all_rows(archive))

    assert _tidied(old).expired == 4
    assert old.marks() == {}
    assert old.archive.names("harold") == set()


def test_what_has_a_newer_row_outlives_an_older_one_that_expired(old, monkeypatch):
    old.move()
    old.run(bring_back(old.world.services.keys, "harold", everything))
    name = old.stands("source")[0]
    old.world.client.zadd(f"{old.of.base}:{name}", {'{"id":"m9","content":"more"}': 1})
    old.move()
    monkeypatch.setattr(type(old.archive), "expired", lambda *_: [("harold", name, 1)])

    assert (_tidied(old).expired, old.marks()[name]) == (1, 2)
    assert (name, 2) in old.archive.names("harold")


def _all_rows(archive):
    return [("harold", *row) for row in sorted(archive.names("harold"))]
