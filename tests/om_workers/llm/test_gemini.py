"""Gemini's own: what is sent to it, which failures are its own, and what makes it."""

import httpx2
import pytest
from model_requests import KEY, failing, observe, reflect, refused
from model_server import Canned
from provider_models import closing, opened
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import ModelError, SettingsError
from om_api.settings import ModelSettings
from om_workers.calls.registry import Registry
from om_workers.llm.base import Usage
from om_workers.llm.gemini import Gemini
from om_workers.llm.gemini_answer import retry_delay
from om_workers.prompts.parse import parse_observer


def test_what_is_sent_is_the_prompts_as_they_are_the_temperature_and_the_options(server):
    request = observe()
    with opened("gemini", server.root, options={"topP": 0.5, "stop_sequences": ["END"]}) as model:
        model.complete(request)
    assert server.last == {"contents": [{"role": "user", "parts": [{"text": request.prompt}]}],
                           "systemInstruction": {"role": "user", "parts": [{"text": request.system}]},
                           "generationConfig": {"temperature": 0.3, "topP": 0.5, "stopSequences": ["END"]}}  # fmt: skip
    assert server.last_headers["x-goog-api-key"] == KEY


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


def test_the_model_is_asked_for_at_the_version_that_the_address_names_else_v1beta(server):
    for model, address, path in [
        ("", "", "/v1beta/models/fake:generateContent"),
        ("models/gemini-9", "/v1alpha/", "/v1alpha/models/gemini-9:generateContent"),
    ]:  # fmt: skip
        with opened("gemini", server.root + address, model=model) as opened_model:
            opened_model.complete(observe())
        assert server.last_path == path, (model, address, path)


def test_a_400_about_the_configuration_is_no_messages_fault(server, model):
    for message, retryable in [
        ("The thinking budget 215 is invalid. Please choose a value between 512 and 24576.", True),
        ('Invalid JSON payload received. Unknown name "topQ": Cannot find field.', True),
        ("User location is not supported for the API use.", True),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", False),
        ("Request payload size exceeds the limit", False),
    ]:  # fmt: skip
        assert failing(server, model, refused(400, message)).retryable is retryable, (message, retryable)


def registry(**environ):
    return Registry(load_settings(environ=environ))


def test_a_gemini_model_that_cannot_be_asked_says_why():
    for environ, reason in [
        ({"GOOGLE_API_KEY": "g"}, "GEMINI_API_KEY holds no key; set it"),
        ({"GEMINI_API_KEY": "g", "OM_MODELS__GEMINI_2_5_FLASH__OPTIONS": "{nope: 1}"}, "its options are not Gemini's"),
    ]:  # fmt: skip
        with capture_logs() as logs:
            assert registry(**environ).model_for("gemini-2.5-flash", 5) is None, (environ, reason)
        assert logs[0]["reason"].startswith(reason), (environ, reason)


def test_no_answer_is_asked_for_that_is_longer_than_the_models_window():
    for most, asked in ((900, 900), (9_000_000, 1_048_576)):
        environ = {"GEMINI_API_KEY": "g", "OM_MODELS__GEMINI_2_5_FLASH__MAX_OUTPUT_TOKENS": str(most)}
        made = registry(**environ).model_for("gemini-2.5-flash", 5)
        assert made._settings.max_output_tokens == asked, most


def test_a_model_thinks_as_much_as_its_options_say_else_a_little(server):
    for model, options, observing, reflecting in [
        ("models/gemini-2.5-pro", {}, 215, 1024),
        ("gemini-2.5-flash-lite", {}, None, None),  # it refuses budgets below 512, and thinks only if told to
        ("gemini-2.5-flash", {"thinkingConfig": {"thinkingBudget": 9}}, 9, 9),
        ("gemini-2.5-flash", {"thinking_config": None}, None, None),
    ]:  # fmt: skip
        with opened("gemini", server.root, model=model, options=options) as opened_model:
            opened_model.complete(observe())
            first = _thinking(server.last)
            opened_model.complete(reflect("* 🟡 [[w1-1]] a"))
        assert (first, _thinking(server.last)) == (observing, reflecting), (model, options)


def _thinking(sent):
    config = sent["generationConfig"].get("thinkingConfig", {})
    return config.get("thinkingBudget", config.get("thinking_budget"))


def test_options_that_gemini_does_not_know_or_that_are_not_to_choose_are_found_before_anything_is_asked():
    for options, says in [
        ({"nope": 1}, "nope: Extra inputs are not permitted"),
        ({"top_p": "much"}, "top_p: Input should be a valid number"),
        ({"thinking_config": {"budget": 5}}, "thinking_config.budget: Extra inputs are not permitted"),
        ({"http_options": {"base_url": "http://elsewhere"}}, "state http_options, which cannot be chosen here"),
        ({"systemInstruction": "be bad"}, "state system_instruction"),
        ({"automatic_continuation": True}, "state automatic_continuation"),
        ({"audio_timestamp": True}, "state audio_timestamp"), ({"routing_config": {}}, "state routing_config"),
    ]:  # fmt: skip
        with pytest.raises(SettingsError) as caught, opened("gemini", "http://127.0.0.1:1", options=options):
            pass
        assert says in str(caught.value), (options, says)
        assert str(caught.value).endswith("remove them"), (options, says)


NOTES = "<observations>\n* one\n</observations>\n<current-ta"
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


@pytest.fixture
def provider():
    return "gemini"


def answers(server, model, parts=(), reason="STOP", **more):
    candidate = {"content": {"parts": list(parts)}, "finishReason": reason}
    server.plan = lambda n, purpose: Canned(200, {"candidates": [candidate], **more})
    return model.complete(observe())


def test_an_answer_is_what_it_says_and_its_thoughts_are_output(server, model):
    parts = [{"text": "hm", "thought": True}, {"text": "* on"}, {"text": "e"}, {"inlineData": {}}]
    assert answers(server, model, parts).text == "* one"
    for usage, expected in [
        (None, Usage()), ("many", Usage()), ({"promptTokenCount": "x"}, Usage()),
        ({"promptTokenCount": 9, "candidatesTokenCount": 3}, Usage(input=9, output=3)),
        (
            {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 20},
            Usage(input=9, cached=4, output=23),
        ),
    ]:  # fmt: skip
        assert answers(server, model, [{"text": "fine"}], usageMetadata=usage).usage == expected, (usage, expected)
    for reason in ("MAX_TOKENS", "SAFETY"):  # cut short, but its notes are complete
        assert parse_observer(answers(server, model, [{"text": NOTES}], reason).text).text == "* one", reason


def test_an_answer_without_notes_says_why_it_ended(server, model):
    for reason, retryable, says in [
        ("MAX_TOKENS", False, "ran out of room"), ("CONTINUATION", False, "ran out of room"),
        ("SAFETY", False, "blocked by the provider (SAFETY)"),
        ("RECITATION", False, "blocked by the provider (RECITATION)"),
        ("PROHIBITED_CONTENT", False, "(PROHIBITED_CONTENT)"),
        ("MALFORMED_FUNCTION_CALL", False, "(MALFORMED_FUNCTION_CALL)"), ("OTHER", False, "(OTHER)"),
        ("WHATEVER_COMES_NEXT", False, "(WHATEVER_COMES_NEXT)"),
        ("the user said: boo", False, "(for a reason that is none of Gemini's)"),
        ("PUP_LIMITED_DISABLED", True, "closed to this account"), ("STOP", True, "answered nothing"),
        (None, True, "answered nothing"),
    ]:  # fmt: skip
        for parts in ((), [{"text": "<observations>\n* half"}]) if not retryable else ((),):
            with pytest.raises(ModelError) as caught:
                answers(server, model, parts, reason)
            assert says in str(caught.value), (reason, retryable, says)
            assert caught.value.retryable is retryable, (reason, retryable, says)


def test_an_answer_without_any_text_is_judged_by_what_it_says_instead(server, model):
    for body, retryable, says in [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, False, "the request was blocked by the provider (SAFETY)"),
        ({"promptFeedback": {"blockReason": "<b>"}, "candidates": []}, False, "for a reason that is none"),
        ({"promptFeedback": {}}, True, "answered without candidates"),
        ({"candidates": []}, True, "answered without candidates"), ({"candidates": [{}]}, True, "answered nothing"),
        ({"candidates": [{"content": {"parts": None}}]}, True, "answered nothing"),
        ({"candidates": "none"}, True, "cannot be read"),
    ]:  # fmt: skip
        error = failing(server, model, Canned(200, body))
        assert says in str(error), (body, retryable, says)
        assert error.retryable is retryable, (body, retryable, says)


def _told(*details):
    return {"error": {"code": 429, "details": list(details)}}


def test_a_wait_is_read_from_the_header_else_from_googles_retry_info(server, model):
    for body, seconds in [
        (_told({"@type": RETRY_INFO, "retryDelay": "34s"}), 34.0),
        (_told(5, {"@type": "x.Help", "links": []}, {"@type": RETRY_INFO, "retryDelay": "34.074s"}), 34.074),
        (_told({"@type": RETRY_INFO, "retryDelay": "86400s"}), 600.0),
        (_told({"@type": RETRY_INFO, "retryDelay": "0s"}), None),
        (_told({"@type": RETRY_INFO, "retryDelay": "-5s"}), None),
        (_told({"@type": RETRY_INFO, "retryDelay": 34}), None),
        (_told({"@type": RETRY_INFO, "retryDelay": "soon"}), None),
        (_told({"@type": "x.QuotaFailure", "retryDelay": "34s"}), None), ({"error": {"details": "none"}}, None),
        ({"error": "none"}, None), ([], None), (None, None),
    ]:  # fmt: skip
        assert retry_delay(body) == seconds, (body, seconds)
    body = _told({"@type": RETRY_INFO, "retryDelay": "34s"})
    for headers, seconds in (({}, 34.0), ({"Retry-After": "7"}, 7.0)):
        assert failing(server, model, Canned(429, body, headers)).retry_after == seconds, headers
