"""Durations as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.settings.sections.fields import format_duration, parse_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("10s", 10),
        ("5m", 300),
        ("1h", 3_600),
        ("2d", 172_800),
        ("1h30m", 5_400),
        ("1d 2h", 93_600),
        ("0.5s", 0.5),
        (7, 7),
        ("7", 7),
        (0.25, 0.25),
        ("0s", 0),
    ],
)
def test_durations_are_read_as_people_write_them(written, seconds):
    assert parse_duration(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "h",
        "10x",
        "-5s",
        "5s1h",
        "1h1h",
        "٣s",
        "1e3",
        "nan",
        "inf",
        -1,
        True,
        None,
        [],
        math.nan,
        math.inf,
        10**400,
        "9" * 90 + "s",
        "9" * 400 + "s",
        "1" + " " * 100 + "s",
    ],
)
def test_what_is_no_duration_is_refused(written):
    with pytest.raises(ValueError):
        parse_duration(written)


@given(st.integers(0, 10**9))
def test_a_written_duration_reads_back_the_same(milliseconds):
    assert parse_duration(format_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)
