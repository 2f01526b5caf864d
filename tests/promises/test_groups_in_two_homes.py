"""Groups in two homes: what is set aside moves to an archive like the rest of the past, and is read and kept as before."""

import pytest
from world import World

from om_api.store.driver.steps import FromArchive
from om_workers.work.archiver import Archiver


@pytest.fixture
def world(client, prefix, archive_url):
    made = World(
        client,
        prefix,
        archive__url=archive_url,
        archive__after="0s",
        message_threshold="400",
        observation_threshold="400",
        reflection__mode="archive",
        reflection__drain="false",
    )
    yield made
    made.om.close()
    made.services.connection.close()


def fill(world, turns, start=0):
    for n in range(start, start + turns):
        world.say(f"fact number{n} of it " + "and more " * 8)
        world.tick()


def archive(world):
    world.sweep()
    return Archiver(world.services).round(10).archived


def told(world):
    groups = world.om.groups("harold")
    notes = [own for group in groups for own in world.om.group(group.id, "harold")]
    return groups, notes, [[hit.id for hit in world.om.recall(f"number{n}", "harold").hits] for n in range(0, 30, 7)]


def test_groups_are_read_and_found_as_before_and_never_expire_there(world, client, prefix):
    fill(world, 32)
    before = told(world)
    assert archive(world)

    assert told(world) == before
    assert not list(client.scan_iter(f"{prefix}:{{harold}}:reflected:1"))
    far = world.services.run(FromArchive(lambda home: home.expired(4_102_444_800_000, 100, None)))  # by the year 2100
    assert not [name for _, name, _ in far if name.startswith("reflected")]
    fill(world, 16, start=32)
    archive(world)
    assert {own.id for own in before[1]} <= {own.id for own in told(world)[1]}
    assert world.om.verify() == []


def test_what_is_erased_or_cleared_goes_from_both(world):
    world.om.add_line("the vault opens with swordfish", "harold", "t-1")
    fill(world, 32)
    archive(world)
    world.om.erase("harold", matching="swordfish")

    assert "swordfish" not in "".join(own.text for own in told(world)[1])
    assert all("swordfish" not in made.text for made in world.om.generations("harold"))
    world.om.clear("harold")
    assert world.om.groups("harold") == []
    assert world.services.run(FromArchive(lambda home: home.names("harold"))) == set()


def test_an_undo_brings_back_what_was_archived(world):
    fill(world, 32)
    archive(world)
    before = {own.id for own in told(world)[1]} | {own.id for own in world.om.observations("harold")}
    world.om.restore("harold", 0)

    assert {own.id for own in world.om.observations("harold")} == before
    assert world.om.verify() == []
