"""`om replay`: a recording goes in message by message, and a bad line is named."""

import json
import time

import pytest
from recordings import RECORDED, accepted

CHAT = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"turn {n}"} for n in range(5)]
NAMES = ("--resource", "harold", "--thread", "t-1")


@pytest.fixture
def recording(here):
    file = here / "chat.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in CHAT))
    return file


def test_a_recording_is_added_and_counted(om, recording):
    result = om("replay", str(recording), *NAMES, "--batch", "2")
    assert result.stdout.startswith("added: 5, duplicates: 0, threads: 1 of harold, seconds: ")
    assert "5 messages" in result.stderr


@pytest.mark.parametrize("timed", [0, 1, 3, 5])
def test_messages_without_a_time_or_of_one_second_stay_in_order(om, world, timed):
    second = {"timestamp": "2025-10-06T09:00:00Z"}
    chat = [turn | (second if n < timed else {}) for n, turn in enumerate(CHAT)]
    om("replay", "-", *NAMES, stdin=json.dumps(chat))

    assert [message.content for message in world.context().messages] == [f"turn {n}" for n in range(5)]


def test_a_message_without_a_time_follows_the_one_before_it(om, world):
    chat = [CHAT[0] | {"timestamp": "2025-10-06T09:00:00Z"}, CHAT[1], CHAT[2] | {"timestamp": "2025-10-06T10:00:00Z"}]
    om("replay", "-", *NAMES, stdin=json.dumps(chat))

    assert [message.at - 1759741200000 for message in world.context().messages] == [0, 1, 3600000]


def test_a_recording_that_is_replayed_again_adds_nothing(om_json, recording):
    om_json("replay", str(recording), *NAMES)
    again = om_json("replay", str(recording), *NAMES)

    assert again.pop("seconds") >= 0
    assert again == {"messages": 5, "added": 0, "duplicates": 5, "resources": ["harold"], "threads": 1}


def test_a_chat_is_read_from_stdin(om_json):
    assert om_json("replay", "-", *NAMES, stdin=json.dumps(CHAT, indent=2))["added"] == 5


def test_an_empty_recording_adds_nothing(om_json):
    assert om_json("replay", "-", stdin="")["messages"] == 0


@pytest.mark.parametrize("bad", [b'{"role": "user"}', b"{oops}", b'{"role": "user", "content": "\xff"}', b"7"])
def test_a_bad_line_is_named_and_what_stood_before_it_stays(om, om_json, recording, bad):
    recording.write_bytes(recording.read_bytes() + bad + b"\n" + json.dumps(CHAT[0]).encode())
    result = om("replay", str(recording), *NAMES)

    assert result.exit_code == 2
    assert "line 6" in result.stderr
    assert "The 5 messages before it were sent and stay" in result.stderr
    assert om_json("threads", "harold")[0]["messages"] == 5


def test_a_recording_of_nobody_asks_for_a_name(om, recording):
    result = om("replay", str(recording), "--thread", "t-1")

    assert result.exit_code == 2
    assert "line 1: resource_id is missing" in result.stderr


def test_a_rate_is_kept(om_json, recording):
    began = time.monotonic()
    om_json("replay", str(recording), *NAMES, "--rate", "10")

    assert time.monotonic() - began >= 0.4


def test_a_store_that_goes_away_is_exit_code_3_and_says_what_was_kept(bare, recording):
    result = bare("--url", "redis://127.0.0.1:1/0", "replay", str(recording), *NAMES)

    assert result.exit_code == 3
    assert "The 0 messages before it were sent and stay" in result.stderr


@pytest.mark.parametrize("vendor", RECORDED)
def test_what_a_vendor_was_asked_and_answered_is_replayed_as_it_is(om, world, vendor):
    within = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}
    om("replay", "-", *NAMES, stdin="\n".join(map(json.dumps, RECORDED[vendor])))
    om("replay", "-", "--resource", "ada", "--thread", "t-1", stdin=json.dumps({within[vendor]: RECORDED[vendor]}))
    world.om.add_messages(RECORDED[vendor], thread_id="t-1", resource_id="direct")

    assert len(world.context().messages) == len(RECORDED[vendor])
    assert (
        accepted(world.context("t-1", "ada")) == accepted(world.context()) == accepted(world.context("t-1", "direct"))
    )
