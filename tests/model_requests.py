"""Requests of the Observer and the Reflector, and failures, for tests of providers."""

from typing import Any

import pytest
from model_server import Canned

from om_api.domain.errors import ModelError
from om_api.domain.messages import Message
from om_api.domain.tokens import counter
from om_workers.prompts.render import observer_request, reflector_request

KEY = "sk-prod-4711-abcdefghijkl"
SECRET = "the vault opens with four seven one one"
_NOON = 1_764_858_600_000
_COUNT = counter("estimate")


def observe(*texts, timeout=10.0, previous=()):
    said = texts or (f"[[w1-1]] hello, {SECRET}",)
    messages = [Message(role="user", content=text, id=f"m-{n}", at=_NOON + n) for n, text in enumerate(said)]
    return observer_request(
        messages,
        previous,
        previous_tokens=2000,
        instruction=None,
        timezone="UTC",
        temperature=0.3,
        timeout=timeout,
        count=_COUNT,
    )


def reflect(*texts):
    return reflector_request(
        texts, target_tokens=100, level=0, instruction=None, temperature=0.0, timeout=10.0, timezone="UTC"
    )


def failing(server, model, gets, request=None):
    """The error of a call that gets this."""
    server.plan = lambda n, purpose: gets
    with pytest.raises(ModelError) as caught:
        model.complete(request or observe())
    return caught.value


def refused(status: int, message: str = "", headers: Any = None, **more: Any) -> Canned:
    """A refusal in the form that both OpenAI's protocol and Gemini's have."""
    return Canned(status, {"error": {"message": message, **more}}, headers or {})
