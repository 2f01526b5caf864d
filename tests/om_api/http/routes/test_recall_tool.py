"""The Actor's tool over HTTP: any provider's call is answered with a text for the model, whatever the model wrote."""

import json

import pytest
from refusals import problem

HAROLD = "/v1/resources/harold"
TOOL = f"{HAROLD}/recall-tool"
ASKED = {"query": "passport"}
CALLS = {
    "chat completions": {
        "id": "c-1",
        "type": "function",
        "function": {"name": "recall", "arguments": json.dumps(ASKED)},
    },
    "responses": {"type": "function_call", "call_id": "c-1", "name": "recall", "arguments": json.dumps(ASKED)},
    "anthropic": {"type": "tool_use", "id": "c-1", "name": "recall", "input": ASKED},
    "gemini": {"name": "recall", "args": ASKED},
    "arguments": ASKED,
}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def call(world, ask):
    """What the text of a call's answer is; it is written as a program does that escapes what is not ASCII."""
    world.say("My passport number is 4711.", id="m-1")
    world.say("albert's passport", id="m-1", resource="albert")

    def answered(given, **params):
        answer = ask("POST", TOOL, content=json.dumps(given), headers=JSON, params=params)
        assert answer.status_code == 200
        return answer.json()["text"]

    return answered


@pytest.mark.parametrize("form", ["openai", "anthropic", "gemini"])
def test_the_schema_is_the_librarys_for_each_provider(ask, world, form):
    assert ask("GET", "/v1/recall-tool", params={"format": form}).json() == world.om.recall_tool(form)
    assert "'openai', 'anthropic' or 'gemini'" in problem(ask("GET", "/v1/recall-tool?format=x"), 422)["detail"]


@pytest.mark.parametrize("name", CALLS)
def test_every_providers_call_is_answered_alike_as_the_library_does(call, world, name):
    text = call(CALLS[name])

    assert text == world.om.answer_recall(CALLS[name], "harold")
    assert text.splitlines()[0] == "Thread t-1, message m-1:"
    assert text.endswith("user: My passport number is 4711.")


def test_an_answer_has_room_for_so_many_tokens(call, world):
    world.say(*(f"passport of guest {n}" for n in range(9)), thread="t-2")

    assert call({"query": "passport guest"}, max_tokens=300).count("Thread t-2") == 1
    assert call({"query": "passport guest"}, max_tokens=300).endswith("There is more: ask again with offset 1.")
    assert call({"query": "passport guest"}).count("Thread t-2") > 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Nothing was looked up: a call needs a query"),
        ({"query": ["passport"]}, "Nothing was looked up: a call needs a query"),
        ({"arguments": "{broken"}, "Nothing was looked up: the arguments are not JSON"),
        ({"arguments": "\ud800"}, "Nothing was looked up: the arguments are not JSON"),
        ({"arguments": 5}, "Nothing was looked up: the arguments are int"),
        ({"query": "passport", "role": "robot"}, "Nothing was looked up: roles holds 'robot': use user"),
        ({"query": "passport", "role": ["user", "robot"]}, "Nothing was looked up: roles holds 'robot'"),
        ({"query": "passport", "role": {"is": "user"}}, "Nothing was looked up: roles holds"),
        ({"query": "passport", "after": "soon"}, "Nothing was looked up: after is 'soon': use a date"),
        ({"query": "passport", "offset": 1.5}, "Nothing was looked up: offset is '1.5': use a whole number"),
        ({"query": "passport", "thread_id": {}}, "Nothing was looked up: thread_id '{}' is not an id"),
        ({"query": "before:\ud800"}, "Nothing was looked up: before:? is no date"),
        ({"query": "\ud800"}, "Nothing was found for '\\ud800': the query holds no word"),
        ({"query": ""}, "Nothing was looked up: a call needs a query"),
        ({"query": "\x00"}, "Nothing was found for '\\x00': the query holds no word"),
        ({"query": "the of"}, "Nothing was found for 'the of': nothing that is kept"),
        ({"query": "</recalled><task>"}, "Nothing was found for '&lt;/recalled>&lt;task>'"),
    ],
)
def test_a_call_that_finds_nothing_or_cannot_be_carried_out_is_told_why(call, given, says):
    assert call(given).startswith(says)


def test_a_query_that_is_a_whole_page_is_not_said_again(call):
    assert len(call({"query": "xylophone " * 6_000})) < 500


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"5", 422, "body: Input should be a valid dictionary"),
        (b'["passport"]', 422, "body: Input should be a valid dictionary"),
        (b"", 422, "body: Field required"),
        (b"{", 400, "the body is not JSON"),
        (json.dumps({"query": "x" * 100_000}).encode(), 413, "the body is larger than the 65,536 bytes"),
    ],
)
def test_what_is_no_call_is_refused(ask, body, status, says):
    assert problem(ask("POST", TOOL, content=body, headers=JSON), status)["detail"].startswith(says)


def test_a_key_of_another_resource_is_answered_nothing(call, using):
    for role in ("reader", "writer", "operator"):
        his = using(role, "albert")
        assert his("POST", "/v1/resources/albert/recall-tool", json=ASKED).json()["text"].endswith("albert's passport")
        assert "4711" not in his("POST", TOOL, json=ASKED).text
        problem(his("POST", TOOL, json=ASKED), 403)
