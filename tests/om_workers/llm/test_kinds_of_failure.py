"""Each failure of a model has a kind, by which it is counted where none of its words may stand."""

from __future__ import annotations

import httpx2
import pytest

from om_api.errors import ModelError
from om_workers.asking import _nobody
from om_workers.llm.answers import billed, usable
from om_workers.llm.base import BilledError, Request, Usage
from om_workers.llm.connections import TooLargeError
from om_workers.llm.faults import Asked, fault, refusal

ASKED = Asked("m", "key", Request(purpose="observe", system="", prompt="hello"))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError(), "timeout"),
        (httpx2.ReadTimeout("late"), "timeout"),
        (httpx2.ConnectError("gone"), "unreachable"),
        (TooLargeError(), "unusable"),
        (ValueError("not JSON"), "other"),
    ],
)
def test_a_call_without_an_answer_fails_by_what_kept_it(error, expected):
    assert fault(ASKED, error).why == expected


@pytest.mark.parametrize(
    ("status", "wait", "expected"),
    [
        (400, None, "refused"),
        (401, None, "refused"),
        (429, None, "busy"),
        (503, 7.0, "busy"),
        (500, None, "unreachable"),
    ],
)
def test_a_refusal_is_busy_where_it_names_a_time_and_the_providers_own_failure_from_500_on(status, wait, expected):
    assert refusal(ASKED, status, {}, wait).why == expected


@pytest.mark.parametrize(("text", "cut"), [("", ""), ("half", "ran out of room")])
def test_an_answer_without_notes_is_unusable_also_where_it_is_billed(text, cut):
    with pytest.raises(BilledError) as failed:
        billed("m", lambda: usable("m", text, cut), Usage(input=1))

    assert failed.value.why == "unusable"


def test_of_several_models_the_kind_is_that_of_one_that_may_answer_later():
    refused = {"a": ModelError("x", why="busy"), "b": ModelError("y", why="refused", retryable=False)}

    assert _nobody(["a", "b"], refused).why == "busy"
    assert _nobody(["b", "c"], {"b": refused["b"]}).why == "refused"
