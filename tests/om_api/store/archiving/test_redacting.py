"""What was archived before redaction was switched on is redacted with the rest: no file holds it, free pages and log included."""

import pytest
from planted import ALL, PASSWORD, file_bytes, leaks, store_bytes
from world import World

from om_api.domain.errors import ArchiveError


def _told(house):
    """Sources, what a generation replaced and a former generation, all of them archived."""
    for n in range(3):
        house.world.say(f"{n} {ALL}", f"and {n}", metadata={"password": PASSWORD})
        house.world.om.force_observe("t-1", "harold")
        house.world.settle()
        if n < 2:
            house.world.om.force_reflect("harold")
            house.world.settle()
    assert house.move() > 4


@pytest.fixture
def redacted(house):
    """The same house once redaction is switched on, and what was said before is archived."""
    _told(house)
    same = {"archive__url": f"sqlite:///{house.path}", "archive__after": "0s", "max_reflections": "100"}
    world = World(house.world.client, house.world.prefix, redaction__before="store", **same)
    yield house._replace(world=world)
    world.om.close()


def _kept(house):
    return leaks(store_bytes(house.world.client, house.world.prefix), file_bytes(house.path))


def test_neither_redis_nor_the_archives_file_holds_it_afterwards(redacted):
    before, found = redacted.world.covering(), len(leaks(file_bytes(redacted.path)))
    done = redacted.world.om.redact("harold")

    assert found == 6
    assert {*done.places} >= {"generations", "observations", "sources"}
    assert _kept(redacted) == []
    assert b"kqlm02pwvt" not in file_bytes(redacted.path).lower()  # nor the index of words
    assert redacted.marks() != {}
    assert before == redacted.world.covering()
    assert redacted.in_rows("[email]") != []
    assert redacted.world.om.verify() == []
    assert leaks(b"".join(redacted.world.om.export_memory("harold"))) == []


def test_while_somebody_reads_the_file_it_is_said_that_it_still_holds_it_and_repeating_ends_it(redacted, monkeypatch):
    monkeypatch.setattr("om_api.archive.databases.empty_log", lambda *_: False)
    with pytest.raises(ArchiveError, match="repeat the call"):
        redacted.world.om.redact("harold")
    monkeypatch.undo()

    redacted.world.om.redact("harold")
    assert _kept(redacted) == []
