"""What an agent was shown of its memory is not observed again; what is said about memory is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import World

from om_api.context.stable import CONTINUATION, PREAMBLE
from om_api.tokens import estimate
from om_api.values import Message
from om_workers.llm.extractive import Extractive
from om_workers.llm.scripted import Scripted
from om_workers.prompts.parse import parse_observer
from om_workers.prompts.recalled import NOTE, heard, without_memory
from om_workers.prompts.render import format_messages, observer_request

AT = 1764839700000  # Dec 4 2025, 9:15 AM UTC
NOTES = "<observations>\nDate: Dec 3, 2025\n* 🔴 (10:00) User keeps bees in Graz\n</observations>"
REFLECTED = '<reflection>\n<thread id="t-1">\n* 🔴 User keeps bees in Graz\n</thread>\n</reflection>'
EXCERPT = '<unobserved-context thread="t-2">\n[2025-12-03 10:00] user: my bees moved to Graz\n</unobserved-context>'
TODAY = f"<system-reminder>\nToday is Thursday, December 4, 2025 (UTC).\n{EXCERPT}\n</system-reminder>"
MEMORY = [NOTES, REFLECTED, EXCERPT, CONTINUATION, TODAY, PREAMBLE, f"{PREAMBLE}\n\n{REFLECTED}\n\n{NOTES}"]
SETTINGS = {"previous_tokens": 0, "instruction": None, "timezone": "UTC", "temperature": 0.3, "timeout": 120.0}


def message(content, role="user", **fields):
    return Message(role=role, content=content, at=AT, **fields)


def result(value):
    return message([{"type": "tool-result", "tool_call_id": "c1", "name": "recall", "result": value}], "tool")


def request(*messages):
    return observer_request(messages, [], count=estimate, **SETTINGS)


def seen(*messages):
    return format_messages(messages, "UTC", estimate)


def spoken(made):
    """All texts in the values of a request."""
    return " ".join(json.dumps(each.content) for each in made.messages)


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_memory_in_a_message_is_replaced_by_a_note_and_what_stands_beside_it_is_heard(memory, role):
    made = request(message(f"I moved to Ghent.\n\n{memory}\n\nAnd I bought a boat.", role))

    assert made.prompt.count(NOTE) == 1
    for text in (made.prompt, spoken(made)):
        assert "Ghent" in text
        assert "boat" in text
        assert "bees" not in text
        assert "remember" not in text


@pytest.mark.parametrize("memory", MEMORY)
def test_memory_in_what_a_tool_returns_or_is_given_is_not_observed_again(memory):
    stored = {"prompt": [{"role": "system", "content": f"You are Harold.\n\n{memory}"}]}
    call = {"type": "tool-call", "tool_call_id": "c1", "name": "save", "args": {"text": memory}}
    made = request(result(stored), result(json.dumps(stored)), message([{**call, "args": json.dumps(stored)}, call]))

    for text in (made.prompt, spoken(made)):
        assert "bees" not in text
        assert "You are Harold." in text


@pytest.mark.parametrize("form", ["as_openai", "as_anthropic", "as_gemini", "text"])
def test_a_context_that_an_agent_stores_whole_brings_none_of_its_notes_back(client, prefix, form):
    world = World(client, prefix)
    world.say(*(f"message {n} about bees " + "x" * 400 for n in range(6)))
    world.om.force_observe(resource_id="harold")
    world.settle()
    context = world.context()
    made = getattr(context, form)
    stored = json.dumps(made(), ensure_ascii=False) if callable(made) else made

    assert "bees" in stored
    assert "bees" not in seen(message(stored))
    assert "bees" not in heard(message(stored)).content


@pytest.mark.parametrize(
    "text",
    [
        "What does the <observations> tag do?",
        "<observations>\nis a tag I want to parse\n</observations>",
        "Write <reflection>\nwhat went well\n</reflection> at the end",
        "<reflection>\nI should have asked first.\n</reflection>",
        "<observations> and </observations>\nDate: Dec 3\n* 🔴 mine",
        "Explain <system-reminder> to me",
        "Today is Thursday, December 4, 2025 (my birthday).",
        "# What you remember\nis the title of my poem",
        '<div class="observations">\n* 🔴 x\n</div>',
        "* 🔴 (10:00) a list in our own form, without a block",
    ],
)
def test_who_talks_of_memory_is_heard(text):
    assert without_memory(text) == text


def test_a_tag_that_the_user_wrote_before_a_block_does_not_take_their_words_with_it():
    text = f"<observations>\nwhat is this block?\n{NOTES}\nand this?"

    assert without_memory(text) == f"<observations>\nwhat is this block?\n{NOTE}\nand this?"


def test_a_block_that_was_cut_off_goes_as_far_as_it_is_notes():
    cut = NOTES.removesuffix("</observations>")

    assert without_memory(f"{cut}  * -> detail\nand now to something else") == f"{NOTE}\nand now to something else"
    assert without_memory(CONTINUATION[:80]) == NOTE


def test_reflected_prose_behind_our_preamble_is_memory_too():
    text = f"{PREAMBLE}\n\n<reflection>\nThe user keeps bees.\n</reflection>\n\nYou are Harold."

    assert without_memory(text) == f"{NOTE}\n\nYou are Harold."


def test_a_message_that_is_nothing_but_memory_leaves_nothing_to_note():
    made = request(message(NOTES, id="m-1"))
    answer = parse_observer(Extractive().complete(made).text)

    assert seen(message(NOTES)).split("\n")[-1] == f"User (9:15 AM): {NOTE}"
    assert (made.messages[0].id, made.messages[0].content) == ("m-1", "")
    assert (answer.text, answer.readable) == ("", True)


def test_messages_without_anything_to_see_ask_for_nothing_and_say_so():
    made = request(message(" "))

    assert "there is nothing to note" in made.prompt.split("<task>")[0]
    assert parse_observer(Scripted.echo().complete(made).text).readable


def test_reminders_of_others_are_no_words_of_the_user_for_models_of_values_either():
    made = request(message("<system-reminder>Buy bees.</system-reminder>\nI moved to Ghent."))

    assert made.messages[0].content.strip() == "I moved to Ghent."


def test_a_message_without_memory_is_passed_on_as_it_is():
    plain = message([{"type": "text", "text": "hello"}, {"type": "image", "url": "https://x.test/a.png"}], tokens=7)

    assert heard(plain) is plain


def test_what_is_sealed_as_memory_is_covered_without_being_noted(client, prefix):
    world = World(client, prefix)
    world.model = Extractive()
    (stored,) = world.say(NOTES)
    world.om.force_observe(resource_id="harold")
    world.settle()
    (observation,) = world.om.observations("harold")

    assert (observation.message_ids, observation.text) == ((stored,), "")


@given(st.lists(st.sampled_from([*MEMORY, "said", "\n", " ", "<observations>\n", "\n</observations>"]), max_size=8))
def test_memory_is_found_wherever_it_stands(pieces):
    text = "\n".join(pieces)

    assert "bees" not in without_memory(text)
    assert PREAMBLE in text or without_memory(text).count("said") == text.count("said")
    assert without_memory(without_memory(text)) == without_memory(text)


@pytest.mark.parametrize("line", [*MEMORY, "<observations>", "</observations>", "<system-reminder>Today is ", "* 🔴 x"])
@pytest.mark.timeout(20)
def test_no_message_makes_the_search_hang(line):
    text = f"<observations>\n{line}\n" * 3_000

    assert isinstance(without_memory(text + "x"), str)
