"""Messages over HTTP: what is added is there once, whatever it says of itself and however often it is sent."""

import json
import time

import pytest
from recordings import RECORDED, accepted
from refusals import problem
from starlette.testclient import TestClient

from om_api.domain.push_limits import PushLimits
from om_api.http import make_app

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"
NOTHING = {"added": 0, "duplicates": [], "grown": [], "changed": [], "replaced": []}


def test_what_is_added_is_in_the_context_and_a_repetition_adds_nothing(say, ask):
    first, again = say("m-1", "m-2"), say("m-1", "m-2")

    assert first.json() == {**NOTHING, "ids": ["m-1", "m-2"], "added": 2}
    assert again.json() == {**NOTHING, "ids": ["m-1", "m-2"], "duplicates": ["m-1", "m-2"]}
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


def shown(world, thread="t-1"):
    return [message.content for message in world.context(thread).messages]


def test_a_message_that_comes_again_with_more_has_grown_and_its_new_form_is_kept(say, world):
    say("m-1", content="My flight")

    assert say("m-1", content="My flight is on Friday.").json() == {**NOTHING, "ids": ["m-1"], "grown": ["m-1"]}
    assert shown(world) == ["My flight is on Friday."]


def test_a_message_that_grows_once_it_is_sealed_is_kept_with_the_rest_of_it(say, ask, world):
    say("m-1", content="My flight")
    ask("POST", f"{HAROLD}/observe", json={})
    world.settle()

    assert say("m-1", content="My flight is on Friday.").json()["grown"] == ["m-1"]
    assert [(message.id, message.content) for message in world.context().messages] == [("m-1+1", " is on Friday.")]


def test_another_message_under_a_known_id_changes_nothing_and_its_sender_is_told_what_to_do(say, ask, world):
    say("m-1", content="It is on Friday.")
    found = say("m-1", content="It is on Monday.").json()

    assert (found["added"], found["duplicates"], [each["id"] for each in found["changed"]]) == (0, [], ["m-1"])
    assert "with `replace`" in found["changed"][0]["advice"]
    assert shown(world) == ["It is on Friday."]


def test_what_is_raw_is_replaced_where_that_is_asked_for_and_what_was_observed_is_not(say, ask, world):
    def replacing(text):
        given = [{"id": "m-1", "role": "user", "content": text}]
        return ask("POST", f"{THREAD}/messages", json={"messages": given, "replace": True}).json()

    say("m-1", content="It is on Friday.")
    assert replacing("It is on Monday.") == {**NOTHING, "ids": ["m-1"], "replaced": ["m-1"]}
    assert shown(world) == ["It is on Monday."]
    ask("POST", f"{HAROLD}/observe", json={})
    world.settle()
    (changed,) = replacing("It is on Tuesday.")["changed"]
    assert "observed already" in changed["advice"]


# -- a whole history ----------------------------------------------------------------------------------------------------

TALK = ["My flight is on Friday.", "Noted.", "ok", "ok", "Which airport?"]


def sync(ask, *texts, **fields):
    turns = [{"role": "user", "content": text, **fields} for text in texts]
    return ask("POST", f"{THREAD}/sync", json={"messages": turns}).json()


def test_a_history_that_is_sent_again_each_turn_adds_only_what_is_new(ask, world):
    found = [sync(ask, *TALK[:n]) for n in (1, 4, 4, 5)]

    assert [(each["added"], each["known"], each["diverged_at"]) for each in found] == [
        (1, 0, None),
        (3, 1, None),
        (0, 4, None),
        (1, 4, None),
    ]
    assert found[-1]["ids"][:4] == found[1]["ids"]
    assert shown(world) == TALK


def test_a_history_is_known_by_every_process_that_serves_it(ask, settings, ring, world):
    sync(ask, *TALK)
    _, token = ring.create(["harold"], "writer")
    with TestClient(make_app(settings)) as other:
        bearer = {"Authorization": f"Bearer {token}"}
        found = sync(lambda method, path, **given: other.request(method, path, headers=bearer, **given), *TALK, "Oslo.")

    assert (found["added"], found["known"]) == (1, len(TALK))
    assert shown(world) == [*TALK, "Oslo."]


@pytest.mark.parametrize("by", ["messages", "a plain ZADD", "messages with ids"])
def test_what_came_by_another_door_is_known_by_what_it_says(ask, say, world, by):
    sync(ask, *TALK[:2])
    if by == "a plain ZADD":
        member = json.dumps({"role": "user", "content": TALK[2]})
        world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {member: time.time() * 1000})
        world.sweep()
    else:
        say(*["m-3"] if by == "messages with ids" else [""], content=TALK[2])
    found = sync(ask, *TALK)

    assert (found["added"], found["known"], found["diverged_at"]) == (2, 3, None)
    assert shown(world) == TALK


def test_a_history_of_which_only_the_beginning_was_synced_adds_nothing_that_was_added_as_messages(ask, say, world):
    for n in range(40):
        say(f"m-{n}", content=f"turn {n}")
    found = [sync(ask, *(f"turn {n}" for n in range(some))) for some in (4, 20, 24, 40)]

    assert [(each["added"], each["known"]) for each in found] == [(0, 4), (0, 20), (0, 24), (0, 40)]
    assert len(shown(world)) + world.context().omitted == 40


def test_the_past_that_was_edited_is_told_and_changes_nothing(ask, world):
    sync(ask, *TALK)
    found = sync(ask, "My flight is on Monday.", *TALK[1:])

    assert (found["added"], found["diverged_at"], [each["id"] for each in found["changed"]]) == (0, 0, found["ids"][:1])
    assert "says something else" in found["changed"][0]["advice"]
    assert shown(world) == TALK


def test_where_a_history_goes_on_otherwise_what_is_new_is_added_and_told_from_where_on(ask, world):
    sync(ask, *TALK)
    found = sync(ask, *TALK[:2], "Forget it.", "Why?")

    assert (found["added"], found["known"], found["diverged_at"]) == (2, 2, 2)
    assert shown(world) == [*TALK, "Forget it.", "Why?"]


def test_a_message_of_a_history_that_says_more_by_now_has_grown(ask, world):
    sync(ask, *TALK[:2], "Which air")
    found = sync(ask, *TALK[:2], "Which airport?")

    assert (found["added"], found["grown"], found["changed"]) == (0, found["ids"][2:], [])
    assert shown(world) == [*TALK[:2], "Which airport?"]


def test_instructions_before_a_conversation_are_not_kept_and_have_no_id(ask, world):
    turns = [{"role": "system", "content": "Today is Monday."}, {"role": "user", "content": "hi"}]
    found = ask("POST", f"{THREAD}/sync", json={"messages": turns}).json()

    assert (found["ids"][0], found["added"]) == ("", 1)
    assert shown(world) == ["hi"]


def test_a_key_is_held_to_what_it_may_push_to_each_resource(app, ring):
    _, token = ring.create(["harold", "ada"], "writer", limits=PushLimits(messages=0.02))
    head = {"Authorization": f"Bearer {token}"}

    def push(resource, *names):
        given = {"messages": [{"id": name, "role": "user", "content": "hello"} for name in names]}
        return app.post(f"/v1/resources/{resource}/threads/t-1/messages", json=given, headers=head)

    assert push("harold", "m-1", "m-2").status_code == 200
    refused = push("harold", "m-3")
    assert "this key may push 0.02 messages a second to harold" in problem(refused, 429)["detail"]
    assert refused.json()["stored"] is False
    assert 90 < int(refused.headers["retry-after"]) <= 100
    assert push("harold", "m-2", "m-1").json()["duplicates"] == ["m-2", "m-1"]
    assert push("ada", "m-3").status_code == 200


def test_a_key_is_held_to_it_by_sync_too(app, ring):
    _, token = ring.create(["harold"], "writer", limits=PushLimits(bytes=1))

    def sync(*texts):
        given = {"messages": [{"role": "user", "content": text} for text in texts]}
        return app.post(f"{THREAD}/sync", json=given, headers={"Authorization": f"Bearer {token}"})

    assert sync("one", "two").status_code == 200
    assert sync("one", "two").status_code == 200
    assert "1 bytes a second" in problem(sync("one", "two", "three"), 429)["detail"]
