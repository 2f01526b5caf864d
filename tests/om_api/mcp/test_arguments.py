"""Arguments: schemas that any host takes, and refusals that say all that is wrong and what is permitted."""

import json

import pytest
from pydantic import Field

from om_api.domain.errors import InvalidInputError
from om_api.mcp.arguments import Arguments, OfThread, ResourceName, ThreadName, fixed, read_arguments, schema_of
from om_api.mcp.conversation_tools import AddMessages, GetContext
from om_api.mcp.recall_tools import RecallWords
from om_api.mcp.toolbox import TOOLS

HAROLD = {"resource_id": "harold", "thread_id": "t-1"}


class Example(Arguments):
    """One of each."""

    resource_id: ResourceName
    thread_id: ThreadName
    beside: OfThread = None
    limit: int = Field(5, ge=1, le=10)


def refused(given, said=(), arguments=Example):
    with pytest.raises(InvalidInputError) as caught:
        read_arguments(arguments, given, dict(said))
    return str(caught.value)


def test_a_schema_is_as_plain_as_hosts_want_it_and_says_what_each_argument_may_be():
    for name, tool in TOOLS.items():
        schema = schema_of(tool.arguments)
        assert not any(word in json.dumps(schema) for word in ("anyOf", "$ref", "$defs", '"title"', "null")), name
        assert schema["additionalProperties"] is False
        for argument, each in schema["properties"].items():
            assert each.get("description") or argument == "messages"
            assert {"pattern", "maxLength", "maximum", "maxItems", "maxProperties", "enum"} & each.keys(), argument


def test_what_is_said_already_is_not_asked_for_and_completes_a_call():
    schema = schema_of(Example, HAROLD)

    assert (set(schema["properties"]), schema["required"]) == ({"beside", "limit"}, [])
    assert fixed(RecallWords, HAROLD) == {"resource_id"}  # which thread to look in stays open
    assert read_arguments(Example, {}, HAROLD).thread_id == "t-1"
    assert refused({"thread_id": "t-2"}, HAROLD) == "thread_id is t-1 here and can be no other: leave it out"


def test_what_is_wrong_is_said_in_few_words():
    for given, why in [
        ({}, "resource_id is missing; thread_id is missing"),
        ({**HAROLD, "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ({**HAROLD, "limit": 10**9}, "limit: Input should be less than or equal to 10"),
        ({**HAROLD, "limt": 1}, "limt is no argument here: did you mean limit?"),
        ({**HAROLD, "zzz": 1}, "zzz is no argument here: permitted are resource_id, thread_id, beside, limit"),
        ({**HAROLD, "thread_id": "x" * 201}, "thread_id: it is no id: use 1 to 200 of A-Z a-z 0-9 . _ : @ + -"),
        ({**HAROLD, "thread_id": 7}, "thread_id: Input should be a valid string"),
    ]:
        assert refused(given) == why
    why = refused({"messages": [{"role": "robot", "content": "", "contents": "x"}]}, HAROLD, AddMessages)
    assert "messages.0.role: Input should be 'user' or 'assistant'" in why
    assert "messages.0.contents: there is no such field" in why
    assert len(refused({f"x{n}" * 500: "y" * 10_000 for n in range(100)})) < 2_000


def test_hosts_that_send_a_list_as_json_or_a_number_as_text_are_understood():
    read = read_arguments(AddMessages, {"messages": '[{"role": "user", "content": "hello"}]'}, HAROLD)

    assert read.messages[0].content == "hello"
    assert read_arguments(GetContext, {"max_tokens": "500"}, HAROLD).max_tokens == 500
    assert "messages: Input should be a valid list" in refused({"messages": "hello"}, HAROLD, AddMessages)
