"""OpenAI's protocol through the real SDK, against a server of our own that misbehaves as it is told."""

import sys
from datetime import date

import pytest
from model_requests import KEY, failing, observe, refused
from model_server import Canned
from provider_models import close, opened
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import ModelError, SettingsError
from om_api.settings import ModelSettings
from om_workers.calls.registry import Registry, key_of
from om_workers.llm.base import Usage
from om_workers.llm.extractive import Extractive
from om_workers.llm.openai_compatible import OpenAICompatible
from om_workers.prompts.parse import parse_observer


@pytest.fixture
def provider():
    return "openai"


def test_what_is_sent_is_the_model_the_prompts_as_they_are_the_temperature_and_the_options(server):
    request = observe()
    with opened(
        "openai", server.root, model="deepseek-chat", options={"max_tokens": 900, "day": date(2025, 12, 4)}
    ) as model:
        model.complete(request)
    assert server.last == {
        "model": "deepseek-chat",
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}],
        "temperature": 0.3,
        "max_tokens": 900,
        "day": "2025-12-04",
    }
    assert server.last_headers["authorization"] == f"Bearer {KEY}"


def test_a_failure_of_this_protocol_says_whose_fault_it_is(server, model):
    for gets, retryable, says in [
        (refused(400, "Content Exists Risk"), False, "Content Exists Risk"),
        (refused(400, "Model Not Exist"), True, "correct its model, key or options"),
        (refused(400, "'temperature' 0.3", code="unsupported_value"), True, "correct its model, key or options"),
        (Canned(200, {"choices": []}), True, "without choices"),
        (Canned(200, {"choices": [{"message": {"content": None, "refusal": "no"}}]}), False, "refused to answer"),
        (Canned(200, {"choices": "none"}), True, "cannot be read"),
    ]:  # fmt: skip
        error = failing(server, model, gets)
        assert says in str(error), (gets, retryable, says)
        assert error.retryable is retryable, (gets, retryable, says)


def test_what_of_a_completion_can_be_used_is_used(server, model):
    whole = {"message": {"content": "<observations>\n* one\n</observations>\n<current-ta"}, "finish_reason": "length"}
    server.plan = lambda n, purpose: Canned(200, {"choices": [whole]})
    assert parse_observer(model.complete(observe()).text).text == "* one"
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "* on"}, {"type": "text", "text": "e"}]
    server.plan = lambda n, purpose: Canned(200, {"choices": [{"message": {"content": parts}}]})
    assert model.complete(observe()).text == "* one"
    for usage, expected in [
        (None, Usage()), ("many", Usage()), ({"prompt_tokens": None, "completion_tokens": 3}, Usage(output=3)),
        ({"prompt_tokens": 9, "completion_tokens": 3, "prompt_cache_hit_tokens": 4},
         Usage(input=9, cached=4, output=3)),
    ]:  # fmt: skip
        body = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}], "usage": usage}
        server.plan = lambda n, purpose, body=body: Canned(200, body)
        assert model.complete(observe()).usage == expected, (usage, expected)


def test_a_key_is_read_from_the_variable_it_stands_in_and_one_that_is_missing_named():
    for settings, environ, key in [
        ({}, {"OPENAI_API_KEY": "sk-1"}, "sk-1"),
        ({"api_key_env": "MINE"}, {"MINE": " sk-2\n", "OPENAI_API_KEY": "sk-1"}, "sk-2"),
        ({"base_url": "http://localhost:11434/v1"}, {}, ""),
        ({"base_url": "http://localhost:11434/v1"}, {"OPENAI_API_KEY": "sk-1"}, ""),
    ]:  # fmt: skip
        assert key_of("gpt-x", ModelSettings(**settings), environ.get) == key, (settings, environ, key)
    for settings, environ, variable in [
        ({}, {}, "OPENAI_API_KEY"), ({"api_key_env": "MINE"}, {"OPENAI_API_KEY": "sk-1"}, "MINE"),
        ({"api_key_env": "MINE", "base_url": "https://api.example.org"}, {"MINE": ""}, "MINE"),
        ({"api_key_env": "MINE"}, {"MINE": "sk-“quoted”"}, "MINE"),
    ]:  # fmt: skip
        with pytest.raises(SettingsError, match=f"{variable} holds no key; set it"):
            key_of("gpt-x", ModelSettings(**settings), environ.get)


def registry(**environ):
    return Registry(load_settings(environ=environ))


def test_a_model_without_a_key_imports_no_sdk(monkeypatch):
    for model, module in (("gpt-x", "openai_compatible"), ("gemini-2.5-flash", "gemini")):
        monkeypatch.setitem(sys.modules, f"om_workers.llm.{module}", None)
        with pytest.raises(ModelError, match="API_KEY holds no key"):
            registry().itself(model)


def test_a_model_needs_its_key_unless_it_has_an_address(server):
    made = registry(OM_MODELS__MINE__BASE_URL=server.url).model(["mine"])
    assert "[[w1-1]]" in made.complete(observe()).text
    assert isinstance(made, OpenAICompatible)
    close(made)
    models = registry()
    with capture_logs() as logs:
        first, second = models.model(["gpt-x"]), models.model(["gpt-x"])
    assert isinstance(first, Extractive)
    assert first is second
    ((said),) = logs
    assert (said["event"], said["model"]) == ("model_not_available", "gpt-x")
    assert said["reason"] == "OPENAI_API_KEY holds no key; set it to the provider's key and restart the workers"
