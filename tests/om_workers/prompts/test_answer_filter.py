"""What of an answer is no note, and whether there was something to note."""

import re

import pytest
from transcripts import message

from om_api.domain.kept.extractors import TITLE, Extractor
from om_api.domain.tokens import estimate
from om_workers.prompts.answer_filter import AnswerFilter, holds_facts, refusal
from om_workers.prompts.library import variants
from om_workers.prompts.parse import parse_batch, parse_observer, parse_reflector
from om_workers.prompts.render import batch_request, observer_request, reflector_request

OWN = "Call the user Captain Ahab of the whaler Pequod in every note."
BOXES = [message(f"The code of box {n} is {n * 37}.", id=f"m-{n}") for n in range(3)]
GHENT = "* 🔴 User runs a bookshop in Ghent with two employees, Lotte and Bram (stated Nov 2)"


def observing(messages=BOXES, variant="default", ask=observer_request):
    return ask(messages, [], instruction=OWN, timezone="UTC", temperature=0, timeout=1, previous_tokens=0,
               count=estimate, variant=variant, extractors=(Extractor(slug=TITLE, instruction=""),))  # fmt: skip


def reflecting(notes, variant="default"):
    return reflector_request([notes], target_tokens=99, level=1, instruction=OWN, timezone="UTC", temperature=0,
                             timeout=1, variant=variant)  # fmt: skip


def test_a_prompt_that_is_repeated_is_no_note_task_or_suggestion_in_every_variant():
    for variant in variants():
        request = observing(variant=variant)
        example = re.search("<observations>.*</suggested-response>", request.system, re.DOTALL)[0]
        for answer in (request.system, request.system[:1500], example, f"<observations>\n* 🔴 {OWN}\n</observations>"):
            said = parse_observer(answer, (), AnswerFilter.of(request))
            assert (said.text, said.current_task, said.suggested_response) == ("", "", ""), (variant, answer[:40])
            assert {line.kind for line in said.hollow} == {"echo"}, (variant, answer[:40])
            assert all(len(line.quote) <= 100 for line in said.hollow)
        request = reflecting("* 🔴 the code of box 3 is 111", variant)
        for answer in (request.system, f"* {OWN}"):
            assert parse_reflector(answer, (), AnswerFilter.of(request)).text == "", (variant, answer[:40])
    for title in (
        "What the conversation is about, as a title",
        "I'm sorry, I can't help with that.",
        "No new information",
    ):
        answer = f"<observations>\n* box 3\n</observations>\n<{TITLE}>\n{title}\n</{TITLE}>"
        assert parse_observer(answer, [TITLE], AnswerFilter.of(observing())).extracted == {}, title
    request = observing({"a": BOXES, "b": BOXES}, ask=batch_request)
    example = re.search("<observations>.*</observations>", request.prompt, re.DOTALL)[0]
    said = parse_batch(example.replace("the id of a thread above", "a"), "ab", (), AnswerFilter.of(request))["a"]
    assert (said.text, said.current_task, said.suggested_response) == ("", "", "")


def test_a_note_of_a_message_stays_although_the_prompt_contains_it():
    notes = "* 🔴 (09:00) I run a bookshop in Ghent, my two employees are Lotte and Bram, I said on Nov 2"
    assert parse_reflector(GHENT, (), AnswerFilter.of(reflecting(notes))).text == GHENT
    assert parse_reflector(GHENT, (), AnswerFilter.of(reflecting("* 🔴 User lives in Ghent"))).text == ""
    told = [
        message("My sister runs a bakery in Porto", id="m-1"),
        message("From now on I will commute by train", id="m-2"),
    ]
    lines = "* 🔴 (14:30) User stated their sister runs a bakery in Porto\n* 🔴 User will commute by train from now on"
    assert parse_observer(lines, (), AnswerFilter.of(observing(told))).text == lines
    mixed = f"Date: Nov 2, 2025\n{GHENT}\nDate: Dec 4, 2025\n* 🔴 The code of box 3 is 111\n* No new observations."
    said = parse_reflector(
        f"<observations>\n{mixed}\n</observations>", (), AnswerFilter.of(reflecting("* 🔴 The code of box 3 is 111"))
    )
    assert said.text == "Date: Dec 4, 2025\n* 🔴 The code of box 3 is 111"
    assert [line.kind for line in said.hollow] == ["echo", "nothing"]


def test_refusals_and_empty_answers_are_recognised_in_many_forms_and_similar_facts_are_not():
    hollow = {
        "refusal": ["I'm sorry, I cannot help with that.", "Sorry, but I can't assist with this request.", "I can’t do that.",
                    "As an AI language model, I am unable to process this.", "* I am not able to summarize this chat.",
                    "“I'm sorry, but I won't continue with this.”", "Es tut mir leid, das geht nicht.", "Lo siento, no puedo."],
        "nothing": ["No new observations.", "* 🟢 (10:00) Nothing worth noting.", "None", "There are no new facts to note.",
                    "- No notable information in this conversation", "Nothing new to report."],
    }  # fmt: skip
    for kind, texts in hollow.items():
        for text in texts:
            left, found = AnswerFilter().notes(text)
            assert (left, [line.kind for line in found]) == ("", [kind]), text
            assert AnswerFilter().section(text) == "", text
    for text in ("* 🟡 Agent declined: it cannot help with taxes", "* User: I can't make it on Tuesday",
                 "* None of the tests pass", "* Sorry note sent to Ada", "* User has no new facts",
                 "* No observations of comets since May"):  # fmt: skip
        assert AnswerFilter().notes(text) == (text, ()), text
    assert refusal("I cannot help with Ada's secret") == "I cannot help"  # nothing that a message may have said
    assert AnswerFilter().notes("Date: Dec 4, 2025") == ("", ())


def test_facts_are_what_users_state_and_small_talk_questions_and_results_are_none():
    for text in ("The code of box 3 is 111.", "I moved to Graz", "My sister hates olives", "see https://example.org/x"):
        assert holds_facts([message(text)]), text
    for text in ("Hi there!", "haha, thanks a lot", "What is the code of box 3?", "Can you open src/app.py?", "Run the 3 tests",
                 "Danke, bis morgen!", "nice weather, isn't it", ""):  # fmt: skip
        assert not holds_facts([message(text)]), text
    assert not holds_facts([message("The code of box 3 is 111.", role="assistant")])


@pytest.mark.timeout(20)
def test_no_answer_makes_it_hang():
    asked = AnswerFilter.of(observing())
    for text in (
        "i can" * 40_000,
        "sorry " * 40_000,
        "no new " * 40_000,
        "* " + "user stated " * 20_000,
        "\n".join(["* x"] * 20_000),
    ):
        asked.notes(text)
