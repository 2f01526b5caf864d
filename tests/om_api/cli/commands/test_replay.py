"""`om replay`: a recording goes in message by message, and a bad line is named."""

import gzip
import json
import time

import pytest
from recordings import RECORDED, accepted

CHAT = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"turn {n}"} for n in range(5)]
INSTRUCTIONS = {"system", "developer"}  # which are no part of a history
COUNTS = {"added": 0, "known": 0, "grown": 0, "changed": 0, "instructions": 0}
NAMES = ("--resource", "harold", "--thread", "t-1")


@pytest.fixture
def recording(here):
    file = here / "chat.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in CHAT))
    return file


def test_a_recording_is_added_and_counted(om, recording):
    result = om("replay", str(recording), *NAMES, "--batch", "2")
    assert result.stdout.startswith("added: 5, known: 0, grown: 0, changed: 0, threads: 1 of harold, seconds: ")
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


@pytest.mark.parametrize("named", [False, True], ids=["without ids", "with ids"])
@pytest.mark.parametrize("observed", [False, True], ids=["raw", "observed"])
def test_a_recording_that_is_replayed_again_adds_nothing(om, om_json, world, recording, named, observed):
    if named:
        recording.write_text("\n".join(json.dumps({"id": f"m-{n}", **turn}) for n, turn in enumerate(CHAT)))
    om_json("replay", str(recording), *NAMES, "--batch", "2")
    if observed:
        om("observe", "harold", "--wait", "0")
        world.settle()
    again = om_json("replay", str(recording), *NAMES, "--batch", "3")

    assert again.pop("seconds") >= 0
    (history,) = again.pop("histories")
    assert (history["thread"], len(history["ids"]), history["diverged_at"], again.pop("advice")) == ("t-1", 5, None, [])
    assert again == {**COUNTS, "messages": 5, "known": 5, "resources": ["harold"], "threads": 1}
    assert len(world.covering()) == 5


def test_a_recording_that_went_on_adds_what_is_new_however_often_it_says_the_same(om_json, world):
    """Catches a message that passes for one said before it: of a thousand pings every second half was taken for known."""
    talk = [{"role": "user", "content": "ping"}, {"role": "assistant", "content": "pong"}] * 300
    counts = [om_json("replay", "-", *NAMES, "--batch", "50", stdin=json.dumps(talk[:n])) for n in (320, 470, 600, 600)]

    assert [(each["added"], each["known"]) for each in counts] == [(320, 0), (150, 320), (130, 470), (0, 600)]
    assert len(world.covering()) == 600


def test_threads_that_take_turns_are_each_a_history_of_their_own(om_json, world):
    talk = [{"role": "user", "content": "ok", "thread_id": f"t-{n % 3}"} for n in range(30)]
    counts = [om_json("replay", "-", "--resource", "harold", "--batch", "7", stdin=json.dumps(talk)) for _ in range(2)]

    assert [(each["added"], each["known"], each["threads"]) for each in counts] == [(30, 0, 3), (0, 30, 3)]
    assert len(world.context("t-1").messages) == 10


def test_a_recording_of_what_was_pushed_is_known_by_what_it_says(om, om_json, world):
    for turn in CHAT:
        om("push", "harold", "t-1", "--role", turn["role"], turn["content"])
    replayed = om_json("replay", "-", *NAMES, "--batch", "2", stdin=json.dumps(CHAT))

    assert (replayed["added"], replayed["known"]) == (0, 5)


def test_a_message_that_says_more_in_the_recording_has_grown(om_json, world):
    om_json("replay", "-", *NAMES, stdin=json.dumps([*CHAT[:2], {"role": "user", "content": "turn"}]))
    replayed = om_json("replay", "-", *NAMES, "--batch", "2", stdin=json.dumps(CHAT))

    assert (replayed["added"], replayed["known"], replayed["grown"]) == (2, 2, 1)
    assert [message.content for message in world.context().messages] == [f"turn {n}" for n in range(5)]


def test_what_was_edited_is_not_kept_and_told_with_what_to_do(om, recording, world):
    om("replay", str(recording), *NAMES)
    edited = [CHAT[0], CHAT[1] | {"content": "something else"}, *CHAT[2:], {"role": "user", "content": "more"}]
    replayed = om("replay", "-", *NAMES, "--batch", "3", stdin=json.dumps(edited))

    assert replayed.exit_code == 1
    assert replayed.stdout.startswith("added: 1, known: 4, grown: 0, changed: 1, ")
    assert "harold's thread t-1: from its message 2 on the recording is not what is kept" in replayed.stderr
    assert "was kept and says something else: it is still raw" in replayed.stderr
    assert "om push --id ID --replace" in replayed.stderr
    assert [message.content for message in world.context().messages] == [*(f"turn {n}" for n in range(5)), "more"]


def test_of_many_that_say_something_else_some_are_named_and_the_others_counted(om):
    threads = [f"t-{n}" for n in range(7)]
    said = [{"role": "user", "content": "first", "id": "m-1", "thread_id": thread} for thread in threads]
    om("replay", "-", "--resource", "harold", stdin=json.dumps(said))
    replayed = om("replay", "-", "--resource", "harold", stdin=json.dumps([one | {"content": "2"} for one in said]))

    assert (replayed.exit_code, replayed.stderr.count("changed: message m-1")) == (1, 5)
    assert "changed: 2 more" in replayed.stderr


@pytest.mark.parametrize("batch", ["1", "2", "100"])
def test_instructions_before_a_conversation_are_not_kept_and_that_is_said(om, om_json, world, batch):
    system = {"role": "system", "content": "Be brief."}
    chat = json.dumps([system, system, *CHAT[:2], *[system] * 12, *CHAT[2:]])
    first = om("replay", "-", *NAMES, "--batch", batch, stdin=chat)
    again = om_json("replay", "-", *NAMES, "--batch", batch, stdin=chat)

    assert "2 not kept: instructions (role system)" in first.stderr
    assert again.pop("seconds") >= 0
    assert again.pop("histories")[0]["ids"][:2] == ["", ""]
    assert again.pop("advice") == []
    assert again == {**COUNTS, "messages": 19, "known": 17, "instructions": 2, "resources": ["harold"], "threads": 1}
    assert [message.role for message in world.context().messages].count("system") == 12


def test_a_recording_is_sent_in_time_that_grows_with_its_length(om_json):
    talk = [{"role": "user", "content": f"turn {n}"} for n in range(6_000)]
    seconds = [om_json("replay", "-", *NAMES, stdin=json.dumps(talk))["seconds"] for _ in range(2)]

    assert max(seconds) < 12


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
    assert "line 1: resource_id is missing: write it in the message, or say --resource" in result.stderr


def test_a_rate_is_kept(om_json, recording):
    began = time.monotonic()
    om_json("replay", str(recording), *NAMES, "--rate", "10")

    assert time.monotonic() - began >= 0.4


def test_a_store_that_goes_away_is_exit_code_3_and_says_what_was_kept(bare, recording):
    result = bare("--url", "redis://127.0.0.1:1/0", "replay", str(recording), *NAMES)

    assert result.exit_code == 3
    assert "The 0 messages before it were sent and stay" in result.stderr
    assert "ten minutes" not in result.stderr


@pytest.mark.parametrize("vendor", RECORDED)
def test_what_a_vendor_was_asked_and_answered_is_replayed_as_it_is(om, world, vendor):
    within = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}
    om("replay", "-", *NAMES, stdin="\n".join(map(json.dumps, RECORDED[vendor])))
    om("replay", "-", "--resource", "ada", "--thread", "t-1", stdin=json.dumps({within[vendor]: RECORDED[vendor]}))
    talk = [message for message in RECORDED[vendor] if message.get("role") not in INSTRUCTIONS]
    world.om.add_messages(talk, thread_id="t-1", resource_id="direct")

    assert len(world.context().messages) == len(talk)
    assert (
        accepted(world.context("t-1", "ada")) == accepted(world.context()) == accepted(world.context("t-1", "direct"))
    )


def test_a_program_is_told_every_id_and_where_a_history_is_another(om, om_json):
    om("replay", "-", *NAMES, stdin=json.dumps(CHAT))
    edited = [CHAT[0], CHAT[1] | {"content": "something else"}, *CHAT[2:]]
    found = json.loads(om("replay", "-", *NAMES, "--json", stdin=json.dumps(edited)).stdout)
    (history,) = found["histories"]

    assert (history["resource"], history["thread"], history["diverged_at"]) == ("harold", "t-1", 1)
    assert len(history["ids"]) == 5
    assert len(found["advice"]) == found["changed"] == 1


def test_a_recording_that_gzip_packed_is_read_as_it_is(om_json, recording):
    packed = recording.with_name("chat.jsonl.gz")
    packed.write_bytes(gzip.compress(recording.read_bytes()))

    assert om_json("replay", str(packed), *NAMES)["added"] == 5


@pytest.mark.parametrize("keep", [20, 60])
def test_a_packed_recording_that_was_cut_off_is_said_to_be(om, recording, keep):
    recording.write_bytes(gzip.compress(recording.read_bytes())[:keep])
    result = om("replay", str(recording), *NAMES)

    assert result.exit_code == 2
    assert "was cut off, or is no whole gzip file" in result.stderr


def test_what_is_packed_on_stdin_is_said_to_be(om):
    result = om("replay", "-", *NAMES, stdin=gzip.compress(b"hello"))

    assert result.exit_code == 2
    assert "unpack it first (gunzip -c FILE | om replay -)" in result.stderr
