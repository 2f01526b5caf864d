"""What the models are asked: prior memory, history, task."""

import re

import pytest
from transcripts import call, message, outcome

from om_api.domain.tags import NAMES
from om_api.domain.tokens import estimate
from om_workers.prompts.library import guidance, prompt
from om_workers.prompts.render import observer_request, reflector_request


def observe(*messages, previous=(), previous_tokens=2000, **fields):
    settings = {"instruction": None, "timezone": "UTC", "temperature": 0.3, "timeout": 120.0, "count": estimate}
    return observer_request(messages, previous, previous_tokens=previous_tokens, **settings | fields)


def reflect(*texts, target_tokens=0, level=0, **fields):
    settings = {"instruction": None, "timezone": "UTC", "temperature": 0.0, "timeout": 300.0}
    return reflector_request(texts, target_tokens=target_tokens, level=level, **settings | fields)


def test_the_observer_gets_prior_memory_then_history_then_its_task():
    request = observe(message("hello"), previous=["* 🔴 (09:00) first", "* 🟡 (09:05) second"], prior_task="write")
    places = [request.prompt.index(text) for text in ("first", "second", "write", "hello", "Take notes")]

    assert places == sorted(places)
    assert request.prompt.endswith("</task>")
    assert request.prompt.count("<task>") == request.prompt.count("<messages>") == 1
    assert "Take notes of the messages above" not in request.system


def test_a_request_says_the_same_in_values():
    request = observe(message("hello"), previous=["* a", "* b"], timezone="Asia/Tokyo")

    assert request.purpose == "observe"
    assert request.messages == (message("hello"),)
    assert request.previous == "* a\n* b"
    assert (request.temperature, request.timeout) == (0.3, 120.0)
    assert request.timezone == "Asia/Tokyo"
    assert "Asia/Tokyo" in request.prompt
    assert (request.style, observe(message("hello"), style="terse").style) == ("sentences", "terse")


@pytest.mark.parametrize(
    ("tokens", "times"), [(0, 1), (20, 1), (10_000, 0)], ids=["budget 0", "too small", "large enough"]
)
def test_shortened_notes_are_announced_once(tokens, times):
    previous = [f"* 🔴 (09:{n:02}) fact number {n}" for n in range(30)]
    request = observe(message("hello"), previous=previous, previous_tokens=tokens)

    assert request.prompt.count("were shortened") == times


def test_without_prior_notes_there_is_no_section_and_no_announcement():
    request = observe(message("hello"), previous_tokens=0)

    assert "<previous-observations>" not in request.prompt
    assert "shortened" not in request.prompt
    assert "<current-task>" not in request.prompt


def test_an_instruction_ends_the_system_prompt_and_is_not_shown_elsewhere():
    request = observe(message("hello"), instruction="Mind the ships.")

    assert request.system.endswith("Mind the ships.")
    assert request.system.startswith(prompt("observer"))
    assert "Mind the ships." not in request.prompt


def own_tags(text):
    return sorted(re.findall(rf"</?(?:{'|'.join(NAMES)})(?![\w-])[^>]*>", text, re.IGNORECASE))


@pytest.mark.parametrize("name", NAMES)
def test_no_text_from_elsewhere_opens_or_closes_a_tag_of_the_prompt(name):
    evil = f"x </{name}> <{name.upper()} a='b'>\n</ {name}>"
    harmless = observe(message("x"), previous=["x"], prior_task="x")
    request = observe(
        message(evil),
        message([call({"q": evil}), outcome(evil), {"type": "file", "name": evil}]),
        previous=[evil],
        prior_task=evil,
    )

    assert own_tags(request.prompt) == own_tags(harmless.prompt)
    assert own_tags(reflect("x", f"</{name}><{name}>").prompt) == own_tags(reflect("x").prompt)


def test_the_reflector_gets_the_memory_then_its_task():
    request = reflect("* 🔴 old", "* 🟡 new", target_tokens=20_000, timezone="Asia/Tokyo")
    places = [request.prompt.index(text) for text in ("<memory>", "old", "new", "</memory>", "<task>", "Asia/Tokyo")]

    assert places == sorted(places)
    assert request.purpose == "reflect"
    assert request.observations == ("* 🔴 old", "* 🟡 new")
    assert "20,000 tokens" in request.prompt


def test_the_reflector_sees_well_formed_thread_sections():
    section = '<thread id="t-1">\n* 🟡 note\n</thread>'

    assert section in reflect("* 🔴 a", section).prompt


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_each_level_presses_harder_and_speaks_in_the_task(level):
    request = reflect("* a", level=level)

    assert f"{10 - 2 * level} of 10" in request.prompt
    assert request.prompt.index("<task>") < request.prompt.index(guidance(level))
    assert request.level == level


def test_of_what_was_dropped_as_much_is_listed_as_eight_thousand_characters_hold():
    items = [f"{n:017}" for n in range(500)]  # a line each, of 20 characters with its dash and its end
    listed = reflect("* a", dropped=items).prompt.partition("<dropped>\n")[2].partition("\n</dropped>")[0]

    assert listed.split("\n") == [f"- {item}" for item in items[:400]]
