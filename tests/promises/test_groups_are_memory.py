"""What is set aside in groups is memory like any other: undone, moved, exported, cleared, erased, pinned."""

import pytest
from world import World

from om_api.domain.notes.catalogue import INTRO, Catalogued
from om_api.domain.values import Outcome
from om_api.store.driver.steps import FromArchive
from om_workers.work.archiver import Archiver


def setting_aside(client, prefix, **changed):
    fields = {"message_threshold": "400", "observation_threshold": "400", "reflection__mode": "archive",
        "reflection__drain": "false", **changed}  # fmt: skip
    return World(client, prefix, **fields)


@pytest.fixture
def world(client, prefix):
    return setting_aside(client, prefix)


def fill(world, turns, threads=2, start=0):
    for n in range(start, start + turns):
        world.say(f"fact number{n} of it " + "and more " * 8, thread=f"t-{n % threads}")
        world.tick()


def notes(world):
    kept = {own.id: own.text for own in world.om.observations("harold")}
    for group in world.om.groups("harold"):
        kept |= {own.id: own.text for own in world.om.group(group.id, "harold")}
    return kept


def text_of(world, resource="harold", thread=None):
    made = world.om.generations(resource, thread)
    return made[-1].text if made else ""


def lasting(client, prefix):
    return [client.ttl(key) for key in client.scan_iter(f"{prefix}:*reflected*")]


def test_an_undo_brings_groups_back_into_view_and_an_undo_of_that_sets_them_aside_again(world, client, prefix):
    fill(world, 24)
    before, groups, n = notes(world), world.om.groups("harold"), len(world.om.generations("harold"))
    assert world.om.restore("harold", n - 1) is Outcome.RESTORED
    assert notes(world) == before
    assert {each.generation for each in groups} - {each.generation for each in world.om.groups("harold")} == {n}
    assert world.om.verify() == []
    assert world.om.restore("harold", n) is Outcome.RESTORED
    assert notes(world) == before
    assert {each.id for each in world.om.groups("harold")} == {each.id for each in groups}
    assert (set(lasting(client, prefix)), world.om.verify()) == ({-1}, [])
    assert world.om.restore("harold", 0) is Outcome.RESTORED
    assert {own.id: own.text for own in world.om.observations("harold")} == before
    assert world.om.groups("harold") == []
    assert INTRO not in world.context().text


def test_a_move_to_threads_and_back_keeps_every_group_under_its_name(world, client, prefix):
    fill(world, 28)
    world.settle()
    before, groups = notes(world), {each.id: each.heading for each in world.om.groups("harold")}
    named = {entry.name for entry in Catalogued.of(text_of(world), pooled=True).entries}
    assert world.om.migrate_scope("harold", "thread") is not Outcome.BUSY
    apart = [text_of(world, thread=f"t-{n}") for n in range(2)]
    assert {entry.name for text in apart for entry in Catalogued.of(text, pooled=False).entries} == named
    assert ({each.id: each.heading for each in world.om.groups("harold")}, world.om.verify()) == (groups, [])
    fill(world, 12, start=90)
    world.settle()
    world.om.migrate_scope("harold", "resource")
    assert before.items() <= notes(world).items()
    assert groups.items() <= {each.id: each.heading for each in world.om.groups("harold")}.items()
    assert (world.om.verify(), set(lasting(client, prefix))) == ([], {-1})


def test_a_file_holds_groups_and_they_stay_where_it_is_read(world, client, prefix):
    fill(world, 20)
    world.om.import_memory(list(world.om.export_memory("harold")), "maud")
    assert world.om.groups("maud")
    assert [each.heading for each in world.om.groups("maud")] == [each.heading for each in world.om.groups("harold")]
    assert text_of(world, "maud") == text_of(world)
    assert (set(lasting(client, prefix)), world.om.verify()) == ({-1}, [])


def test_what_is_erased_stands_in_no_group_and_no_heading_and_the_rest_of_its_group_is_still_named(world):
    world.om.add_line("the vault opens with swordfish", "harold", "t-0")
    world.om.add_line("the vault is in Graz", "harold", "t-0")
    fill(world, 20)
    groups = {each.id for each in world.om.groups("harold")}
    assert "swordfish" in "".join(each.heading for each in world.om.groups("harold"))
    world.om.erase("harold", matching="swordfish")
    assert "swordfish" not in "".join(notes(world).values())
    assert all("swordfish" not in made.text for made in world.om.generations("harold"))
    assert world.om.recall("swordfish", "harold").hits == ()
    left = {each.id for each in world.om.groups("harold")}
    assert left == groups
    assert {entry.name for entry in Catalogued.of(text_of(world), pooled=True).entries if not entry.coarse} == left
    assert world.om.verify() == []


def test_where_modes_change_what_was_condensed_stays_at_the_head_and_no_model_is_shown_the_catalogue(client, prefix):
    world = setting_aside(client, prefix, reflection__mode="condense")
    fill(world, 16)
    condensed = text_of(world)
    world = setting_aside(client, prefix)
    fill(world, 20, start=60)
    made, catalogue = world.om.generations("harold")[-1], Catalogued.of(text_of(world), pooled=True)
    assert (made.origin, made.groups > 0, catalogue.without_entries()) == ("archive", True, condensed)
    assert world.om.verify() == []
    world = setting_aside(client, prefix, reflection__mode="condense")
    fill(world, 16, start=120)
    made = world.om.generations("harold")[-1]
    asked = [each for each in world.model.requests if each.purpose == "reflect"]
    assert asked
    assert not [each for each in asked if INTRO in each.prompt or any(INTRO in text for text in each.observations)]
    assert (made.origin, Catalogued.of(made.text, pooled=True).entries) == ("reflection", catalogue.entries)
    assert (made.groups, world.om.verify()) == (catalogue.groups, [])


@pytest.fixture
def archived(client, prefix, archive_url):
    made = setting_aside(client, prefix, archive__url=archive_url, archive__after="0s")
    yield made
    made.om.close()
    made.services.connection.close()


def archive(world):
    world.sweep()
    return Archiver(world.services).round(10).archived


def told(world):
    groups = world.om.groups("harold")
    notes = [own for group in groups for own in world.om.group(group.id, "harold")]
    return groups, notes, [[hit.id for hit in world.om.recall(f"number{n}", "harold").hits] for n in range(0, 30, 7)]


def test_in_an_archive_groups_are_read_and_found_as_before_and_never_expire(archived, client, prefix):
    world = archived
    fill(world, 20, threads=1)
    before = told(world)
    assert archive(world)
    assert told(world) == before
    assert not list(client.scan_iter(f"{prefix}:{{harold}}:reflected:1"))
    far = world.services.run(FromArchive(lambda home: home.expired(4_102_444_800_000, 100, None)))  # by the year 2100
    assert not [name for _, name, _ in far if name.startswith("reflected")]
    fill(world, 8, threads=1, start=32)
    archive(world)
    assert {own.id for own in before[1]} <= {own.id for own in told(world)[1]}
    assert world.om.verify() == []
    whole = {own.id for own in told(world)[1]} | {own.id for own in world.om.observations("harold")}
    world.om.restore("harold", 0)
    assert ({own.id for own in world.om.observations("harold")}, world.om.verify()) == (whole, [])
