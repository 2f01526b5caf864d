"""Each failure of a model has a kind, by which it is counted where none of its words may stand."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest
from model_requests import KEY

from om_workers.llm.base import Request, TurnedAwayError
from om_workers.llm.connections import TooLargeError
from om_workers.llm.faults import ProviderCall, fault, quote, refusal, retry_after

ASKED = ProviderCall("m", "key", Request(purpose="observe", system="", prompt="hello"))


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


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {}, True),
        (402, {}, True),
        (403, {}, True),
        (404, {}, True),
        (429, {}, True),
        (400, {"message": "insufficient balance"}, True),
        (400, {"message": "a part of the request is not permitted"}, False),
        (413, {}, False),
        (500, {}, False),
        (503, {}, False),
    ],
)
def test_who_is_turned_away_had_nobody_work_for_him(status, body, expected):
    assert isinstance(refusal(ASKED, status, body), TurnedAwayError) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx2.ConnectError("refused"), True),
        (httpx2.ConnectTimeout("late"), False),  # it took as long as an answer may
        (httpx2.ReadError("hung up"), False),
        (TimeoutError(), False),
    ],
)
def test_of_what_broke_only_a_connection_that_was_never_made_is_nobodys_work(error, expected):
    assert isinstance(fault(ASKED, error), TurnedAwayError) is expected


NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0.5"}, 1.0),
        ({"retry-after": "0.0001"}, 1.0),  # in whole milliseconds that is no wait at all
        ({"retry-after": "1e-320"}, 1.0),
        ({"retry-after": "86400"}, 600.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
        (
            {"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True), "date": format_datetime(NOW)},
            90.0,
        ),
        ({"retry-after": format_datetime(NOW - timedelta(days=9), usegmt=True), "date": format_datetime(NOW)}, None),
    ],
)
def test_a_wait_is_read_in_seconds_or_as_a_date_of_the_providers_own_clock(headers, seconds):
    assert retry_after(headers) == seconds


# -- what a provider says of itself, as our errors repeat it


def test_what_a_provider_says_is_one_line_of_at_most_300_characters():
    assert quote({"message": "a\n b" + "c" * 900}, "", "") == "a b" + "c" * 297


class Unread(str):
    __slots__ = ()

    def split(self, *_):
        raise AssertionError("read to its end")


def test_a_provider_that_tells_a_long_story_is_not_read_to_its_end():
    """Breaks when millions of words are compared with the key: a minute in which a timeout ends nothing."""
    assert quote({"message": Unread("word " * 2_000)}, KEY, "").startswith("word word")
