"""Groups lose nothing: where notes are set aside instead of condensed, each of them is read by its group, and found."""

import random

from world import World

from om_api.domain.notes.catalogue import Catalogued, written

_WORDS = [f"{a}{b}" for a in ("ba", "ke", "li", "mo", "nu") for b in ("dan", "fel", "gor", "hin", "jur")]


def setting_aside(client, prefix, **changed):
    fields = {"message_threshold": "400", "observation_threshold": "400", "reflection__mode": "archive",
        "reflection__drain": "false", **changed}  # fmt: skip
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


def test_every_note_is_in_view_or_read_word_for_word_by_the_group_that_it_went_to(client, prefix):
    bounds = {"reflection__archive__keep_tokens": "200", "reflection__archive__catalog_tokens": "200"}
    world = setting_aside(client, prefix, max_reflections="1", **bounds)
    seen = fill(world, 40)
    stay = world.om.observations("harold")
    kept = {own.id: own.text for own in stay}
    for group in world.om.groups("harold"):
        notes = world.om.group(group.id, "harold")
        assert {own.group for own in notes} == {group.id}
        assert max(own.to for own in notes if own.thread_id == group.thread_id) <= max(own.from_ for own in stay)
        kept |= {own.id: own.text for own in notes}
    assert len(world.om.groups("harold")) > 5
    assert kept == seen
    (made,) = world.om.generations("harold")
    assert (made.origin, made.cost, made.model) == ("archive", 0.0, "")
    assert world.services.count(written(Catalogued.of(made.text, pooled=True).entries)) <= 200
    assert not [request for request in world.model.requests if request.purpose == "reflect"]
    assert not [key for key in client.scan_iter(f"{prefix}:*reflected*") if client.ttl(key) != -1]
    assert world.om.verify() == []


def test_every_message_is_recalled_by_its_own_words_and_so_is_a_line_that_only_a_person_wrote(client, prefix):
    world = setting_aside(client, prefix)
    world.om.add_line("the xylophone is tuned by Quentin", "harold", "t-0")
    fill(world, 24)
    for n in range(24):
        hits = world.om.recall(f"number{n}", "harold").hits
        assert any(hit.kind == "message" and f"number{n} " in hit.text for hit in hits), n
    (line,) = world.om.recall("xylophone Quentin", "harold").hits
    assert line.kind == "observation"
    assert line.covered_by.startswith("group ")
    assert line.covered_by.split()[1] in world.om.answer_recall({"query": "xylophone"}, "harold")
    assert "xylophone" in world.om.answer_recall({"query": "-", "group": line.covered_by.split()[1]}, "harold")
