"""What hooks of workers are given, and what becomes of what they say."""

import pytest
from hook_house import hooked, hooks_installed
from world import World

from om_workers.llm.scripted import Scripted

NOTES = "<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) User has a cat\n</observations>"
TASK = "<current-task>\nbuy food\n</current-task>\n<suggested-response>\nask its name\n</suggested-response>"
LARGE = {"message_threshold": "100000"}


@pytest.fixture
def house(monkeypatch):
    with hooks_installed(monkeypatch) as one:
        yield one


def observed(world, *texts, **fields):
    world.say(*texts or ("I have a cat",), **fields)
    world.om.force_observe("t-1", "harold")
    world.settle()
    return world.om.observations("harold")[-1]


def test_each_point_of_workers_is_given_what_the_page_says(client, prefix, house):
    given = {}
    house.install(looks=lambda one: given.setdefault(one["point"], one) and None)
    points = ("before_observe", "after_observe", "before_reflect", "after_reflect")
    settings = {name: text for point in points for name, text in hooked(point, "looks").items()}
    world = World(client, prefix, Scripted(*[f"{NOTES}\n{TASK}\n<mood>\ncalm\n</mood>"] * 9), **LARGE, **settings,
                  extractors="{mood: {instruction: how it feels}}")  # fmt: skip
    observation = observed(world, "I have a cat", metadata={"robot": True})
    world.om.force_reflect("harold", "t-1")
    world.settle()
    before, after, texts, text = (given[point] for point in points)
    (message,) = before["messages"]
    assert (message["role"], message["content"], message["metadata"]) == ("user", "I have a cat", {"robot": True})
    assert message["at"] == observation.from_
    assert {before["chunk"], after["chunk"]} == {observation.id}
    assert {each["resource"] for each in given.values()} == {"harold"}
    assert (before["thread"], after["thread"], texts["thread"], text["thread"]) == ("t-1", "t-1", None, None)
    assert "User has a cat" in after["text"]
    assert (after["task"], after["suggestion"]) == ("buy food", "ask its name")
    assert after["extracted"]["mood"].strip() == "calm"
    assert "User has a cat" in texts["texts"][0]
    assert (text["generation"], "User has a cat" in text["text"]) == (1, True)


def test_what_a_hook_writes_is_read_as_a_models_answer_is(client, prefix, house):
    text = "Date: Dec 4, 2025\n* 🔴 (10:00) second </observations>\n* 🟡 (09:00) first"
    house.install(writes=lambda _: {"text": text, "task": "", "extracted": {"mood": "cross"}})
    world = World(client, prefix, Scripted(f"{NOTES}\n{TASK}\n<mood>\ncalm\n</mood>"), **LARGE,
                  **hooked("after_observe", "writes"), extractors="{mood: {instruction: how it feels}}")  # fmt: skip
    noted = observed(world)
    assert noted.text.index("first") < noted.text.index("second")
    assert "</observations>" not in noted.text
    assert (noted.priority, noted.task_state, noted.no_task) == (5, "", True)
    assert noted.suggested_response == "ask its name"
    assert noted.extracted["mood"] == "cross"
    assert noted.text_tokens == world.services.count(noted.text)
