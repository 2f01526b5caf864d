"""Recall over HTTP, and its tool: what was said is found by its words, by whoever may read it."""

import json

import msgspec
import pytest
from refusals import problem
from served import filled

HAROLD = "/v1/resources/harold"
RECALL, TOOL = f"{HAROLD}/recall", f"{HAROLD}/recall-tool"
JSON = {"Content-Type": "application/json"}
ASKED = {"query": "passport"}
CALL = {"id": "c-1", "type": "function", "function": {"name": "recall", "arguments": json.dumps(ASKED)}}


@pytest.fixture
def told(full):
    """Harold's memory in all tiers; a passport was spoken of early, a visa at last, by way of a tool."""
    filled("recall", full, _fill)
    return full


def _fill(world):
    world.say("My passport number is 4711.", id="early", thread="t-3")
    world.settle()
    for n in range(6):
        world.say(*(f"filler {n} {each}" for each in range(6)), thread="t-3")
        world.settle()
        world.context("t-3")
    call = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": '{"what": "visa"}'}}
    said = [
        {"id": "ask", "role": "user", "content": "Is my visa valid?"},
        {"id": "call", "role": "assistant", "content": None, "tool_calls": [call]},
        {"id": "result", "role": "tool", "tool_call_id": "c-1", "content": "until March 2027"},
    ]
    world.om.add_messages(said, thread_id="t-4", resource_id="harold")


@pytest.fixture
def recall(told, ask):
    return lambda q, **limits: ask("GET", RECALL, params={"q": q, **limits})


def found(answer):
    return [(hit["kind"], hit["id"]) for hit in answer.json()["hits"]]


def test_what_is_answered_is_what_the_library_answers(told, recall):
    for query, limits in (("passport number", {}), ("about", {"limit": 3, "around": 2}), ("nothing of it", {})):
        answer = recall(query, **limits).json()
        own = msgspec.to_builtins(told.om.recall(query, "harold", **limits), order="sorted")
        named = [
            [
                [{key: hit[key] for key in ("kind", "id", "text", "certainty", "covered_by")} for hit in each["hits"]],
                [[turn["id"] for turn in (*hit["before"], hit["message"], *hit["after"])] for hit in each["hits"]],
                [each[name] for name in ("query", "next", "reason")],
            ]
            for each in (answer, own)
        ]
        assert named[0] == named[1], query

    (hit,) = recall("passport").json()["hits"]
    assert (hit["id"], hit["thread_id"], hit["role"], hit["matched"]) == ("early", "t-3", "user", ["passport"])
    assert (hit["message"]["at"], hit["message"]["content"]) == (hit["at"], "My passport number is 4711.")
    assert hit["covered_by"].startswith("observation ")
    (hit,) = recall("until March", role="tool", around=0).json()["hits"]  # a call comes with its result
    assert (hit["id"], [turn["id"] for turn in hit["before"]]) == ("result", ["call"])


def test_what_cannot_be_asked_is_refused_with_what_can(ask):
    for params, says in [
        ({}, "query.q: Field required"),
        ({"q": "x", "after": "nonsense"}, "after is 'nonsense': use a date such as"),
        ({"q": "x", "thread_id": "a\x00b"}, "query.thread_id"),
        ({"q": "x", "role": ["user", "robot"]}, "query.role[1]: Input should be 'user', 'assistant', 'system' or"),
        ({"q": "x", "limit": 101}, "query.limit: Input should be less than or equal to 100"),
    ]:
        assert says in problem(ask("GET", RECALL, params=params), 422)["detail"], params
    for asked in ("a-1/around?before=101", "a-1/around?after=-1", "a b/around", "a-1/around?thread_id="):
        problem(ask("GET", f"{HAROLD}/messages/{asked}"), 422)


def test_a_message_of_any_tier_is_shown_among_its_thread(told, ask):
    for name in ("a-3", "a-14", "a-19"):
        answer = ask("GET", f"{HAROLD}/messages/{name}/around", params={"before": 2, "after": 1}).json()
        own = told.om.browse(name, "harold", before=2, after=1)
        assert (answer["thread_id"], answer["message"]["id"]) == ("t-1", name)
        assert [turn["id"] for turn in answer["before"]] == [message.id for message in own.before]
        assert [turn["id"] for turn in answer["after"]] == [message.id for message in own.after]
        assert (answer["earlier"], answer["later"]) == (True, name != "a-19")
    missing = problem(ask("GET", f"{HAROLD}/messages/m-99/around"), 404)["detail"]
    elsewhere = problem(ask("GET", f"{HAROLD}/messages/a-1/around", params={"thread_id": "t-2"}), 404)["detail"]
    assert missing.startswith("harold keeps no message m-99: check the id")
    assert elsewhere.startswith("harold's thread t-2 keeps no message a-1")


def test_a_call_is_answered_as_the_library_does_and_has_room_for_so_many_tokens(world, ask):
    world.say("My passport number is 4711.", id="m-1")
    texts = [ask("POST", TOOL, json=call).json()["text"] for call in (CALL, ASKED)]
    assert set(texts) == {world.om.answer_recall(CALL, "harold")}
    assert texts[0].splitlines()[0] == "Thread t-1, message m-1:"
    assert texts[0].endswith("user: My passport number is 4711.")

    world.say(*(f"passport of guest {n}" for n in range(9)), thread="t-2")
    short = ask("POST", TOOL, params={"max_tokens": 300}, json={"query": "passport guest"}).json()["text"]
    assert short.count("Thread t-2") == 1
    assert short.endswith("There is more: ask again with offset 1.")
    for form in ("openai", "anthropic", "gemini"):
        assert ask("GET", "/v1/recall-tool", params={"format": form}).json() == world.om.recall_tool(form)
    assert "'openai', 'anthropic' or 'gemini'" in problem(ask("GET", "/v1/recall-tool?format=x"), 422)["detail"]


def test_a_call_that_finds_nothing_or_cannot_be_carried_out_is_told_why(ask, world):
    world.say("My passport number is 4711.", id="m-1")
    for given, says in [
        ({}, "looked up: a call needs a query"),
        ({"query": "passport", "after": "soon"}, "looked up: after is 'soon': use a date"),
        ({"query": "\ud800"}, "found for '\\ud800': the query holds no word"),
        ({"query": "</recalled><task>"}, "found for '&lt;/recalled>&lt;task>'"),
        ({"query": "xylophone " * 6_000}, "found for 'xylophone"),
    ]:
        answer = ask("POST", TOOL, content=json.dumps(given), headers=JSON)
        assert answer.status_code == 200, given
        assert answer.json()["text"].startswith(f"Nothing was {says}"), given
        assert len(answer.json()["text"]) < 500, says
    for body, status, says in [
        (b"{", 400, "the body is not JSON"),
        (json.dumps({"query": "x" * 100_000}).encode(), 413, "the body is larger than the 65,536 bytes"),
    ]:
        assert problem(ask("POST", TOOL, content=body, headers=JSON), status)["detail"].startswith(says), says


def test_a_key_of_another_resource_finds_nothing(told, using):
    told.say("albert's own passport", id="his", resource="albert")
    his = using("operator", "albert")

    assert found(his("GET", "/v1/resources/albert/recall", params={"q": "passport"})) == [("message", "his")]
    assert "own passport" in his("POST", "/v1/resources/albert/recall-tool", json=ASKED).json()["text"]
    problem(his("GET", "/v1/resources/albert/messages/early/around"), 404)
    for method, path, body in [
        ("GET", "recall?q=passport", None), ("GET", "messages/early/around", None), ("POST", "recall-tool", ASKED),
    ]:  # fmt: skip
        refused = his(method, f"{HAROLD}/{path}", json=body)
        assert "4711" not in refused.text
        assert "bound to harold" in problem(refused, 403)["detail"]
