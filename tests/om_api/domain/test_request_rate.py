"""How often a key may ask, as it is written, and what is none."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.request_rate import MOST, RequestRate


def test_a_rate_is_so_many_requests_in_so_many_seconds():
    texts = ["5/s", "60/m", "1/h", "10000/d"]

    assert [RequestRate.parse(text) for text in texts] == [(5, 1), (60, 60), (1, 3_600), (MOST, 86_400)]


def test_a_rate_is_told_in_words():
    words = [str(RequestRate.parse(text)) for text in ("60/m", "10000/h")]

    assert words == ["60 requests a minute", "10,000 requests an hour"]


@pytest.mark.parametrize(
    "text", ["", "60", "60/", "/m", "0/m", "10001/m", "60/w", "-1/m", "6.5/m", " 60/m", "60/min", "٣/m"]
)
def test_what_is_no_rate_is_refused_and_told_what_one_is(text):
    with pytest.raises(InvalidInputError, match="such as 60/m"):
        RequestRate.parse(text)
