"""Recall over HTTP, and its tool: what was said is found by its words."""

import json

import msgspec
from refusals import problem

HAROLD = "/v1/resources/harold"
RECALL, TOOL = f"{HAROLD}/recall", f"{HAROLD}/recall-tool"
JSON = {"Content-Type": "application/json"}
ASKED = {"query": "passport"}
CALL = {"id": "c-1", "type": "function", "function": {"name": "recall", "arguments": json.dumps(ASKED)}}


def test_what_is_answered_is_what_the_library_answers(full, ask):
    full.say("My passport number is 4711.", id="early", thread="t-3")
    for query, limits in (("passport number", {}), ("about", {"limit": 3, "around": 2}), ("nothing of it", {})):
        answer = ask("GET", RECALL, params={"q": query, **limits}).json()
        own = msgspec.to_builtins(full.om.recall(query, "harold", **limits), order="sorted")
        assert [answer[name] for name in ("query", "next", "reason")] == [
            own[name] for name in ("query", "next", "reason")
        ]
        for hit, kept in zip(answer["hits"], own["hits"], strict=True):
            assert [hit[key] for key in ("kind", "id", "text")] == [kept[key] for key in ("kind", "id", "text")], query
            assert [len(hit[side]) for side in ("before", "after")] == [len(kept[side]) for side in ("before", "after")]

    (hit,) = ask("GET", RECALL, params={"q": "passport", "role": "user", "around": 0}).json()["hits"]
    assert (hit["id"], hit["thread_id"], hit["role"], hit["matched"]) == ("early", "t-3", "user", ["passport"])
    assert (hit["message"]["at"], hit["message"]["content"]) == (hit["at"], "My passport number is 4711.")
    for params, says in (({}, "query.q: Field required"), ({"q": "x", "after": "nonsense"}, "use a date such as")):
        assert says in problem(ask("GET", RECALL, params=params), 422)["detail"], params


def test_a_message_of_any_tier_is_shown_among_its_thread(full, ask):
    for name in ("a-3", "a-14", "a-19"):
        answer = ask("GET", f"{HAROLD}/messages/{name}/around", params={"before": 2, "after": 1}).json()
        own = full.om.browse(name, "harold", before=2, after=1)
        assert (answer["thread_id"], answer["message"]["id"]) == ("t-1", name)
        for side in ("before", "after"):
            assert [turn["id"] for turn in answer[side]] == [message.id for message in getattr(own, side)]
        assert (answer["earlier"], answer["later"]) == (True, name != "a-19")
    missing = problem(ask("GET", f"{HAROLD}/messages/a-1/around", params={"thread_id": "t-2"}), 404)["detail"]
    assert missing.startswith("harold's thread t-2 keeps no message a-1")
    problem(ask("GET", f"{HAROLD}/messages/a-1/around?before=101"), 422)


def test_a_call_is_answered_as_the_library_does_and_has_room_for_so_many_tokens(world, ask):
    world.say("My passport number is 4711.", id="m-1")
    texts = {ask("POST", TOOL, json=call).json()["text"] for call in (CALL, ASKED)}
    assert texts == {world.om.answer_recall(CALL, "harold")}

    world.say(*(f"passport of guest {n}" for n in range(9)), thread="t-2")
    short = ask("POST", TOOL, params={"max_tokens": 300}, json={"query": "passport guest"}).json()["text"]
    assert (short.count("Thread t-2"), "ask again with offset 1." in short) == (1, True)
    for form in ("openai", "anthropic", "gemini"):
        assert ask("GET", "/v1/recall-tool", params={"format": form}).json() == world.om.recall_tool(form)


def test_a_call_that_finds_nothing_or_cannot_be_carried_out_is_told_why(ask, world):
    world.say("My passport number is 4711.", id="m-1")
    for given, says in [
        ({}, "looked up: a call needs a query"),
        ({"query": "\ud800"}, "found for '\\ud800': the query holds no word"),
        ({"query": "xylophone " * 6_000}, "found for 'xylophone"),
    ]:
        answer = ask("POST", TOOL, content=json.dumps(given), headers=JSON)
        assert answer.status_code == 200, given
        assert answer.json()["text"].startswith(f"Nothing was {says}"), given
        assert len(answer.json()["text"]) < 500, says
    long = problem(ask("POST", TOOL, content=json.dumps({"query": "x" * 100_000}), headers=JSON), 413)["detail"]
    assert long.startswith("the body is larger than the 65,536 bytes")
