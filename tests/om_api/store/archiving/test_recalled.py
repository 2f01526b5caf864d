"""Recall of what was archived, while it comes back, and when its time is over."""

import sqlite3

from scene import interrupted
from world import World

from om_api.store.archiving.changing import bring_back, everything
from om_api.store.archiving.comparing import tidy
from om_api.store.archiving.moving import move


def test_a_client_that_knows_heads_alone_finds_what_came_back(old):
    """Breaks when what it knows of is looked for in the archive alone: its rows may be gone by then."""
    om = old.world.om
    old.move()
    assert not om.recall("zebra", "harold").hits
    old.run(bring_back(old.world.services.keys, "harold", everything))
    old.archive.discard("harold", old.archive.names("harold"))

    assert len(om.recall("harbour", "harold", limit=50).hits) == 6


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


def test_a_round_and_a_recall_at_once_find_each_message_once(old):
    found = []
    recall = lambda: found.append(old.said())  # noqa: E731
    for verb in ("archive", "HGET"):
        old.run(interrupted(move(old.world.services.keys, old.planned()), verb, recall))

    assert {len(each) for each in found} == {6}
    assert len(old.said()) == 6
