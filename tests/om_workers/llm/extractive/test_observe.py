from datetime import UTC, datetime

import pytest
from extracts import START, WEDNESDAY, block, load, observe, reflect, returned, said

from om_workers.llm.extractive.notes import counted


def test_equal_requests_get_equal_replies():
    messages = load("planted")[:120]

    assert observe(*messages) == observe(*messages)


def test_many_messages_are_observed_within_the_target():
    messages = [said(f"I moved {number} boxes to room {number % 7}", minute=number) for number in range(3_000)]

    assert counted(observe(*messages, target_tokens=400)) <= 400


def test_lines_are_dated_in_the_timezone_and_in_order():
    late = said("I moved to Osaka", minute=600)
    text = observe(late, said("My name is Ada Byron"), timezone="Asia/Tokyo")

    assert block(text) == [
        "Date: Dec 3, 2025",
        "* (23:30) User: My name is Ada Byron",
        "Date: Dec 4, 2025",
        "* 🔴 (09:30) User: I moved to Osaka",
    ]


def test_tomorrow_is_counted_from_the_day_in_the_timezone():
    late = said("The review is tomorrow", minute=60)

    assert "tomorrow (meaning Dec 4)" in observe(late)
    assert "tomorrow (meaning Dec 5)" in observe(late, timezone="Asia/Tokyo")


def test_notes_are_sentences_and_a_gap_is_shown():
    first, last = "I work in IT for the US army since 2019.", "I am never back before 10 AM, 3 weeks a year."
    told = said(f"Hey! {first} It rained so much, it was wet and it seemed as if that would never end. {last}")
    rain = [said(f"It was wet on the hills of day {day} again", minute=day + 1) for day in range(40)]
    (_, line, *_) = block(observe(told, *rain, target_tokens=75))

    assert f"User: {first} … {last}" in line


def test_terse_is_a_choice_and_no_matter_of_room():
    told = said("We moved to the US and I work in IT for 2 years now")
    terse, also = (block(observe(told, target_tokens=room, style="terse"))[1] for room in (60, 6_000))

    assert terse == also == "* 🔴 (14:30) User: moved US work IT for 2 years now"


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25, 0.5])
def test_the_room_is_used_where_there_is_enough_to_tell(share):
    room = int(20_000 * share)

    assert 0.9 * room <= counted(observe(*load("planted"), target_tokens=room)) <= room


def test_more_room_never_takes_what_less_room_kept():
    kept = [len(set(observe(*load("planted"), target_tokens=room).split())) for room in range(500, 12_000, 1_500)]

    assert kept == sorted(kept)


def test_no_messages_give_an_empty_block():
    assert observe() == "<observations>\n</observations>"


def test_the_clock_of_the_fixture_is_what_it_says():
    assert datetime.fromtimestamp(START / 1000, UTC).date() == WEDNESDAY


@pytest.mark.parametrize("target", [120, 300, 700])
def test_a_target_is_kept_in_tokens_as_models_count_them(target):
    assert counted(observe(*load("planted"), target_tokens=target)) <= target
    assert counted(reflect(observe(*load("planted"), target_tokens=2_000), target_tokens=target)) <= target


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


NONE = "<current-task>\nnone\n</current-task>\n<suggested-response>\nnone\n</suggested-response>"


@pytest.mark.parametrize(
    "talk",
    [
        [("assistant", "Bug 7 is fixed; nothing is pending.")],
        [("assistant", "Done, merged as 4.2.")],
        [("user", "I fixed bug 7 myself.")],
        [("user", "What is the port?"), ("assistant", "It is 6379."), ("assistant", "Bug 7 is fixed and deployed.")],
        [("user", "Rename the lib to core"), ("assistant", "Renamed it, everything is done.")],
    ],
)
def test_the_task_before_is_cleared_by_what_says_that_it_is_done(talk):
    messages = [said(text, role, minute) for minute, (role, text) in enumerate(talk)]

    assert observe(*messages, task="Primary: Fix bug 7").endswith(NONE)
    assert "<current-task>" not in observe(*messages)


@pytest.mark.parametrize(
    "talk",
    [
        [("assistant", "I am looking into bug 7.")],
        [("assistant", "Bug 7 is not fixed yet.")],
        [("assistant", "Is bug 7 fixed, and nothing else pending?")],
        [("user", "What is the port of the broker?"), ("assistant", "It is port 6379.")],
        [("user", "Fix the login bug"), ("assistant", "Done, the login bug is fixed.")],
        [("user", "I sent a parcel to Oslo.")],
    ],
)
def test_the_task_before_stands_where_nothing_says_that_it_is_done(talk):
    messages = [said(text, role, minute) for minute, (role, text) in enumerate(talk)]

    assert "<current-task>" not in observe(*messages, task="Primary: Fix bug 7")


def test_the_task_before_gives_way_to_a_new_request():
    text = observe(
        said("Bug 7 is fixed.", "assistant"), said("Deploy it to staging", minute=1), task="Primary: Fix bug 7"
    )

    assert "<current-task>\nPrimary: Deploy it to staging\n</current-task>" in text


def test_of_several_threads_each_has_its_own_task_before():
    talk = {name: (said("Bug 7 is fixed.", "assistant"),) for name in ("a", "b")}
    text = observe(threads=talk, tasks={"a": "Primary: Fix bug 7"})

    assert text.count(NONE) == 1
    assert text.index(NONE) < text.index('<thread id="b">')


def test_a_failed_tool_is_what_to_speak_of_next():
    text = observe(said("Deploy version 4 to staging"), returned("deploy", "disk full", is_error=True, minute=1))

    assert "<suggested-response>\nSay that deploy failed, and propose what to do.\n</suggested-response>" in text
