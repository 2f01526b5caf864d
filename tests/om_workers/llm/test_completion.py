"""What of a chat completion can be used."""

from __future__ import annotations

import pytest
from model_requests import observe
from model_server import Canned

from om_workers.llm.base import Usage


@pytest.fixture
def provider():
    return "openai"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": None, "completion_tokens": 3}, Usage(output=3)),
        (
            {"prompt_tokens": 9, "completion_tokens": 3, "prompt_cache_hit_tokens": 4},
            Usage(input=9, cached=4, output=3),
        ),
    ],
)
def test_no_call_fails_for_its_usage(server, model, usage, expected):
    body = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}], "usage": usage}
    server.plan = lambda n, purpose: Canned(200, body)

    assert model.complete(observe()).usage == expected


def test_an_answer_in_parts_is_one_text(server, model):
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "* on"}, {"type": "text", "text": "e"}]
    server.plan = lambda n, purpose: Canned(200, {"choices": [{"message": {"content": parts}}]})

    assert model.complete(observe()).text == "* one"
