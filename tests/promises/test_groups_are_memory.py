"""What is set aside in groups is memory like any other: undone, moved, exported, cleared, erased, pinned."""

import pytest
from world import World

from om_api.domain.notes.catalogue import INTRO, Catalogued
from om_api.domain.values import Outcome


def setting_aside(client, prefix, **changed):
    fields = {
        "message_threshold": "400",
        "observation_threshold": "400",
        "reflection__mode": "archive",
        "reflection__drain": "false",
        **changed,
    }
    return World(client, prefix, **fields)


@pytest.fixture
def world(client, prefix):
    return setting_aside(client, prefix)


def fill(world, turns, threads=2, start=0):
    for n in range(start, start + turns):
        world.say(f"fact number{n} of it " + "and more " * 8, thread=f"t-{n % threads}")
        world.tick()


def notes(world):
    """Every note there is, in view or set aside, by id."""
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
    fill(world, 40)
    before, groups, n = notes(world), world.om.groups("harold"), len(world.om.generations("harold"))

    assert world.om.restore("harold", n - 1) is Outcome.RESTORED
    assert notes(world) == before
    assert {each.generation for each in groups} - {each.generation for each in world.om.groups("harold")} == {n}
    assert world.om.verify() == []
    assert world.om.restore("harold", n) is Outcome.RESTORED
    assert notes(world) == before
    assert {each.id for each in world.om.groups("harold")} == {each.id for each in groups}
    assert set(lasting(client, prefix)) == {-1}
    assert world.om.verify() == []


def test_everything_can_be_brought_back_into_view(world):
    fill(world, 40)
    before = notes(world)

    assert world.om.restore("harold", 0) is Outcome.RESTORED
    assert {own.id: own.text for own in world.om.observations("harold")} == before
    assert world.om.groups("harold") == []
    assert INTRO not in world.context().text


def test_a_move_to_threads_and_back_keeps_every_group_under_its_name(world, client, prefix):
    fill(world, 45)
    before, groups = notes(world), {each.id: each.heading for each in world.om.groups("harold")}
    named = {entry.name for entry in Catalogued.of(text_of(world), pooled=True).entries}
    world.settle()
    assert world.om.migrate_scope("harold", "thread") is not Outcome.BUSY

    apart = [text_of(world, thread=f"t-{n}") for n in range(2)]
    assert {entry.name for text in apart for entry in Catalogued.of(text, pooled=False).entries} == named
    assert {each.id: each.heading for each in world.om.groups("harold")} == groups
    assert world.om.verify() == []
    fill(world, 24, start=90)
    assert world.om.verify() == []
    world.settle()
    world.om.migrate_scope("harold", "resource")
    assert before.items() <= notes(world).items()
    assert groups.items() <= {each.id: each.heading for each in world.om.groups("harold")}.items()
    assert world.om.verify() == []
    assert set(lasting(client, prefix)) == {-1}
    fill(world, 32, start=130)
    assert before.items() <= notes(world).items()
    assert world.om.generations("harold")[-1].groups >= len(groups)


def test_a_file_holds_groups_and_they_stay_where_it_is_read(world, client, prefix):
    fill(world, 32)
    imported = world.om.import_memory(list(world.om.export_memory("harold")), "maud")

    assert imported.resource == "maud"
    assert [each.heading for each in world.om.groups("maud")] == [each.heading for each in world.om.groups("harold")]
    assert text_of(world, "maud") == text_of(world)
    assert set(lasting(client, prefix)) == {-1}
    assert world.om.verify() == []


def test_clearing_a_thread_takes_its_groups_and_their_headings(world):
    fill(world, 32)
    world.om.clear("harold", "t-0")

    assert {each.thread_id for each in world.om.groups("harold")} == {"t-1"}
    assert {entry.thread for entry in Catalogued.of(text_of(world), pooled=True).entries} == {"t-1"}
    assert world.om.verify() == []


def test_clearing_all_leaves_nothing(world, client, prefix):
    fill(world, 32)
    world.om.clear("harold")

    assert world.om.groups("harold") == []
    assert not list(client.scan_iter(f"{prefix}:{{harold}}:reflected*"))


def test_what_is_erased_stands_in_no_group_and_no_heading_and_the_rest_of_its_group_is_still_named(world):
    world.om.add_line("the vault opens with swordfish", "harold", "t-0")
    world.om.add_line("the vault is in Graz", "harold", "t-0")
    fill(world, 32)
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


def test_a_forgotten_note_leaves_its_group(world):
    fill(world, 32)
    group = world.om.groups("harold")[0]
    first = world.om.group(group.id, "harold")[0]
    world.om.forget(first.id, "harold")

    assert first.id not in notes(world)
    assert first.text.split("\n")[-1] not in text_of(world)
    assert world.om.verify() == []


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_pinned_line_stays_in_view_when_its_note_is_set_aside(client, prefix, scope):
    world = setting_aside(client, prefix, scope=scope)
    world.om.add_line("User never flies", "harold", "t-0")
    pinned = [
        pin.text for pin in [world.om.pin("User never flies", "harold", thread_id="t-0")] and world.om.pins("harold")
    ]
    fill(world, 45, threads=1)

    assert len(world.om.generations("harold")) > 1
    assert "User never flies" in text_of(world, thread="t-0" if scope == "thread" else None)
    assert "User never flies" in world.context("t-0").text
    assert pinned
    assert world.om.verify() == []


def test_what_a_model_condensed_before_stays_at_the_head_word_for_word(client, prefix):
    world = setting_aside(client, prefix, reflection__mode="condense")
    fill(world, 32)
    condensed = text_of(world)
    world = setting_aside(client, prefix)
    fill(world, 45, start=60)
    made = world.om.generations("harold")

    assert made[-1].origin == "archive"
    assert made[-1].groups > 0
    assert Catalogued.of(made[-1].text, pooled=True).without_entries() == condensed
    assert world.om.verify() == []


def test_a_model_that_condenses_again_is_not_shown_the_catalogue_which_stays(client, prefix):
    world = setting_aside(client, prefix)
    fill(world, 32)
    before, catalogue = notes(world), Catalogued.of(text_of(world), pooled=True)
    world = setting_aside(client, prefix, reflection__mode="condense")
    fill(world, 32, start=60)
    made, asked = (
        world.om.generations("harold")[-1],
        [each for each in world.model.requests if each.purpose == "reflect"],
    )

    assert asked
    assert not [each for each in asked if INTRO in each.prompt or any(INTRO in text for text in each.observations)]
    assert made.origin == "reflection"
    assert Catalogued.of(made.text, pooled=True).entries == catalogue.entries
    assert made.groups == catalogue.groups
    assert {each: text for each, text in before.items() if each in notes(world)}.keys() >= {
        own.id for group in world.om.groups("harold") for own in world.om.group(group.id, "harold")
    }
    assert world.om.verify() == []


def test_too_many_small_notes_are_set_aside_too(client, prefix):
    world = setting_aside(client, prefix, observation_threshold="100000", max_observations="10")
    fill(world, 60)

    assert len(world.om.observations("harold")) <= 12
    assert world.om.groups("harold")
    assert world.om.verify() == []


def test_whoever_asks_for_a_reflection_has_all_notes_set_aside(world):
    fill(world, 14)
    world.settle()
    assert world.om.observations("harold")
    world.om.force_reflect("harold")
    world.settle()

    assert world.om.observations("harold") == []
    assert world.om.groups("harold")


def test_a_heading_shows_no_beginning_of_what_was_erased_or_forgotten(world):
    world.om.add_line(
        "the safe behind the third picture opens with the word swordfish and with nothing else at all, " + "so " * 50,
        "harold",
        "t-0",
    )
    fill(world, 32)
    assert "third picture" in text_of(world)
    world.om.erase("harold", matching="nothing else at all")
    assert all("third picture" not in made.text for made in world.om.generations("harold"))
    first = next(own for own in world.om.group(world.om.groups("harold")[0].id, "harold"))
    said = first.text.split("\n")[-1].split("of it")[0].split("fact")[1].strip()
    world.om.forget(first.id, "harold")

    assert f"{said} " not in text_of(world)
    assert world.om.verify() == []
