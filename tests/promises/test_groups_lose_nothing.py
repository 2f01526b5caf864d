"""Groups lose nothing: where notes are set aside instead of condensed, each of them is read by its group, and found."""

import random

import pytest
from world import World

from om_api.domain.errors import InvalidInputError
from om_api.domain.notes.catalogue import Catalogued, written

_WORDS = [f"{a}{b}" for a in ("ba", "ke", "li", "mo", "nu") for b in ("dan", "fel", "gor", "hin", "jur")]


def setting_aside(client, prefix, **changed):
    fields = {
        "message_threshold": "400",
        "observation_threshold": "400",
        "reflection__mode": "archive",
        "reflection__drain": "false",
        **changed,
    }
    return World(client, prefix, **fields)


def fill(world, turns, threads=3):
    """Say something of its own in each turn; every note that was ever in force, by id."""
    seen, dice = {}, random.Random(7)
    for n in range(turns):
        said = f"{dice.choice(_WORDS)} {dice.choice(_WORDS)} number{n} " + "and more of it " * 4
        world.say(said, thread=f"t-{n % threads}")
        world.tick()
        seen |= {own.id: own.text for own in world.om.observations("harold")}
    return seen


def text_of(world):
    made = world.om.generations("harold")
    return made[-1].text if made else ""


def test_every_note_is_in_view_or_read_word_for_word_by_the_group_that_it_went_to(client, prefix):
    world = setting_aside(client, prefix)
    seen = fill(world, 70)
    kept = {own.id: own.text for own in world.om.observations("harold")}
    for group in world.om.groups("harold"):
        notes = world.om.group(group.id, "harold")
        assert {own.group for own in notes} == {group.id}
        kept |= {own.id: own.text for own in notes}

    assert len(world.om.groups("harold")) > 5
    assert kept == seen
    assert world.om.verify() == []


def test_every_message_is_recalled_by_its_own_words_and_so_is_a_line_that_only_a_person_wrote(client, prefix):
    world = setting_aside(client, prefix)
    world.om.add_line("the xylophone is tuned by Quentin", "harold", "t-0")
    fill(world, 40)
    for n in range(40):
        assert any(
            hit.kind == "message" and f"number{n} " in hit.text for hit in world.om.recall(f"number{n}", "harold").hits
        )
    (line,) = world.om.recall("xylophone Quentin", "harold").hits

    assert line.kind == "observation"
    assert line.covered_by.startswith("group ")
    assert line.covered_by.split()[1] in world.om.answer_recall({"query": "xylophone"}, "harold")
    assert "xylophone" in world.om.answer_recall({"query": "-", "group": line.covered_by.split()[1]}, "harold")


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_the_catalogue_is_never_larger_than_the_setting_says_and_names_every_group(client, prefix, scope):
    world = setting_aside(client, prefix, scope=scope, reflection__archive__catalog_tokens="300")
    count = world.services.count
    for _ in range(4):
        fill(world, 30, threads=1)
        for made in world.om.generations("harold"):
            found = Catalogued.of(made.text, pooled=scope == "resource")
            assert count(written(found.entries)) <= 300
            assert found.groups == made.groups
    named = {entry.name for entry in Catalogued.of(text_of(world), pooled=scope == "resource").entries}
    groups = world.om.groups("harold")
    within = {each.id for period in named if "-" in period for each in world.om.groups("harold", within=period)}

    assert len(groups) > len(named)
    assert {each.id for each in groups} <= named | within
    assert all(len(each.heading) <= 240 for each in groups)


def test_the_prefix_moves_with_a_generation_and_otherwise_only_grows(client, prefix):
    world = setting_aside(client, prefix)
    before, generation = [], 0
    for n in range(60):
        world.say(f"message {n} " + "x" * 40)
        world.tick()
        made = len(world.om.generations("harold"))
        now = [
            block.hash for block in world.context().blocks if block.kind in {"preamble", "reflection", "observations"}
        ]
        if made == generation:
            assert now[: len(before)] == before
        before, generation = now, made
    assert generation >= 2


def test_the_newest_notes_stay_in_view(client, prefix):
    world = setting_aside(client, prefix, reflection__archive__keep_tokens="200")
    fill(world, 40, threads=1)
    stay = world.om.observations("harold")
    aside = [own for group in world.om.groups("harold") for own in world.om.group(group.id, "harold")]

    assert stay
    assert max(own.to for own in aside) <= min(own.from_ for own in stay)


def test_no_model_is_asked_and_nothing_is_paid(client, prefix):
    world = setting_aside(client, prefix)
    fill(world, 40)
    made = world.om.generations("harold")

    assert {each.origin for each in made} == {"archive"}
    assert {each.cost for each in made} == {0.0}
    assert {each.model for each in made} == {""}
    assert not [request for request in world.model.requests if request.purpose == "reflect"]


def test_what_was_set_aside_stays_although_generations_are_trimmed(client, prefix):
    world = setting_aside(client, prefix, max_reflections="1")
    seen = fill(world, 50, threads=1)
    kept = {own.id for group in world.om.groups("harold") for own in world.om.group(group.id, "harold")}

    assert len(world.om.generations("harold")) == 1
    assert kept | {own.id for own in world.om.observations("harold")} == seen.keys()
    assert not [key for key in client.scan_iter(f"{prefix}:*reflected*") if client.ttl(key) != -1]
    first = world.om.groups("harold")[0]
    word = world.om.group(first.id, "harold")[0].text.split("number")[1].split()[0]
    assert any(hit.kind == "observation" for hit in world.om.recall(f"number{word}", "harold").hits)


def test_a_group_is_opened_in_pages_that_make_up_all_of_it(client, prefix):
    world = setting_aside(client, prefix, message_threshold="1000", observation_threshold="1000")
    fill(world, 60)
    group = max(world.om.groups("harold"), key=lambda each: each.notes)
    told, offset = [], 0
    while True:
        text = world.om.answer_recall({"query": "", "group": group.id, "offset": offset}, "harold", max_tokens=90)
        lines = text.split("\n")[1:]
        more = "There is more" in lines[-1]
        told += lines[:-1] if more else lines
        if not more:
            break
        offset = int(lines[-1].split()[-1].rstrip("."))

    assert offset > 0
    assert told == [line for own in world.om.group(group.id, "harold") for line in own.text.split("\n")]


def test_a_name_that_is_none_is_told_what_is(client, prefix):
    world = setting_aside(client, prefix)
    fill(world, 20)

    with pytest.raises(InvalidInputError, match="month such as 2026-03"):
        world.om.group("../x", "harold")
    with pytest.raises(InvalidInputError, match="keeps no group aaaaaaaa"):
        world.om.group("aaaaaaaa", "harold")
    assert "keeps no group" in world.om.answer_recall({"group": "aaaaaaaa"}, "harold")
