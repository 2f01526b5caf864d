"""Messages as they are given: what cannot be accepted is named by its place, and nothing of its batch is kept."""

from __future__ import annotations

import json

import pytest
from refusals import problem

from om_api.http.serving.limits import MAX_BATCH, MAX_MESSAGE

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
GOOD = {"id": "m-1", "role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("wrong", "where", "what"),
    [
        ({"role": "robot"}, "body.messages[1].role", "'user', 'assistant', 'system' or 'tool'"),
        ({"content": 5}, "body.messages[1].content", "string"),
        ({"tokens": -1}, "body.messages[1].tokens", "greater than or equal to 0"),
        ({"tokens": "5"}, "body.messages[1].tokens", "valid integer"),
        ({"tokens": True}, "body.messages[1].tokens", "valid integer"),
        ({"id": "a/b"}, "body.messages[1].id", "A-Za-z0-9"),
        ({"colour": "red"}, "body.messages[1].colour", "not permitted"),
        ({"content": [{"type": "song"}]}, "messages[1]: message m-1", "text, tool-call, tool-result, image, file"),
        ({"timestamp": "soon"}, "messages[1]: message m-1", "ISO 8601"),
        ({"content": "\ud800"}, "messages[1]", "JSON"),
        ({"content": "x" * MAX_MESSAGE}, "messages[1]: message m-1 takes", f"{MAX_MESSAGE:,}: split it"),
    ],
)
def test_a_message_that_cannot_be_accepted_is_named_by_its_place_and_none_of_its_batch_is_kept(
    ask, world, wrong, where, what
):
    found = problem(
        ask("POST", MESSAGES, content=json.dumps({"messages": [GOOD, {**GOOD, **wrong}]}), headers=JSON), 422
    )

    assert where in found["detail"]
    assert what in found["detail"]
    assert "nothing was kept" in found["detail"]
    assert list(world.client.scan_iter(f"{world.prefix}:{{*")) == []


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("body", [{}, [], {"messages": []}, {"messages": [GOOD] * (MAX_BATCH + 1)}, None, "x", 5])
def test_a_body_of_another_form_is_refused(ask, body):
    problem(ask("POST", MESSAGES, json=body), 422)


def test_of_a_name_that_is_not_permitted_no_more_is_repeated_than_its_beginning(ask):
    found = problem(ask("POST", MESSAGES, json={"messages": [{**GOOD, "x" * 1_000: 1}]}), 422)

    assert found["errors"][0]["where"] == ("body.messages[0]." + "x" * 1_000)[:200]
