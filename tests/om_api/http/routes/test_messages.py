"""Messages over HTTP: what is added is there once, whatever it says of itself and however often it is sent."""

import json

from recordings import RECORDED, accepted
from refusals import problem

from om_api.domain.push_limits import PushLimits
from om_api.http.serving.limits import SMALL_BODY

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"
NOTHING = {"added": 0, "duplicates": [], "grown": [], "changed": [], "replaced": [], "ahead": [], "ahead_ms": 0}
TALK = ["My flight is on Friday.", "Noted.", "ok", "ok", "Which airport?"]


def shown(world):
    return [message.content for message in world.context().messages]


def test_what_is_added_is_in_the_context_and_a_repetition_adds_nothing(say, ask, world):
    first, again = say("m-1", "m-2", tokens=0), say("m-1", "m-2", tokens=0)

    assert first.json() == {**NOTHING, "ids": ["m-1", "m-2"], "added": 2}
    assert again.json() == {**NOTHING, "ids": ["m-1", "m-2"], "duplicates": ["m-1", "m-2"]}
    assert [(each.content, each.tokens) for each in world.context().messages] == [("about m-1", 0), ("about m-2", 0)]
    (name,) = ask("POST", f"{THREAD}/messages", json={"messages": [{"role": "user", "content": "hi"}]}).json()["ids"]
    assert len(name) > 20


def test_a_name_comes_back_with_its_message(ask):
    said = {"messages": [{"id": "m-1", "role": "user", "name": "Alice", "content": "hi"}]}
    assert ask("POST", f"{THREAD}/messages", json=said).json()["added"] == 1
    assert ask("GET", f"{THREAD}/messages").json()["items"][0]["name"] == "Alice"
    assert ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()["context"][0]["name"] == "Alice"


def test_what_an_sdk_gave_is_taken_as_it_is(using, world):
    """Catches the message that OpenAI returns for a tool call: it says `refusal`, `audio` and more, each of them null."""
    anybody = using("writer", "*")
    for vendor, said in RECORDED.items():
        added = anybody("POST", f"/v1/resources/{vendor}/threads/t-1/messages", json={"messages": said})
        world.om.add_messages(said, thread_id="t-1", resource_id=f"{vendor}-direct")
        assert added.json()["added"] == len(said), vendor
        direct, over_http = (world.context("t-1", of, max_tokens=100_000) for of in (f"{vendor}-direct", vendor))
        assert accepted(over_http) == accepted(direct), vendor


def test_lone_surrogates_of_small_and_large_bodies_are_replaced(ask, world):
    """JSON.stringify writes such a half as an escape."""
    for n, text in enumerate(("half \ud83d of it", "\udc00" + "x" * SMALL_BODY)):
        body = json.dumps({"messages": [{"id": f"m-{n}", "role": "user", "content": text}]})
        added = ask("POST", f"{THREAD}/messages", content=body, headers={"content-type": "application/json"})
        assert added.json()["added"] == 1, added.text
        assert shown(world)[-1][:6] == ("half \ufffd", "\ufffdxxxxx")[n]


def test_no_message_goes_to_another_resource_and_what_nobody_knows_is_kept_beside_it(ask, world):
    given = {"role": "user", "content": "x", "colour": "red", "annotations": [], "metadata": {"room": 4}}
    given |= {"resource_id": "ada", "resourceId": "ada", "threadId": "t-9", "thread_id": "t-9"}

    assert ask("POST", f"{THREAD}/messages", json={"messages": [given]}).status_code == 200
    (kept,) = world.context("t-1").messages
    assert (kept.content, kept.metadata) == ("x", {"colour": "red", "room": 4})


def test_a_known_id_grows_changes_or_is_replaced(say, ask, world):
    say("m-1", content="It is")
    assert say("m-1", content="It is on Friday.").json() == {**NOTHING, "ids": ["m-1"], "grown": ["m-1"]}
    found = say("m-1", content="It was on Monday.").json()
    assert (found["added"], found["duplicates"], [each["id"] for each in found["changed"]]) == (0, [], ["m-1"])
    assert ("with `replace`" in found["changed"][0]["advice"], shown(world)) == (True, ["It is on Friday."])

    given = {"messages": [{"id": "m-1", "role": "user", "content": "It is on Monday"}], "replace": True}
    replaced = ask("POST", f"{THREAD}/messages", json=given).json()
    assert (replaced, shown(world)) == ({**NOTHING, "ids": ["m-1"], "replaced": ["m-1"]}, ["It is on Monday"])


def test_a_history_that_is_sent_again_each_turn_adds_only_what_is_new(ask, world):
    given = [{"role": "user", "content": text} for text in TALK]
    found = [ask("POST", f"{THREAD}/sync", json={"messages": given[:n]}).json() for n in (1, 4, 4, 5)]

    assert [(each["added"], each["known"]) for each in found] == [(1, 0), (3, 1), (0, 4), (1, 4)]
    assert found[-1]["ids"][:4] == found[1]["ids"]
    assert shown(world) == TALK


def test_a_key_is_held_to_what_it_may_push_to_each_resource(app, ring):
    def push(token, resource, *names, door="messages"):
        given = {"messages": [{"id": name, "role": "user", "content": name} for name in names]}
        head = {"Authorization": f"Bearer {token}"}
        return app.post(f"/v1/resources/{resource}/threads/t-1/{door}", json=given, headers=head)

    _, few = ring.create(["harold", "ada"], "writer", limits=PushLimits(messages=0.02))
    assert push(few, "harold", "m-1", "m-2").status_code == 200
    refused = push(few, "harold", "m-3")
    assert "this key may push 0.02 messages a second to harold" in problem(refused, 429)["detail"]
    assert refused.json()["stored"] is False
    assert 90 < int(refused.headers["retry-after"]) <= 100
    assert push(few, "ada", "m-3").status_code == 200

    _, small = ring.create(["berta"], "writer", limits=PushLimits(bytes=1))
    assert [push(small, "berta", "one", "two", door="sync").status_code for _ in range(2)] == [200, 200]
    assert "1 bytes a second" in problem(push(small, "berta", "one", "two", "three", door="sync"), 429)["detail"]
