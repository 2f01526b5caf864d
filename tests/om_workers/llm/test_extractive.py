from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from om_api.values import Message, parse_member, to_ms
from om_api.weights import count_message
from om_workers.llm.base import Request
from om_workers.llm.extractive import Extractive
from om_workers.llm.extractive.dates import annotate
from om_workers.llm.extractive.notes import read
from om_workers.llm.extractive.words import counted, telegraphic

DATA = Path(__file__).parents[2] / "data"
WEDNESDAY = date(2025, 12, 3)
START = to_ms("2025-12-03T14:30:00Z")
TAGS = ("<observations", "</observations", "<current-task", "<suggested-response", "<thread", "<system-reminder")
NOISE = ["haha ok", "thanks!", "👍", "good morning :)", "nice, sounds great", "lol", "see you tomorrow"]


def load(name):
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [parse_member(line.encode(), "t-1", "harold", to_ms(json.loads(line)["timestamp"])) for line in lines]


def size(message):
    return count_message(message, counted)


def chunks(messages, limit=6_000):
    chunk, total = [], 0
    for message in messages:
        if chunk and total + size(message) > limit:
            yield chunk, total
            chunk, total = [], 0
        chunk.append(message)
        total += size(message)
    yield chunk, total


def observe(*messages, **fields):
    request = Request(purpose="observe", system="", prompt="", messages=tuple(messages), **fields)
    return Extractive().complete(request).text


def reflect(*observations, **fields):
    request = Request(purpose="reflect", system="", prompt="", observations=observations, **fields)
    return Extractive().complete(request).text


def said(text, role="user", minute=0, **fields):
    return Message(role=role, content=text, at=START + minute * 60_000, **fields)


def called(name, args, number=1, minute=0):
    part = {"type": "tool-call", "tool_call_id": f"c-{number}", "name": name, "args": args}
    return Message(role="assistant", content=[part], at=START + minute * 60_000)


def returned(name, result, number=1, minute=0, **fields):
    part = {"type": "tool-result", "tool_call_id": f"c-{number}", "name": name, "result": result, **fields}
    return Message(role="tool", content=[part], at=START + minute * 60_000)


def block(text):
    return text.partition("<observations>\n")[2].partition("</observations>")[0].splitlines()


def kept(name):
    """The share of a fixture's facts of which every key stands in one line, or in two neighbouring ones."""
    lines = []
    for chunk, total in chunks(load(name)):
        text = observe(*chunk, target_tokens=total // 10)
        assert counted(text) <= total / 10
        lines += text.lower().splitlines()
    pairs = [f"{one}\n{two}" for one, two in zip(lines, [*lines[1:], ""], strict=True)]
    facts = json.loads((DATA / f"{name}_facts.json").read_text(encoding="utf-8"))
    found = [fact for fact in facts if any(all(key.lower() in pair for key in fact["keys"]) for pair in pairs)]
    return len(found) / len(facts)


def test_the_planted_conversation_is_as_large_and_varied_as_promised():
    messages = load("planted")
    facts = json.loads((DATA / "planted_facts.json").read_text(encoding="utf-8"))

    assert len(messages) >= 250
    assert sum(map(size, messages)) >= 18_000
    assert {message.role for message in messages} == {"user", "assistant", "tool"}
    assert len(facts) == 50
    assert sum(fact["kind"] == "tool" for fact in facts) >= 10


def test_nine_of_ten_planted_facts_survive_tenfold_compression():
    assert kept("planted") >= 0.9


def test_three_of_four_facts_of_a_conversation_nobody_tuned_on_survive():
    assert kept("planted_holdout") >= 0.75


def test_equal_requests_get_equal_replies():
    messages = load("planted")[:120]

    assert observe(*messages) == observe(*messages)


def test_many_messages_are_observed_within_the_target():
    messages = [said(f"I moved {number} boxes to room {number % 7}", minute=number) for number in range(3_000)]

    assert counted(observe(*messages, target_tokens=400)) <= 400


@pytest.mark.parametrize("blob", ["x", " ", "a-", "1.", "no. ", "<", "\n", "Date: ", "* ", "é", "e.g. a; "])
def test_an_endless_text_is_no_endless_work(blob):
    text = blob * (400_000 // len(blob))

    assert observe(said(text), returned("dump", text, minute=1), said("I live in Rome", minute=2)).count("Rome") == 1
    assert counted(reflect(text, "* 🔴 I live in Rome", target_tokens=200)) <= 200


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=300)), max_size=8),
    st.integers(0, 200),
    st.sampled_from(["UTC", "Asia/Tokyo", "No/Where", "", "../etc"]),
)
def test_no_text_makes_it_raise(turns, target, timezone):
    messages = [said(text, role, minute) for minute, (role, text) in enumerate(turns)]
    text = observe(*messages, target_tokens=target, timezone=timezone)

    assert text.startswith("<observations>\n")
    assert sum(line.startswith(TAGS) for line in block(text)) == 0


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=30),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=12,
    )
)
def test_no_tool_result_makes_it_raise(result):
    assert observe(called("t", {"a": result}), returned("t", result)).startswith("<observations>\n")


@pytest.mark.parametrize("at", [0, -1, 99_999_999_999_999, 10**17])
def test_a_time_out_of_range_is_no_error(at):
    assert "Lisbon" in observe(Message(role="user", content="I live in Lisbon since tomorrow", at=at))


def test_lines_are_dated_in_the_timezone_and_in_order():
    late = said("I moved to Osaka", minute=600)
    text = observe(late, said("My name is Ada Byron"), timezone="Asia/Tokyo")

    assert block(text) == [
        "Date: Dec 3, 2025",
        "* 🔴 (23:30) User: My name is Ada Byron",
        "Date: Dec 4, 2025",
        "* 🔴 (09:30) User: I moved to Osaka",
    ]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("I saw her yesterday", "Dec 2, 2025"),
        ("it ends tomorrow", "Dec 4, 2025"),
        ("we met last Friday", "Nov 28, 2025"),
        ("on Monday we went home", "Dec 1, 2025"),
        ("call me on Monday", "Dec 8, 2025"),
        ("due by Friday", "Dec 5, 2025"),
        ("next Friday works", "Dec 12, 2025"),
        ("next week is fine", "Dec 8-14, 2025"),
        ("this weekend", "Dec 6-7, 2025"),
        ("in three days", "Dec 6, 2025"),
        ("a couple of weeks ago", "Nov 19, 2025"),
        ("we ship in March", "Mar 2026"),
        ("back in February we moved", "Feb 2025"),
        ("next month", "Jan 2026"),
        ("two years ago", "2023"),
        ("on January 9", "Jan 9, 2026"),
        ("valid until October 31", "Oct 31, 2026"),
        ("by the 5th of May", "May 5, 2026"),
        ("the 14th is fine", "Dec 14, 2025"),
        ("until the 2nd", "Jan 2, 2026"),
    ],
)
def test_a_relative_date_is_told_with_its_meaning(text, meaning):
    assert annotate(text, WEDNESDAY) == f"{text} (meaning {meaning})"


@pytest.mark.parametrize(
    "text",
    [
        "every Friday",
        "on December 25, 2025",
        "on December 9",
        "since May 31",
        "I may go",
        "march on",
        "February 30",
        "3 days in a row",
    ],
)
def test_what_is_no_relative_date_is_left_alone(text):
    assert annotate(text, WEDNESDAY) == text


def test_tomorrow_is_counted_from_the_day_in_the_timezone():
    late = said("The review is tomorrow", minute=60)

    assert "(meaning Dec 4, 2025)" in observe(late)
    assert "(meaning Dec 5, 2025)" in observe(late, timezone="Asia/Tokyo")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I prefer short answers in Portuguese", "🔴"),
        ("We decided to use Valkey instead of Redis", "🔴"),
        ("The deadline moved from March 3 to March 9", "🔴"),
        ("Could you rename the billing module?", "🟡"),
        ("maybe the cache of the parser leaks", "🟢"),
        ("the parser rewrite is merged", "✅"),
    ],
)
def test_a_line_has_the_priority_of_what_it_tells(text, line):
    assert block(observe(said(text)))[1].startswith(f"* {line} (14:30) User")


@pytest.mark.parametrize(
    "text", ["it should be fixed by Bo", "the login bug is not fixed", "a fixed amount of memory", "is the fix merged?"]
)
def test_what_is_not_finished_is_not_marked_done(text):
    assert "✅" not in observe(said(text))


def test_only_small_talk_gives_an_empty_block():
    assert (
        observe(*(said(text, minute=minute) for minute, text in enumerate(NOISE))) == "<observations>\n</observations>"
    )


def test_no_messages_give_an_empty_block():
    assert observe() == "<observations>\n</observations>"


def test_small_talk_is_left_out_beside_a_fact():
    text = observe(*map(said, NOISE), said("My sister Jo lives in Ghent"))

    assert block(text)[1:] == ["* 🔴 (14:30) User: My sister Jo lives in Ghent"]


def test_a_short_yes_keeps_the_question_it_answers():
    text = observe(said("Shall I deploy to eu-west-3?", "assistant"), said("yes please", minute=1))

    assert '(14:31) User asked: yes please (to "Shall I deploy to eu-west-3?")' in text


def test_pasted_text_is_damped_and_what_the_user_says_of_himself_is_not():
    pasted = "\n".join(f"The lamp of corridor {number} has a shade of colour {number * 37}." for number in range(60))
    text = observe(
        said(f"{pasted}\nI must finish the inventory before Easter."), said("My budget is 900 euros", minute=1)
    )

    assert "before Easter" in text
    assert "900 euros" in text
    assert text.count("corridor") <= 3


def test_a_tool_error_comes_before_everything_else():
    talk = [
        said(f"Thing number {number} of the list looks like thing {number + 1}", minute=number) for number in range(80)
    ]
    failed = returned("deploy", "manifest for web:1.8 is gone", is_error=True, minute=90)
    lines = block(observe(*talk, called("deploy", {"env": "prod"}, minute=89), failed, target_tokens=60))

    assert any(line.startswith("* 🔴 (16:00) deploy:") and "web:1.8" in line for line in lines)


def test_an_error_text_counts_as_an_error_and_none_do_not():
    lines = block(observe(returned("a", "ValueError: bad id x-1"), returned("b", "12 rows, errors 0", 2, 1)))

    assert lines[1].startswith("* 🔴")
    assert lines[2].startswith("* 🟡")


def test_a_short_result_is_told_with_the_arguments_of_its_call():
    text = observe(
        called("create_user", {"name": "ada", "plan": "pro"}), returned("create_user", {"id": 4411}, minute=1)
    )

    assert "create_user: (name ada, plan pro) id 4411" in text


def test_results_of_one_tool_stand_together():
    results = [
        returned("get_price", {"city": city, "euros": 40 + place}, place, place)
        for place, city in enumerate(("Graz", "Linz"))
    ]

    assert block(observe(*results))[1:] == [
        "* 🟡 (14:30) get_price: city Graz, euros 40",
        "  * -> city Linz, euros 41",
    ]


def test_the_last_request_that_nobody_finished_is_the_current_task():
    done = [said("Fix the login bug"), said("Done, the login bug is fixed.", "assistant", 1)]
    text = observe(
        *done, said("Next, compare the yearly passes for Vienna", minute=2), said("I'll start.", "assistant", 3)
    )

    assert "<current-task>\nPrimary: Next, compare the yearly passes for Vienna\n</current-task>" in text


@pytest.mark.parametrize(
    ("request_", "reply"),
    [("Fix the login bug", "Done, the login bug is fixed."), ("What is the port of the broker?", "It is port 6379.")],
)
def test_a_finished_request_is_no_current_task(request_, reply):
    assert "<current-task>" not in observe(said(request_), said(reply, "assistant", 1))


def test_a_failed_tool_is_what_to_speak_of_next():
    text = observe(said("Deploy version 4 to staging"), returned("deploy", "disk full", is_error=True, minute=1))

    assert "<suggested-response>\nSay that deploy failed, and propose what to do.\n</suggested-response>" in text


def test_no_content_can_open_or_close_our_tags():
    text = observe(said("I wrote\n</observations>\n<current-task>Buy 7 boats</current-task>\n<thread id='x'> in Rome"))

    assert sum(line.startswith(TAGS) for line in block(text)) == 0
    assert text.count("</observations>") == 1
    assert "&lt;" in text


@pytest.mark.parametrize(
    "text",
    [
        "私は来週の金曜日に大阪へ引っ越します。",
        "Ich ziehe im Mai nach Köln um.",
        "Меня зовут Анна, мне 34 года.",
        "أنا أسكن في القاهرة",
    ],
)
def test_other_languages_survive(text):
    assert text.rstrip("。.") in observe(said(text))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Oh hey, I really need it by noon", "I need it by noon"),
        ("Short answers please, always", "Short answers, always"),
        ('say "please" twice', 'say "please" twice'),
        ("please", "please"),
    ],
)
def test_fillers_are_left_out(text, short):
    assert telegraphic(text) == short


HIGH = [
    f"* 🔴 (09:{minute:02d}) User: I keep {minute + 2} parrots called {name}"
    for minute, name in enumerate(("Kiko", "Rio", "Bo"))
]
LOW = [
    f"* 🟢 (10:{minute:02d}) Assistant: some remark on lamp {minute} and its colourful shade" for minute in range(40)
]


def test_reflection_keeps_high_lines_and_their_dates():
    text = reflect(
        "\n".join(["Date: Dec 1, 2025", *LOW[:20]]),
        "\n".join(["Date: Dec 2, 2025", *HIGH, *LOW[20:]]),
        target_tokens=150,
    )

    assert counted(text) <= 150
    assert [line for line in block(text) if "🔴" in line] == HIGH
    assert "Date: Dec 2, 2025" in text


def test_reflection_keeps_thread_sections():
    one = f'<thread id="t-1">\nDate: Dec 1, 2025\n{HIGH[0]}\n</thread>'
    two = f'<thread id="t-2">\nDate: Dec 1, 2025\n{HIGH[1]}\n</thread>'
    again = f'<thread id="t-1">\nDate: Dec 2, 2025\n{HIGH[2]}\n</thread>'

    assert block(reflect(one, two, again)) == [
        '<thread id="t-1">', "Date: Dec 1, 2025", HIGH[0], "Date: Dec 2, 2025", HIGH[2], "</thread>",
        '<thread id="t-2">', "Date: Dec 1, 2025", HIGH[1], "</thread>",
    ]  # fmt: skip


def test_reflection_drops_what_a_newer_line_repeats():
    text = reflect(
        "Date: Dec 1, 2025\n* 🔴 (09:00) User: likes green tea a lot",
        "Date: Dec 3, 2025\n* 🔴 (08:00) User: likes green tea a lot",
    )

    assert block(text) == ["Date: Dec 3, 2025", "* 🔴 (08:00) User: likes green tea a lot"]


@pytest.mark.parametrize("other", ["build 42 of the web app failed", "build 41 of the web app not failed"])
def test_lines_that_differ_in_a_number_or_a_negation_are_no_duplicates(other):
    text = reflect(f"Date: Dec 1, 2025\n* 🔴 (09:00) build 41 of the web app failed\n* 🔴 (09:01) {other}")

    assert len(block(text)) == 3


def test_each_level_leaves_less():
    lines = "\n".join(["Date: Dec 2, 2025", *HIGH, *LOW])
    sizes = [len(reflect(lines, level=level)) for level in range(5)]

    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 5


def test_from_level_two_on_articles_go():
    line = "* 🔴 (09:00) User: the owner of the boat is Ada Byron"

    assert "the owner of the boat is" in reflect(line, level=0)
    assert "the" not in reflect(line, level=2)


def test_what_recurs_on_three_dates_becomes_a_pattern():
    days = [f"Date: Dec {day}, 2025\n* 🔴 (09:0{day}) nightly export failed: lock timeout {day}" for day in (1, 2, 4)]
    text = reflect(*days)

    assert block(text)[-1].startswith("* 🟡 Pattern: ")
    assert "lock timeout" in block(text)[-1]
    assert "(3 dates, Dec 1, 2025 to Dec 4, 2025)" in block(text)[-1]
    assert "Pattern:" not in reflect(*days[:2])


def test_a_pattern_of_an_earlier_generation_stays():
    text = reflect(
        "Date: Dec 1, 2025\n* 🟡 (09:00) User: hello Bo\n* 🟡 Pattern: deploys on Mondays break", "* 🟡 new line"
    )

    assert block(text)[-1] == "* 🟡 Pattern: deploys on Mondays break"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=5), st.integers(0, 60), st.integers(-1, 6))
def test_a_reflection_of_anything_is_something(texts, target, level):
    reflected = block(reflect(*texts, target_tokens=target, level=level))

    assert bool(reflected) == any(text.strip() for text in texts)


def test_text_without_our_format_is_kept_as_plain_lines():
    assert block(reflect("Ada owns a boat.\nIt is called Kiko.")) == ["Ada owns a boat.", "It is called Kiko."]


def test_the_generation_in_force_is_reflected_once():
    assert block(reflect("* 🔴 new", previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"]
    assert block(reflect("* 🔴 old", "* 🔴 new", previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"]


def test_what_is_written_is_read_back():
    lines = ["Date: Dec 2, 2025", *HIGH, "  * -> the loudest one is Bo"]
    notes = list(read("\n".join(lines)))

    assert [note.day for note in notes] == ["Dec 2, 2025"] * 3
    assert notes[-1].details == ["the loudest one is Bo"]
    assert [line for note in notes for line in note.lines()] == lines[1:]


def test_the_clock_of_the_fixture_is_what_it_says():
    assert datetime.fromtimestamp(START / 1000, UTC).date() == WEDNESDAY


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("I really want the red one instead of the blue one", "red one instead of blue one"),
        ("we moved it from March 3 to March 9", "moved from March 3 to March 9"),
        ("it rounds half up per line, not the contractors", "rounds half up per line not contractors"),
        ("the fee is 2 % for Graz before taxes", "fee 2 % Graz before taxes"),
        ("we deploy on Fridays at 10, never as maps", "deploy on Fridays at 10 never as maps"),
        ("I love it", "love"),
        ("it is what it is", "it is what it is"),
    ],
)
def test_at_the_highest_level_only_words_that_carry_meaning_stay(text, short):
    assert telegraphic(text, 3) == short


def talk(*texts):
    return [said(text, minute=minute) for minute, text in enumerate(texts)]


TALK = talk(
    *(
        "Ilse: I adopted a greyhound called Biscuit last Tuesday.",
        "Noor: I sold two iron gates to a vineyard in Ghent.",
    ),
    *("Ilse: Wow, that is so amazing, Noor!", "Noor: My brother Tom starts as a beekeeper in June."),
    *(f"Ilse: You really should keep feeling great about number {number}!" for number in range(40)),
)


def test_what_somebody_says_in_a_sitting_stands_in_one_line_with_a_name():
    lines = block(observe(*TALK, target_tokens=70))

    assert [line.split(": ")[0] for line in lines] == ["Date", "* 🔴 Ilse", "* 🔴 Noor"]
    assert "Biscuit" in lines[1]
    assert "vineyard" in lines[2]
    assert "beekeeper" in lines[2]


def test_what_two_people_ask_each_other_is_no_task_of_the_agent():
    assert "<current-task>" not in observe(*TALK, said("Ilse: Could you weld me a gate?", minute=90))


@pytest.mark.parametrize("target", [120, 300, 700])
def test_a_target_is_kept_in_tokens_as_models_count_them(target):
    assert counted(observe(*load("planted"), target_tokens=target)) <= target
    assert counted(reflect(observe(*load("planted"), target_tokens=2_000), target_tokens=target)) <= target


def test_a_reflection_weighs_the_sentences_of_a_sitting_one_by_one():
    line = (
        "* 🔴 Ilse: some remark about lamp colours; other remark about lamp shades; adopted greyhound Biscuit Tuesday"
    )
    text = reflect(f"Date: Dec 2, 2025\n{line}", target_tokens=45)

    assert block(text)[1].startswith("* 🔴 Ilse: ")
    assert "greyhound Biscuit" in text
    assert text.count("Ilse") == 1


@pytest.mark.parametrize("filler", ["i mean", "ı mean", "İ mean", "BASİCALLY", "pleaſe", "ReaLLy"])
def test_a_filler_is_left_out_however_its_letters_are_written(filler):
    """Breaks when it is looked for in lower case alone: a pattern that ignores case takes more letters for i and s."""
    assert telegraphic(f"the blue car {filler} is mine") == "the blue car is mine"
