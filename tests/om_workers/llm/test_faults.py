"""Each failure of a model has a kind, by which it is counted where none of its words may stand."""

import asyncio
from concurrent.futures import CancelledError
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial

import httpx2
import pytest

from om_api.domain.errors import ModelError
from om_workers.llm.base import BilledError, Request, TooLongError, TurnedAwayError, Usage
from om_workers.llm.connections import TooLargeError
from om_workers.llm.deadline import within
from om_workers.llm.faults import ProviderCall, fault, refusal, retry_after
from om_workers.process.stopping import Stopping

ASKED = ProviderCall("m", "key", Request(purpose="observe", system="", prompt="hello"))


def test_a_failure_has_a_kind_by_which_it_is_counted_and_who_is_turned_away_had_nobody_work_for_him():
    for error, expected in [
        (TimeoutError(), "timeout"), (httpx2.ReadTimeout("late"), "timeout"),
        (httpx2.ConnectError("gone"), "unreachable"), (TooLargeError(), "unusable"), (ValueError("not JSON"), "other"),
    ]:  # fmt: skip
        assert fault(ASKED, error).why == expected, (error, expected)
    for status, wait, expected in [
        (400, None, "refused"), (401, None, "refused"), (429, None, "busy"), (503, 7.0, "busy"),
        (500, None, "unreachable"),
    ]:  # fmt: skip
        assert refusal(ASKED, status, {}, wait).why == expected, (status, wait, expected)
    for status, body, expected in [
        (401, {}, True), (402, {}, True), (403, {}, True), (404, {}, True), (429, {}, True),
        (400, {"message": "insufficient balance"}, True),
        (400, {"message": "a part of the request is not permitted"}, False), (413, {}, False), (500, {}, False),
        (503, {}, False),
    ]:  # fmt: skip
        assert isinstance(refusal(ASKED, status, body), TurnedAwayError) is expected, (status, body, expected)
    for error, expected in [
        (httpx2.ConnectError("refused"), True),
        (httpx2.ConnectTimeout("late"), False),  # it took as long as an answer may
        (httpx2.ReadError("hung up"), False), (TimeoutError(), False),
    ]:  # fmt: skip
        assert isinstance(fault(ASKED, error), TurnedAwayError) is expected, (error, expected)


def test_a_request_over_the_models_window_is_recognised_by_each_providers_error():
    for text in (
        "This model's maximum context length is 32000 tokens. However, your messages resulted in 41000 tokens.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).",
        "prompt is too long: 210000 tokens > 200000 maximum", "Input is too long for requested model.",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "the request exceeds the available context size. try increasing the context size",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
        "Range of input length should be [1, 30720]", "Please reduce the length of the messages or completion.",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193",
    ):  # fmt: skip
        found = refusal(ASKED, 400, {"error": {"message": text}})
        assert isinstance(found, TooLongError), text
        assert not found.retryable
    assert isinstance(refusal(ASKED, 413, {}), TooLongError)
    assert isinstance(refusal(ASKED, 400, {"message": "no", "code": "context_length_exceeded"}), TooLongError)
    for status, text in ((400, "max_tokens is too large: 200000"), (429, "context length"), (400, "invalid message")):
        assert not isinstance(refusal(ASKED, status, {"message": text}), TooLongError), text


NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_a_wait_is_read_in_seconds_or_as_a_date_of_the_providers_own_clock():
    for headers, seconds in [
        ({"retry-after": "7"}, 7.0), ({"retry-after": "1.5"}, 1.5), ({"retry-after": "0.5"}, 1.0),
        ({"retry-after": "0.0001"}, 1.0),  # in whole milliseconds that is no wait at all
        ({"retry-after": "1e-320"}, 1.0), ({"retry-after": "86400"}, 600.0), ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None), ({"retry-after": "nan"}, None), ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None), ({}, None),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True), "date": format_datetime(NOW)},
         90.0),
        ({"retry-after": format_datetime(NOW - timedelta(days=9), usegmt=True), "date": format_datetime(NOW)}, None),
    ]:  # fmt: skip
        assert retry_after(headers) == seconds, (headers, seconds)


def test_an_answer_that_is_billed_fails_as_it_would_have_failed_for_nothing():
    """Catches a bill that changes what becomes of a chunk: whether, and when, it is tried again."""
    failed = ModelError("m is busy", retryable=False, retry_after=40, why="busy")
    billed = BilledError(failed, Usage(input=9, output=3))
    assert (str(billed), billed.retryable, billed.retry_after, billed.why) == ("m is busy", False, 40, "busy")
    assert billed.usage == Usage(input=9, output=3)


def test_a_deadline_ends_a_call_and_a_providers_own_cancellation_is_no_stop():
    async def cancelled():
        raise asyncio.CancelledError

    with pytest.raises(CancelledError):
        within(5, cancelled, Stopping().wait_for)
    with pytest.raises(TimeoutError):
        within(0.05, partial(asyncio.sleep, 30), Stopping().wait_for)
