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
SCHEMA = "{type: object, properties: {plan: {type: object}, tries: {type: integer}}}"
NOTES = "<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) User wrote\n</observations>"


def _world(client, prefix, model=None, **settings):
    return World(client, prefix, model, **{"working_memory__template": TEMPLATE, **settings})


@pytest.fixture
def house(client, prefix) -> World:
    return _world(client, prefix)


def _activated(world, thread="t-1"):
    """An activation: a window's worth of messages, observed."""
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
    assert house.om.working_memory("harold").fields == {"Name": "Ada", "City": "Graz"}
    for thread in ("t-1", "t-2"):
        assert "- **Name**: Ada\n- **City**: Graz\n## Work\n- Deadline: when it is due" in _said(house, thread)


def test_a_field_is_changed_and_all_others_stay(house):
    house.om.update_working_memory({"Name": "Ada", "City": "Graz"}, "harold")

    assert (
        house.om.update_working_memory({"City": None, "Prefers": ["tea", "rain"]}, "harold").outcome is Outcome.UPDATED
    )
    assert house.om.working_memory("harold").fields == {"Name": "Ada", "Prefers": ["tea", "rain"]}
    assert house.om.update_working_memory({"Name": "Ada"}, "harold").outcome is Outcome.REST
    assert house.om.update_working_memory({"City": "Rome"}, "harold", replace=True).working_memory.fields == {
        "City": "Rome"
    }


def test_between_two_activations_nothing_before_the_messages_moves(house):
    _activated(house)
    house.om.update_working_memory({"City": "Graz"}, "harold")
    before = _prefix(house)

    house.om.update_working_memory({"City": "Rome"}, "harold")
    house.om.update_working_memory({"Name": "Ada"}, "harold")

    assert _prefix(house) == before
    assert "Changed since:\n- Name: Ada\n- City: Rome" in _said(house)
    _activated(house)
    after = _prefix(house)
    assert after != before
    assert "- **Name**: Ada\n- **City**: Rome" in "\n".join(after)
    assert "Changed since" not in _said(house)


def test_an_activation_only_appends_before_it(house):
    _activated(house)
    house.om.update_working_memory({"City": "Graz"}, "harold")
    notes = [block.text for block in house.context().blocks if block.kind == "observations"]

    _activated(house)

    assert [block.text for block in house.context().blocks if block.kind == "observations"][: len(notes)] == notes
    assert [block.kind for block in house.context().blocks if block.stable][-2:] == ["kept", "continuation"]


def test_two_who_change_at_once_lose_nothing(house):
    """Time 0: both read version 1. Time 1: one writes its field. Time 2: the other one's is written beside it."""
    read = house.om.update_working_memory({"Name": "Ada"}, "harold").working_memory

    house.om.update_working_memory({"City": "Graz"}, "harold")
    told = house.om.update_working_memory({"City": "Rome"}, "harold", version=read.version)

    assert told.outcome is Outcome.SUPERSEDED
    assert told.working_memory.fields == {"Name": "Ada", "City": "Graz"}
    assert house.om.update_working_memory({"Prefers": "tea"}, "harold").working_memory.fields == {
        "Name": "Ada",
        "City": "Graz",
        "Prefers": "tea",
    }


def test_a_change_can_be_taken_back_and_that_too(house):
    for city in ("Graz", "Rome"):
        house.om.update_working_memory({"City": city}, "harold")

    assert house.om.undo_working_memory("harold", by="lotte").working_memory.fields == {"City": "Graz"}
    assert house.om.undo_working_memory("harold").working_memory.fields == {"City": "Rome"}
    assert [each.fields for each in house.om.working_memory_versions("harold")] == [
        {"City": "Graz"},
        {"City": "Rome"},
        {"City": "Graz"},
    ]


def test_the_first_change_can_be_taken_back(house):
    house.om.update_working_memory({"City": "Graz"}, "harold")

    assert house.om.undo_working_memory("harold").working_memory.fields == {}
    assert house.om.undo_working_memory("harold").working_memory.fields == {"City": "Graz"}


def test_what_was_never_changed_cannot_be_taken_back(house):
    with pytest.raises(NotFoundError, match="no former version"):
        house.om.undo_working_memory("harold")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"Nmae": "Ada"},
            "'Nmae' is no field of the working memory: it has Name, City, Deadline, Prefers; did you mean 'Name'",
        ),
        ({"Name": {"first": "Ada"}}, "Name: use text, a number or a list"),
        ({"City": "x " * 2_000}, "tokens: at most 1,000"),
        ([], "fields are an object"),
        ({"City": "\ud800"}, "what JSON cannot"),
        ({"City": float("nan")}, "what JSON cannot"),
        ({"City": {"Graz"}}, "what JSON cannot"),
        ({3: "Graz"}, "what JSON cannot"),
    ],
)
def test_what_cannot_be_kept_is_told_and_changes_nothing(house, given, said):
    house.om.update_working_memory({"Name": "Ada"}, "harold")

    with pytest.raises(InvalidInputError, match=said):
        house.om.update_working_memory(given, "harold")
    assert house.om.working_memory("harold").version == 1


def test_a_schema_is_kept_to(client, prefix):
    world = World(client, prefix, working_memory__json_schema=SCHEMA)
    world.om.update_working_memory({"plan": {"first": "read", "then": "write"}}, "harold")
    world.om.update_working_memory({"plan": {"then": None, "last": "sleep"}}, "harold")

    assert world.om.working_memory("harold").fields == {"plan": {"first": "read", "last": "sleep"}}
    with pytest.raises(InvalidInputError, match="tries: 'two' is not of type 'integer'"):
        world.om.update_working_memory({"tries": "two"}, "harold")


def test_each_thread_may_have_its_own(client, prefix):
    world = _world(client, prefix, working_memory__scope="thread")
    world.om.update_working_memory({"City": "Graz"}, "harold", "t-1")

    assert world.om.working_memory("harold", "t-2").fields == {}
    assert "Graz" in _said(world)
    assert "Graz" not in _said(world, "t-2")
    with pytest.raises(InvalidInputError, match="name the thread_id"):
        world.om.working_memory("harold")


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_memory_of_threads_shows_the_resources_as_a_whole_at_the_end(client, prefix, scope):
    world = _world(client, prefix, scope=scope)
    _activated(world)
    world.om.update_working_memory({"City": "Graz"}, "harold")
    last = world.context().blocks[-1]

    assert ("- **City**: Graz" in last.text) == (scope == "thread")
    assert ("Changed since:\n- City: Graz" in last.text) == (scope == "resource")
    assert "Graz" in _said(world)


def test_an_observer_proposes_and_the_actor_has_the_last_word(client, prefix):
    proposed = f'{NOTES}\n<working-memory>\n{{"City": "Rome", "Name": "Ada"}}\n</working-memory>'
    world = _world(client, prefix, Scripted(*[proposed] * 8), working_memory__observe="true")
    world.say(*[f"message {n}" for n in range(12)], timestamp=1_763_600_000_000)
    world.om.update_working_memory({"City": "Graz"}, "harold")
    world.settle()

    assert "- **Name**: Ada\n- **City**: Graz" in _said(world)
    assert world.om.working_memory("harold").fields == {"Name": "Ada", "City": "Graz"}


def test_the_first_change_of_what_an_observer_proposed_moves_no_prefix(client, prefix):
    proposed = f'{NOTES}\n<working-memory>\n{{"City": "Rome"}}\n</working-memory>'
    world = _world(client, prefix, Scripted(*[proposed] * 8), working_memory__observe="true")
    _activated(world)
    before = _prefix(world)
    world.om.update_working_memory({"Name": "Ada"}, "harold")

    assert "- **City**: Rome" in "\n".join(before)
    assert _prefix(world) == before
    assert "Changed since:\n- Name: Ada" in _said(world)


def test_what_an_observer_proposed_is_emptied_replaced_and_brought_back(client, prefix):
    proposed = f'{NOTES}\n<working-memory>\n{{"City": "Rome", "Name": "Ada"}}\n</working-memory>'
    world = _world(client, prefix, Scripted(*[proposed] * 8), working_memory__observe="true")
    world.say(*[f"message {n}" for n in range(12)], timestamp=1_763_600_000_000)
    world.settle()
    world.context("t-1")
    om = world.om

    assert om.working_memory("harold").fields == {"Name": "Ada", "City": "Rome"}
    assert om.update_working_memory({"City": None}, "harold").working_memory.fields == {"Name": "Ada"}
    assert om.update_working_memory({"City": "Graz"}, "harold", replace=True).working_memory.fields == {"City": "Graz"}
    assert om.undo_working_memory("harold").working_memory.fields == {"Name": "Ada"}


def test_what_was_proposed_outlives_every_reflection(client, prefix):
    proposed = f'{NOTES}\n<working-memory>\n{{"Name": "Ada"}}\n</working-memory>'
    world = _world(client, prefix, Scripted(*[proposed] * 9), working_memory__observe="true")
    _activated(world)
    world.model = Scripted(*["<observations>\nDate: Dec 4, 2025\n* 🟡 all\n</observations>"] * 8)
    world.om.force_reflect("harold")
    world.settle()

    assert world.om.generations("harold")
    assert world.om.working_memory("harold").fields == {"Name": "Ada"}
    assert "- **Name**: Ada" in _said(world)


def test_what_is_erased_is_found_nowhere(house):
    for city in ("Graz in Styria", "Rome"):
        house.om.update_working_memory({"City": city, "Name": "Ada"}, "harold", by="lotte")

    erased = house.om.erase("harold", matching="styria")

    assert erased.outcome is Outcome.CLEARED
    assert [each.fields for each in house.om.working_memory_versions("harold")] == [{"Name": "Ada"}]
    assert house.om.working_memory("harold").fields == {"Name": "Ada", "City": "Rome"}
    assert b"Styria" not in str(house.client.hgetall(f"{house.prefix}:{{harold}}:working")).encode()


def test_whoever_read_before_an_erasure_writes_nothing_back(house):
    house.om.update_working_memory({"City": "Graz in Styria"}, "harold")
    read = house.om.working_memory("harold")
    house.om.erase("harold", matching="styria")

    assert house.om.update_working_memory({"Name": "Ada"}, "harold", version=read.version).outcome is Outcome.SUPERSEDED
    assert house.om.working_memory("harold").fields == {}


def test_what_is_cleared_is_gone(client, prefix):
    world = _world(client, prefix, working_memory__scope="thread")
    for thread in ("t-1", "t-2"):
        world.say("hello", thread=thread)
        world.om.update_working_memory({"City": "Graz"}, "harold", thread)

    world.om.clear("harold", "t-1")
    assert world.om.working_memory("harold", "t-1").version == 0
    assert world.om.working_memory("harold", "t-2").fields == {"City": "Graz"}
    world.om.clear("harold")
    assert world.om.working_memory("harold", "t-2").version == 0
    assert not world.client.exists(f"{prefix}:{{harold}}:working")


def test_a_thread_that_changed_its_id_keeps_what_it_kept(client, prefix):
    world = _world(client, prefix, working_memory__scope="thread")
    for thread in ("t-1", "t-2"):
        world.say("hello", thread=thread)
    world.om.update_working_memory({"City": "Graz", "Name": "Ada"}, "harold", "t-2")
    world.om.update_working_memory({"City": "Rome"}, "harold", "t-1")

    world.om.alias_thread("t-2", "t-1", "harold")

    for name in ("t-1", "t-2"):
        assert world.om.working_memory("harold", name).fields == {"Name": "Ada", "City": "Rome"}
    world.om.update_working_memory({"City": "Oslo"}, "harold", "t-2")
    assert world.om.working_memory("harold", "t-1").fields["City"] == "Oslo"
    fields = world.client.hkeys(f"{prefix}:{{harold}}:working")
    assert not [name for name in fields if name.endswith(b":t-2")]


def test_a_copy_goes_on_with_what_the_thread_kept(client, prefix):
    world = _world(client, prefix, working_memory__scope="thread")
    world.say("hello")
    world.om.update_working_memory({"City": "Graz"}, "harold", "t-1")
    world.om.copy_thread("t-1", "t-9", "harold")

    world.om.update_working_memory({"City": "Rome"}, "harold", "t-9")

    assert world.om.working_memory("harold", "t-1").fields == {"City": "Graz"}
    assert world.om.working_memory("harold", "t-9").fields == {"City": "Rome"}


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


def test_an_agent_without_fields_is_told_how_to_have_some(world):
    with pytest.raises(InvalidInputError, match=r"set working_memory\.template"):
        world.om.working_memory("harold")
