"""Who holds a resource: meanwhile nobody else archives any of it, and who began before drops nothing after it."""

import pytest
from scene import interrupted

from om_api.domain.errors import StoreError
from om_api.store.archiving import holding
from om_api.store.archiving.holding import held
from om_api.store.archiving.moving import move


def _holding(old, work):
    """Hold it, and do something that is told who holds it."""

    def steps(holder):
        yield from ()
        return work(holder)

    return old.run(held(old.of, steps))


def _discard_all(old, *_):
    old.archive.discard("harold", old.archive.names("harold"))


def test_while_one_holds_it_nobody_else_archives_any_of_it(old):
    own = [plan._replace(holder="somebody") for plan in old.planned()]
    others = _holding(old, lambda _: (old.move(), old.run(move(old.world.services.keys, own))))

    assert others == (0, 0)
    assert old.move() == 4


def test_the_holder_archives(old):
    def archive(holder):
        own = [plan._replace(holder=holder) for plan in old.planned()]
        return old.run(move(old.world.services.keys, own))

    assert _holding(old, archive) == 4
    assert len(old.marks()) == 4


def test_of_two_holders_neither_archives(old):
    def archive(holder):
        own = [plan._replace(holder=holder) for plan in old.planned()]
        return old.run(move(old.world.services.keys, own))

    assert _holding(old, lambda _: _holding(old, archive)) == 0


def test_who_began_before_one_held_it_drops_nothing_after_it(old):
    """Time 0: a worker wrote rows, and read them back. Time 1: who holds the resource discards them. Time 2: it goes on."""
    said, steps = old.said(), move(old.world.services.keys, old.planned())
    meanwhile = lambda: _holding(old, lambda _: _discard_all(old))  # noqa: E731

    assert old.run(interrupted(steps, "archive", meanwhile)) == 0
    assert old.said() == said
    assert old.world.om.verify() == []
    assert old.move() == 4


def test_what_was_cleared_and_imported_again_is_not_dropped_by_who_began_before(old):
    said, steps = old.said(), move(old.world.services.keys, old.planned())

    def comes_again():
        file = list(old.world.om.export_memory("harold"))
        old.world.om.clear("harold")
        old.world.om.import_memory(file)

    assert old.run(interrupted(steps, "archive", comes_again)) == 0
    assert old.said() == said
    assert old.world.om.verify() == []


def test_who_goes_on_too_late_drops_nothing(old, monkeypatch):
    """Breaks when what was seen of the lock is believed for longer than the lock lives."""
    monkeypatch.setattr(holding, "_PATIENCE_MS", -1_000)

    assert old.move() == 0
    assert len(old.stands("source")) == 3


def test_what_fails_while_it_is_held_is_told_and_holds_no_longer(old):
    def fails(_holder):
        raise StoreError("gone", stored=False)

    with pytest.raises(StoreError, match="gone"):
        _holding(old, fails)
    assert old.move() == 4


def test_who_died_holds_it_for_a_quarter_of_an_hour_and_no_longer(old):
    now = int(old.world.client.time()[0]) * 1_000
    old.world.client.hset(old.of.hold, "who died", now + 60_000)
    assert old.move() == 0

    old.world.client.hset(old.of.hold, "who died", now - 1)
    assert old.move() == 4
    _holding(old, lambda _: None)
    assert 800 < old.world.client.ttl(old.of.hold) <= 900
