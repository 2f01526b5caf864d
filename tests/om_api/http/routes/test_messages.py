"""Messages over HTTP: what is added is there once, whatever it says of itself."""

import pytest
from recordings import RECORDED, accepted

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


def test_what_is_added_is_in_the_context_and_a_repetition_adds_nothing(say, ask):
    first, again = say("m-1", "m-2"), say("m-1", "m-2")

    assert first.json() == {"ids": ["m-1", "m-2"], "added": 2, "duplicates": []}
    assert again.json() == {"ids": ["m-1", "m-2"], "added": 0, "duplicates": ["m-1", "m-2"]}
    found = ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()
    assert [message["content"] for message in found["context"]][:2] == ["about m-1", "about m-2"]


def test_a_message_without_an_id_is_given_one(ask):
    given = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
    (name,) = ask("POST", f"{THREAD}/messages", json=given).json()["ids"]

    assert "hello" in ask("GET", f"{THREAD}/context").json()["context"]
    assert len(name) > 20


def test_a_message_may_say_that_it_takes_no_tokens(say, world):
    say("m-1", tokens=0)

    assert [message.tokens for message in world.context().messages] == [0]


@pytest.mark.parametrize("vendor", RECORDED)
def test_what_an_sdk_gave_is_taken_as_it_is(ask, world, vendor):
    """Catches the message that OpenAI returns for a tool call: it says `refusal`, `audio` and more, each of them null."""
    added = ask("POST", f"{THREAD}/messages", json={"messages": RECORDED[vendor]})
    world.om.add_messages(RECORDED[vendor], thread_id="t-1", resource_id="direct")

    assert added.json()["added"] == len(RECORDED[vendor])
    assert accepted(world.context("t-1")) == accepted(world.context("t-1", "direct"))


def test_no_message_goes_to_another_resource_than_the_key_may_write(ask, world):
    given = {"role": "user", "content": "x", "resource_id": "ada", "resourceId": "ada", "threadId": "t-9"}

    assert ask("POST", f"{THREAD}/messages", json={"messages": [given]}).status_code == 200
    assert world.context("t-1").text == "user: x"
