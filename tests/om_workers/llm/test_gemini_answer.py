"""What Gemini's answers mean, and how long it asks to wait."""

import pytest
from model_requests import failing, observe
from model_server import Canned

from om_api.domain.errors import ModelError
from om_workers.llm.base import Usage
from om_workers.llm.gemini_answer import retry_delay
from om_workers.prompts.parse import parse_observer

NOTES = "<observations>\n* one\n</observations>\n<current-ta"
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


@pytest.fixture
def provider():
    return "gemini"


def answers(server, model, parts=(), reason="STOP", **more):
    """The reply to a call that gets these parts."""
    candidate = {"content": {"parts": list(parts)}, "finishReason": reason}
    server.plan = lambda n, purpose: Canned(200, {"candidates": [candidate], **more})
    return model.complete(observe())


def test_what_it_thought_is_no_part_of_what_it_says(server, model):
    parts = [{"text": "hm", "thought": True}, {"text": "* on"}, {"text": "e"}, {"inlineData": {}}]

    assert answers(server, model, parts).text == "* one"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"promptTokenCount": "x"}, Usage()),
        ({"promptTokenCount": 9, "candidatesTokenCount": 3}, Usage(input=9, output=3)),
        (
            {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 20},
            Usage(input=9, cached=4, output=23),
        ),
    ],
)
def test_thoughts_are_output_and_no_call_fails_for_its_usage(server, model, usage, expected):
    assert answers(server, model, [{"text": "fine"}], usageMetadata=usage).usage == expected


@pytest.mark.parametrize(
    ("reason", "retryable", "says"),
    [
        ("MAX_TOKENS", False, "ran out of room"),
        ("CONTINUATION", False, "ran out of room"),
        ("SAFETY", False, "blocked by the provider (SAFETY)"),
        ("RECITATION", False, "blocked by the provider (RECITATION)"),
        ("PROHIBITED_CONTENT", False, "(PROHIBITED_CONTENT)"),
        ("MALFORMED_FUNCTION_CALL", False, "(MALFORMED_FUNCTION_CALL)"),
        ("OTHER", False, "(OTHER)"),
        ("WHATEVER_COMES_NEXT", False, "(WHATEVER_COMES_NEXT)"),
        ("the user said: boo", False, "(for a reason that is none of Gemini's)"),
        ("PUP_LIMITED_DISABLED", True, "closed to this account"),
        ("STOP", True, "answered nothing"),
        (None, True, "answered nothing"),
    ],
)
def test_an_answer_without_notes_says_why_it_ended(server, model, reason, retryable, says):
    for parts in ((), [{"text": "<observations>\n* half"}]) if not retryable else ((),):
        with pytest.raises(ModelError) as caught:
            answers(server, model, parts, reason)

        assert says in str(caught.value)
        assert caught.value.retryable is retryable


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY"])
def test_an_answer_cut_short_is_used_if_its_notes_are_complete(server, model, reason):
    assert parse_observer(answers(server, model, [{"text": NOTES}], reason).text).text == "* one"


@pytest.mark.parametrize(
    ("body", "retryable", "says"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, False, "the request was blocked by the provider (SAFETY)"),
        ({"promptFeedback": {"blockReason": "<b>"}, "candidates": []}, False, "for a reason that is none"),
        ({"promptFeedback": {}}, True, "answered without candidates"),
        ({"candidates": []}, True, "answered without candidates"),
        ({"candidates": [{}]}, True, "answered nothing"),
        ({"candidates": [{"content": {"parts": None}}]}, True, "answered nothing"),
        ({"candidates": "none"}, True, "cannot be read"),
    ],
)
def test_an_answer_without_any_text_is_judged_by_what_it_says_instead(server, model, body, retryable, says):
    error = failing(server, model, Canned(200, body))

    assert says in str(error)
    assert error.retryable is retryable


# -- how long to wait


def _told(*details):
    return {"error": {"code": 429, "details": list(details)}}


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (_told({"@type": RETRY_INFO, "retryDelay": "34s"}), 34.0),
        (_told(5, {"@type": "x.Help", "links": []}, {"@type": RETRY_INFO, "retryDelay": "34.074s"}), 34.074),
        (_told({"@type": RETRY_INFO, "retryDelay": "86400s"}), 600.0),
        (_told({"@type": RETRY_INFO, "retryDelay": "0s"}), None),
        (_told({"@type": RETRY_INFO, "retryDelay": "-5s"}), None),
        (_told({"@type": RETRY_INFO, "retryDelay": 34}), None),
        (_told({"@type": RETRY_INFO, "retryDelay": "soon"}), None),
        (_told({"@type": "x.QuotaFailure", "retryDelay": "34s"}), None),
        ({"error": {"details": "none"}}, None),
        ({"error": "none"}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_wait_is_read_from_googles_retry_info(body, seconds):
    assert retry_delay(body) == seconds


@pytest.mark.parametrize(("headers", "seconds"), [({}, 34.0), ({"Retry-After": "7"}, 7.0)])
def test_a_429_says_how_long_to_wait_in_its_header_else_in_its_body(server, model, headers, seconds):
    body = _told({"@type": RETRY_INFO, "retryDelay": "34s"})

    assert failing(server, model, Canned(429, body, headers)).retry_after == seconds
