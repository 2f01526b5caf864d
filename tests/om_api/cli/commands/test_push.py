"""`om push`: a message goes in, and is read."""

import json

import pytest


def test_a_pushed_message_is_read_in_the_context(om):
    pushed = om("push", "harold", "t-1", "My flight is on Friday.", "--id", "m-1")

    assert (pushed.exit_code, pushed.stdout) == (0, "m-1 added\n")
    assert "user: My flight is on Friday." in om("context", "harold", "t-1").stdout


def test_the_same_message_again_is_a_duplicate(om_json):
    said = [om_json("push", "harold", "t-1", "first", "--id", "m-1") for _ in range(2)]

    assert said == [{"id": "m-1", "outcome": "added"}, {"id": "m-1", "outcome": "duplicate"}]


def test_a_message_that_says_more_has_grown(om, world):
    om("push", "harold", "t-1", "My flight", "--id", "m-1")
    grown = om("push", "harold", "t-1", "My flight is on Friday.", "--id", "m-1")

    assert (grown.exit_code, grown.stdout) == (0, "m-1 grown\n")
    assert [message.content for message in world.context().messages] == ["My flight is on Friday."]


def test_another_message_under_a_known_id_is_not_kept_and_what_to_do_is_said(om, world):
    om("push", "harold", "t-1", "first", "--id", "m-1")
    changed, told = (om("push", "harold", "t-1", "second", "--id", "m-1", *form) for form in ([], ["--json"]))

    assert changed.exit_code == told.exit_code == 1
    assert changed.stdout.startswith("m-1 changed: message m-1 was kept and says something else: it is still raw")
    assert json.loads(told.stdout) == {
        "id": "m-1",
        "outcome": "changed",
        "advice": changed.stdout.removeprefix("m-1 changed: ").strip(),
    }
    assert [message.content for message in world.context().messages] == ["first"]


def test_what_is_raw_is_replaced_where_that_is_asked_for_and_what_was_observed_is_not(om, om_json, world):
    om("push", "harold", "t-1", "first", "--id", "m-1")
    assert om_json("push", "harold", "t-1", "second", "--id", "m-1", "--replace")["outcome"] == "replaced"
    assert [message.content for message in world.context().messages] == ["second"]

    om("observe", "harold", "--wait", "0")
    world.settle()
    changed = om("push", "harold", "t-1", "third", "--id", "m-1", "--replace")
    assert (changed.exit_code, "it is observed already" in changed.stdout) == (1, True)


def test_a_message_without_an_id_is_told_the_one_it_got(om_json, world):
    pushed = om_json("push", "harold", "t-1", "hello")

    assert pushed == {"id": world.context().messages[0].id, "outcome": "added"}


@pytest.mark.parametrize("text", [["-"], []])
def test_text_is_read_from_stdin(om, text):
    om("push", "harold", "t-1", *text, stdin="grüße\nzwei\n")

    assert "user: grüße\n\tzwei\n" in om("context", "harold", "t-1").stdout


@pytest.mark.parametrize("stdin", ["", "\n", b"\xff\xfe"])
def test_stdin_without_a_text_pushes_nothing(om, stdin):
    result = om("push", "harold", "t-1", stdin=stdin)

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert om("threads", "harold").exit_code == 1  # nobody knows harold


def test_role_and_time_are_kept(om, client, prefix):
    om("push", "harold", "t-1", "hi", "--role", "assistant", "--timestamp", "2025-11-20T01:00:00Z")
    [(member, score)] = client.zrange(f"{prefix}:{{harold}}:messages:t-1", 0, -1, withscores=True)

    assert score == 1763600400000
    assert json.loads(member)["role"] == "assistant"


def test_a_message_as_a_vendor_writes_it_is_pushed_as_it_is(om, world):
    call = {"id": "fc-1", "type": "function_call", "call_id": "c-1", "name": "look", "arguments": "{}"}
    pushed = om("push", "harold", "t-1", "--message", json.dumps(call))
    om("push", "harold", "t-1", "--message", stdin='{"type": "function_call_output", "call_id": "c-1", "output": "4"}')

    assert pushed.stdout == "fc-1 added\n"
    assert [message.role for message in world.context().messages] == ["assistant", "tool"]
    assert world.context().as_openai_responses()[1]["output"] == "4"


@pytest.mark.parametrize("given", ["hello", "[]", '{"role": "robot", "content": "x"}', "[" * 5000])
def test_what_is_no_message_is_not_pushed(om, given):
    result = om("push", "harold", "t-1", "--message", given)

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_a_role_goes_with_a_text_alone(om):
    result = om("push", "harold", "t-1", "--role", "user", "--message", '{"role": "assistant", "content": "x"}')

    assert (result.exit_code, "write the role into the message" in result.stderr) == (2, True)


def test_whoever_speaks_may_be_called_as_vendors_do(om, world):
    om("push", "harold", "t-1", "be brief", "--role", "developer")

    assert world.context().messages[0].role == "system"


def test_what_comes_too_fast_is_told_with_when_to_repeat_it(om, monkeypatch):
    monkeypatch.setenv("OM_PUSH_LIMITS__MESSAGES_PER_SECOND", "0.02")
    om("push", "harold", "t-1", "one")

    refused = om("push", "harold", "t-1", "two", "--id", "m-2")
    assert refused.exit_code == 3
    assert "harold takes 0.02 messages a second (push_limits)" in refused.stderr
    assert "repeat the call with the same ids in" in refused.stderr
