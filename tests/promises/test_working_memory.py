"""Working memory: what an Actor keeps is always before it, is never silently lost, and never moves what stands before it."""

import pytest
from world import World

from om_api import InvalidInputError
from om_api.domain.errors import NotFoundError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

TEMPLATE = """
# User
- **Name**: what they are called
- **City**:
## Work
- Deadline: when it is due
- Prefers:
"""
NOTES = "<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) User wrote messages in t-1\n</observations>"


def _world(client, prefix, model=None, **settings):
    return World(client, prefix, model, **{"working_memory__template": TEMPLATE, **settings})


@pytest.fixture
def house(client, prefix) -> World:
    return _world(client, prefix)


def _activated(world, thread="t-1"):
    world.say(*[f"message {n} of {thread}" for n in range(12)], thread=thread)
    world.settle()
    world.context(thread)


def _prefix(world, thread="t-1"):
    return [block.text for block in world.context(thread).blocks if block.stable]


def _said(world, thread="t-1"):
    return world.context(thread).text


def test_what_is_kept_is_before_every_thread_at_once(house):
    house.say("hello", thread="t-2")
    done = house.om.update_working_memory({"Name": "Ada", "City": "Graz"}, "harold", by="lotte")
    assert (done.outcome, done.working_memory.version, done.working_memory.by) == (Outcome.UPDATED, 1, "lotte")
    for thread in ("t-1", "t-2"):
        assert "- **Name**: Ada\n- **City**: Graz\n## Work\n- Deadline: when it is due" in _said(house, thread)
    house.om.update_working_memory({"City": None, "Prefers": ["tea", "rain"]}, "harold")
    assert house.om.working_memory("harold").fields == {"Name": "Ada", "Prefers": ["tea", "rain"]}
    assert house.om.update_working_memory({"Name": "Ada"}, "harold").outcome is Outcome.REST
    replaced = house.om.update_working_memory({"City": "Rome"}, "harold", replace=True)
    assert replaced.working_memory.fields == {"City": "Rome"}


def test_between_two_activations_nothing_before_the_messages_moves(house):
    _activated(house)
    house.om.update_working_memory({"City": "Graz"}, "harold")
    before = _prefix(house)
    notes = [block.text for block in house.context().blocks if block.kind == "observations"]
    house.om.update_working_memory({"City": "Rome", "Name": "Ada"}, "harold")
    assert _prefix(house) == before
    assert "Changed since:\n- Name: Ada\n- City: Rome" in _said(house)
    _activated(house)
    assert "- **Name**: Ada\n- **City**: Rome" in "\n".join(_prefix(house))
    assert "Changed since" not in _said(house)
    assert [block.text for block in house.context().blocks if block.kind == "observations"][: len(notes)] == notes
    assert [block.kind for block in house.context().blocks if block.stable][-2:] == ["kept", "continuation"]


def test_two_who_change_at_once_lose_nothing(house):
    """Time 0: both read version 1. Time 1: one writes its field. Time 2: the other one's is written beside it."""
    read = house.om.update_working_memory({"Name": "Ada"}, "harold").working_memory
    house.om.update_working_memory({"City": "Graz"}, "harold")
    told = house.om.update_working_memory({"City": "Rome"}, "harold", version=read.version)
    assert (told.outcome, told.working_memory.fields) == (Outcome.SUPERSEDED, {"Name": "Ada", "City": "Graz"})
    assert house.om.update_working_memory({"Prefers": "tea"}, "harold").working_memory.fields == {"Name": "Ada",
        "City": "Graz", "Prefers": "tea"}  # fmt: skip


def test_what_cannot_be_kept_is_told_and_changes_nothing(house):
    house.om.update_working_memory({"Name": "Ada"}, "harold")
    refused = [
        ({"Nmae": "Ada"}, "no field of the working memory: it has Name, City, Deadline, Prefers; did you mean 'Name'"),
        ({"Name": {"first": "Ada"}}, "Name: use text, a number or a list"),
        ({"City": "x " * 2_000}, "tokens: at most 1,000"),
        ([], "fields are an object"),
        ({"City": "\ud800"}, "what JSON cannot"),
        ({"City": float("nan")}, "what JSON cannot"),
        ({3: "Graz"}, "what JSON cannot"),
    ]
    for given, said in refused:
        with pytest.raises(InvalidInputError, match=said):
            house.om.update_working_memory(given, "harold")
    assert house.om.working_memory("harold").version == 1


def test_each_thread_may_have_its_own(client, prefix):
    world = _world(client, prefix, working_memory__scope="thread")
    world.om.update_working_memory({"City": "Graz"}, "harold", "t-1")
    assert world.om.working_memory("harold", "t-2").fields == {}
    assert "Graz" in _said(world)
    assert "Graz" not in _said(world, "t-2")
    with pytest.raises(InvalidInputError, match="name the thread_id"):
        world.om.working_memory("harold")


def test_an_observer_proposes_and_the_actor_has_the_last_word(client, prefix):
    proposed = f'{NOTES}\n<working-memory>\n{{"City": "Rome", "Name": "Ada"}}\n</working-memory>'
    world = _world(client, prefix, Scripted(*[proposed] * 8), working_memory__observe="true")
    om = world.om
    _activated(world)
    before = _prefix(world)
    om.update_working_memory({"City": "Graz"}, "harold")
    assert "- **Name**: Ada\n- **City**: Rome" in "\n".join(before)
    assert _prefix(world) == before
    assert "Changed since:\n- City: Graz" in _said(world)
    assert om.working_memory("harold").fields == {"Name": "Ada", "City": "Graz"}
    world.model = Scripted(*["<observations>\nDate: Dec 4, 2025\n* 🟡 all\n</observations>"] * 8)
    om.force_reflect("harold")
    world.settle()
    assert om.working_memory("harold").fields == {"Name": "Ada", "City": "Graz"}
    assert om.update_working_memory({"Name": None}, "harold").working_memory.fields == {"City": "Graz"}
    assert om.undo_working_memory("harold").working_memory.fields == {"Name": "Ada", "City": "Graz"}


def test_an_actor_keeps_by_a_tool_and_hears_what_went_wrong(house):
    tool = house.om.working_memory_tool("harold", "anthropic")
    said = house.om.answer_working_memory(
        {"name": tool["name"], "input": {"fields": {"City": "</working-memory>"}}}, "harold"
    )
    assert list(tool["input_schema"]["properties"]["fields"]["properties"]) == ["Name", "City", "Deadline", "Prefers"]
    assert said.startswith("Your working memory says now:")
    assert "&lt;/working-memory>" in said
    assert "Nothing was changed: 'Town' is no field" in house.om.answer_working_memory(
        {"fields": {"Town": "x"}}, "harold"
    )
    assert "Nothing was changed: a call needs fields" in house.om.answer_working_memory('{"City": "x"}', "harold")
    assert _said(house).count("</working-memory>") == 1


def test_a_memory_goes_there_and_back_with_what_is_kept(house):
    house.say("hello")
    house.om.update_working_memory({"Name": "Ada"}, "harold")
    house.om.update_working_memory({"Name": "Bo"}, "harold", by="lotte")
    pieces = list(house.om.export_memory("harold"))
    house.om.import_memory(pieces, "olga")
    assert house.om.working_memory("olga").fields == {"Name": "Bo"}
    assert house.om.undo_working_memory("olga").working_memory.fields == {"Name": "Ada"}
    assert house.om.verify() == []


def test_a_change_can_be_taken_back_and_that_too_back_to_the_first(house):
    om, undone = house.om, lambda: house.om.undo_working_memory("harold").working_memory.fields
    with pytest.raises(NotFoundError, match="no former version"):
        om.undo_working_memory("harold")
    om.update_working_memory({"City": "Graz"}, "harold")
    assert (undone(), undone()) == ({}, {"City": "Graz"})
    om.update_working_memory({"City": "Rome"}, "harold")
    assert (undone(), undone()) == ({"City": "Graz"}, {"City": "Rome"})


def test_what_is_erased_is_found_nowhere_and_whoever_read_it_before_writes_nothing_back(house):
    om = house.om
    for city in ("Graz in Styria", "Rome"):
        om.update_working_memory({"City": city, "Name": "Ada"}, "harold", by="lotte")
    read = om.working_memory("harold")
    assert om.erase("harold", matching="styria").outcome is Outcome.CLEARED
    assert [each.fields for each in om.working_memory_versions("harold")] == [{"Name": "Ada"}]
    assert om.working_memory("harold").fields == {"Name": "Ada", "City": "Rome"}
    assert b"Styria" not in str(house.client.hgetall(f"{house.prefix}:{{harold}}:working")).encode()
    om.erase("harold", matching="rome")
    assert om.update_working_memory({"City": "Rome"}, "harold", version=read.version).outcome is Outcome.SUPERSEDED
    assert om.working_memory("harold").fields == {"Name": "Ada"}
