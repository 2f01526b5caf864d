"""Gemini's own: what is sent to it, which failures are its own, and what makes it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from google.genai.errors import APIError
from model_requests import KEY, failing, observe, reflect, refused
from provider_models import close, closing, opened
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import ModelError, SettingsError
from om_api.settings import ModelSettings
from om_workers.calls.registry import Registry
from om_workers.llm.gemini import Gemini


@pytest.fixture
def provider():
    return "gemini"


# -- what is sent


def test_what_is_sent_is_the_prompts_as_they_are_the_temperature_and_the_options(server):
    request = observe()
    with opened("gemini", server.root, options={"topP": 0.5, "stop_sequences": ["END"]}) as model:
        model.complete(request)

    assert server.last == {
        "contents": [{"role": "user", "parts": [{"text": request.prompt}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": request.system}]},
        "generationConfig": {"temperature": 0.3, "topP": 0.5, "stopSequences": ["END"]},
    }
    assert server.last_headers["x-goog-api-key"] == KEY


def test_the_server_is_told_how_long_we_wait(server, model):
    model.complete(observe(timeout=7.0))

    assert server.last_headers["x-server-timeout"] == "7"


def test_google_itself_is_asked_over_https_whatever_the_variables_say(monkeypatch):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    asked = []

    async def send(request, **_):
        asked.append(str(request.url))
        raise httpx2.ConnectError("no network")

    with closing(Gemini("gemini-x", ModelSettings(), KEY)) as model:
        monkeypatch.setattr(model._http, "send", send)
        with pytest.raises(ModelError, match="could not be reached"):
            model.complete(observe())

    assert asked == ["https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent"]


@pytest.mark.parametrize(
    ("model", "address", "path"),
    [
        ("", "", "/v1beta/models/fake:generateContent"),
        ("gemini-9", "/", "/v1beta/models/gemini-9:generateContent"),
        ("models/gemini-9", "/v1", "/v1/models/gemini-9:generateContent"),
        ("gemini-9", "/v1alpha/", "/v1alpha/models/gemini-9:generateContent"),
    ],
)
def test_the_model_is_asked_for_at_the_version_that_the_address_names_else_v1beta(server, model, address, path):
    with opened("gemini", server.root + address, model=model) as opened_model:
        opened_model.complete(observe())

    assert server.last_path == path


def test_what_the_sdk_refuses_to_send_is_no_messages_fault(server):
    filters = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE", "method": "SEVERITY"}]
    with (
        opened("gemini", server.root, options={"safety_settings": filters}) as model,
        pytest.raises(ModelError) as caught,
    ):
        model.complete(observe())

    assert "could not be asked" in str(caught.value)
    assert caught.value.retryable
    assert server.calls == []


# -- what goes wrong, and whose fault it is


@pytest.mark.parametrize(
    ("message", "retryable"),
    [
        ("The thinking budget 215 is invalid. Please choose a value between 512 and 24576.", True),
        ('Invalid JSON payload received. Unknown name "topQ": Cannot find field.', True),
        ("User location is not supported for the API use.", True),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", False),
        ("Request payload size exceeds the limit", False),
    ],
)
def test_a_400_about_the_configuration_is_no_messages_fault(server, model, message, retryable):
    assert failing(server, model, refused(400, message)).retryable is retryable


def test_what_the_sdk_raised_is_kept_for_who_looks_closer(server, model):
    assert isinstance(failing(server, model, refused(404)).__cause__, APIError)


# -- the registry


def registry(**environ):
    return Registry(load_settings(environ=environ))


def test_a_gemini_model_is_made_with_the_key_of_its_variable_once_whoever_asks_at_once():
    models, at_once = registry(GEMINI_API_KEY="g"), threading.Barrier(8)

    def ask(_):
        at_once.wait(30)
        return models.model_for("gemini-2.5-pro", 5)

    with ThreadPoolExecutor(8) as pool:
        (made,) = {id(model): model for model in pool.map(ask, range(8))}.values()
    assert (type(made), made._key) == (Gemini, "g")
    close(made)


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({"GOOGLE_API_KEY": "g"}, "GEMINI_API_KEY holds no key; set it"),
        ({"GEMINI_API_KEY": "g", "OM_MODELS__GEMINI_2_5_FLASH__OPTIONS": "{nope: 1}"}, "its options are not Gemini's"),
    ],
)
def test_a_gemini_model_that_cannot_be_asked_says_why(environ, reason):
    with capture_logs() as logs:
        assert registry(**environ).model_for("gemini-2.5-flash", 5) is None

    assert logs[0]["reason"].startswith(reason)


def test_a_library_that_the_environment_chooses_and_that_is_missing_is_named(monkeypatch):
    monkeypatch.setenv("GOOGLE_GENAI_HTTP_CLIENT", "httpx")
    monkeypatch.setattr("google.genai._api_client.httpx", None)
    with pytest.raises(SettingsError, match="GOOGLE_GENAI_HTTP_CLIENT names what is not installed here; unset it"):
        Gemini("fake", ModelSettings(), KEY)


# -- what its options may hold, and what is sent of them


@pytest.mark.parametrize(
    ("model", "options", "observing", "reflecting"),
    [
        ("gemini-2.5-flash", {}, 215, 1024),
        ("models/gemini-2.5-pro", {}, 215, 1024),
        ("gemini-2.5-flash-lite", {}, None, None),  # it refuses budgets below 512, and thinks only if told to
        ("gemini-3-flash", {}, None, None),
        ("gemini-2.5-flash", {"thinking_config": {"thinking_budget": 0}}, 0, 0),
        ("gemini-2.5-flash", {"thinkingConfig": {"thinkingBudget": 9}}, 9, 9),
        ("gemini-2.5-flash", {"thinking_config": None}, None, None),
    ],
)
def test_a_model_thinks_as_much_as_its_options_say_else_a_little(server, model, options, observing, reflecting):
    with opened("gemini", server.root, model=model, options=options) as opened_model:
        opened_model.complete(observe())
        first = _thinking(server.last)
        opened_model.complete(reflect("* 🟡 [[w1-1]] a"))

    assert (first, _thinking(server.last)) == (observing, reflecting)


def _thinking(sent):
    config = sent["generationConfig"].get("thinkingConfig", {})
    return config.get("thinkingBudget", config.get("thinking_budget"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nope": 1}, "nope: Extra inputs are not permitted"),
        ({"top_p": "much"}, "top_p: Input should be a valid number"),
        ({"thinking_config": {"budget": 5}}, "thinking_config.budget: Extra inputs are not permitted"),
        ({"http_options": {"base_url": "http://elsewhere"}}, "state http_options, which cannot be chosen here"),
        ({"systemInstruction": "be bad"}, "state system_instruction"),
        ({"automatic_continuation": True}, "state automatic_continuation"),
        ({"audio_timestamp": True}, "state audio_timestamp"),
        ({"routing_config": {}}, "state routing_config"),
    ],
)
def test_options_that_gemini_does_not_know_or_that_are_not_to_choose_are_found_before_anything_is_asked(options, says):
    with pytest.raises(SettingsError) as caught, opened("gemini", "http://127.0.0.1:1", options=options):
        pass

    assert says in str(caught.value)
    assert str(caught.value).endswith("remove them")
