"""What of an answer is no note, and whether there was something to note."""

import re

import pytest
from transcripts import message

from om_api.domain.kept.extractors import TITLE, Extractor
from om_api.domain.tokens import estimate
from om_workers.prompts.answer_filter import AnswerFilter, holds_facts
from om_workers.prompts.library import variants
from om_workers.prompts.parse import parse_batch, parse_observer, parse_reflector
from om_workers.prompts.refusals import refusal
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


def test_notes_that_share_nothing_with_messages_that_hold_facts_are_no_notes_in_any_language():
    told = [message("My flight to Oslo is on Friday, seat 14C. I am allergic to penicillin.")]
    asked = AnswerFilter.of(observing(told))
    for bad in (
        "I must decline.", "This content violates our usage policies.", "Ich kann dabei leider nicht helfen.",
        "我无法协助处理此请求。", "お手伝いできません。", "لا يمكنني المساعدة.", "Keine neuen Beobachtungen.",
        "特になし", "没有新的观察。",
        "No changes since the previous notes.", "null", "[]", "\u200b", "\ufeff", "\u2800", "\u3164", "-", "…", "---",
        "&nbsp;", "<br>", "🔴 (09:15)", "Noted.", "Internal Server Error", "User sent a message.", "1\n* 2\n* 3",
        "User runs a shop in Ghent\n* 🔴 Weekly newsletter since May",
        "I can't help with this. Here are some resources:\n- National hotline\n- A doctor",
    ):  # fmt: skip
        for answer in (
            f"<observations>\n* {bad}\n</observations>",
            f"<observations>\n{bad}\n</observations>",
            f"* {bad}",
        ):
            assert parse_observer(answer, asked=asked).text == "", answer
    for text, honest in (
        (told[0].text(), "User flies to Oslo; penicillin allergy"), (told[0].text(), "Sitz 14C\n* Fliegt bald"),
        (told[0].text(), "用户飞往 Oslo"), ("Ich bin allergisch gegen Penizillin.", "User is allergic to penicillin"),
        ("我的航班是5月3日。", "User's flight is on May 3"), ("我对青霉素过敏。", "用户有青霉素过敏史"),
        ("My name is Ada", "User is Ada"),
        ("저는 페니실린 알레르기가 있어요.", "페니실린 알레르기 있음"), ("My three children hike", "User has 3 kids"),
        ("Hi, how are you?", "User greeted the agent"), (f"{'many words of no use ' * 99} Graz", "In Graz, no use"),
    ):  # fmt: skip
        answer = f"<observations>\n* 🔴 {honest}\n</observations>"
        assert parse_observer(answer, asked=AnswerFilter.of(observing([message(text)]))).text == f"* 🔴 {honest}", text
    long = [message(" ".join(f"helfen {chr(97 + n % 26)}{chr(97 + n // 26)}rd" for n in range(60)))]
    assert AnswerFilter.of(observing(long)).notes("* Helfen war gestern das Thema") == ("", (("unrelated", ""),))
    both = observing({"a": told, "b": BOXES}, ask=batch_request)
    answer = '<observations>\n<thread id="{}">\n* Oslo, 14C\n</thread>\n</observations>'
    for name, noted in (("a", "* Oslo, 14C"), ("b", "")):  # what another thread says is no evidence
        assert parse_batch(answer.format(name), "ab", (), AnswerFilter.of(both))[name].text == noted


def asked_of(*texts):
    return AnswerFilter.of(observing([message(text) for text in texts]))


FLIGHT = asked_of("My flight to Oslo is on Friday, seat 14C. I am allergic to penicillin.")
TRIP = asked_of(
    "Hey, can you help me with my trip? I fly to Oslo on Friday.", "My wife Ingrid comes along, she is vegetarian.",
    "We need a hotel near the opera, at most 180 euros a night, three nights, and no breakfast.",
    "Is the Thon Opera good? I read about mould in the bathrooms there, and about noise from the tram.",
    "Please note that I don't want to talk about work. And I can't walk far because of my knee.",
    "Can I change my seat 14C to one at the window? What does SAS charge for luggage and for lunch?",
    "Dinner on Saturday at the harbour for two, with fish for me. Then a museum: Munch, Fram or Kon-Tiki?",
)  # fmt: skip


def test_answers_about_the_task_are_no_notes_although_they_share_words_with_the_messages():
    for text in (
        "I'm sorry, but as an AI language model I can't help with flight bookings.", "Oslo", "14C", "Oslo: n/a",
        "I am afraid I cannot help with this flight to Oslo.", "No new observations about the flight.",
        "The user provided no new facts about the flight.", "Nothing new was said about the flight.",
        "Request declined: flight bookings are out of scope.", "I'd rather not discuss the flight to Oslo.",
        "My guidelines do not allow me to write about penicillin.", "Keine neuen Informationen zum Flug nach Oslo.",
        "Medical topics such as penicillin are excluded from notes.", "Je ne peux pas vous aider pour ce vol vers Oslo.",
        "Ich darf zu Oslo leider keine Auskunft geben.", "No hay nuevas observaciones sobre Oslo.",
        "Non posso aiutarti con il volo per Oslo.", "Brak nowych informacji o Oslo.", "关于 Oslo 没有新的信息。",
        "Üzgünüm, Oslo konusunda yardımcı olamam.", "К сожалению, я не могу помочь с Oslo.",
        "Oslo についてはお答えできません。", "Oslo 항공편은 도와드릴 수 없습니다.", "عذرًا، لا يمكنني المساعدة بخصوص Oslo.",
    ):  # fmt: skip
        assert FLIGHT.notes(f"* 🔴 (14:30) {text}")[0] == "", text
    for text in (
        "Oslo", "The Oslo hotel.", "Sure! I can help with Oslo.", "Je ne peux pas réserver d'hôtel à Oslo.",
        "The user provided no new facts about the trip to Oslo.",
        "I'm not able to look for a hotel in Oslo near the opera; please contact SAS.",
    ):  # fmt: skip
        assert TRIP.notes(f"* 🔴 (14:30) {text}")[0] == "", text
    tests = asked_of("Run the tests of the billing service in Graz and tell me what fails.")
    assert tests.notes("* I can't run the tests of the billing service")[0] == ""
    note = "* 🔴 Flight to Oslo on Friday, 14C"
    partly = f"{note}\n* I cannot give advice on penicillin, sorry"
    assert FLIGHT.notes(partly) == (note, (("refusal", ""),))


def test_short_negative_and_translated_notes_are_notes():
    visa = "My embassy has not answered yet, I am stuck in Lima without a visa"
    for asked, *texts in (
        (FLIGHT, "User is allergic to penicillin", "Penicillin allergy", "User must not be given penicillin",
         "User cannot fly before Friday", "New fact: user is allergic to penicillin", "El usuario vuela a Oslo",
         "Nutzer darf kein Penizillin; Flug nach Oslo"),
        (TRIP, "User can't walk far because of a knee problem", "I can't walk far because of my knee",
         "User said: I don't want to talk about work, only the trip", "No breakfast needed at the hotel",
         "用户和 Ingrid 去 Oslo", "User asked for help with the trip to Oslo"),
        (asked_of("I moved to Oslo last week"), "User lives in Oslo."),
        (asked_of("I'm vegetarian, what could I cook tonight for four?"), "User is vegetarian"),
        (asked_of(visa), "No news from the embassy about the visa"), (asked_of("我不能吃花生"), "用户不能吃花生"),
        (asked_of("Ich kann am Dienstag nicht kommen"), "Nutzer kann am Dienstag nicht kommen"),
    ):  # fmt: skip
        for text in texts:
            assert asked.notes(f"* 🔴 (14:30) {text}")[0], text


def test_wordless_lines_and_placeholders_are_dropped_and_brackets_in_them_stay():
    for wordless in ("—", "<br>", "\u200b", "\u3164"):
        assert AnswerFilter().notes(f"* box 3\n* {wordless}")[0] == "* box 3", wordless
    fix = "Primary: fix [bug] 3"
    for section, left in (("Primary: [current task]\nSecondary: <pending>", ""), (fix, fix)):
        answer = f"<observations>\n* box 3\n</observations>\n<current-task>\n{section}\n</current-task>"
        assert parse_observer(answer, asked=AnswerFilter.of(observing())).current_task == left


def test_facts_are_what_users_state_in_any_language_and_small_talk_questions_and_results_are_none():
    for text in ("The code of box 3 is 111.", "I moved to Graz", "My sister hates olives", "see https://example.org/x",
                 "call me Sam", "Please never book flights via Frankfurt.", "We decided to use Postgres instead of MySQL.",
                 "Ich bin allergisch gegen Penizillin.", "私はペニシリンアレルギーです。", "我的航班是五月三日。"):  # fmt: skip
        assert holds_facts([message(text)]), text
    for text in ("Hi there!", "haha, thanks a lot", "What is the code of box 3?", "Can you open src/app.py?", "Run the 3 tests",
                 "Danke, bis morgen!", "nice weather, isn't it", "谢谢！", "هل تستطيع مساعدتي؟", ""):  # fmt: skip
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
