"""Each kind of figure in one form."""

import pytest

from om_api.web.pages import filters


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("number", None, "–"),
        ("number", 0, "0"),
        ("number", 1234567, "1,234,567"),
        ("number", 2.5, "2.50"),
        ("dollars", None, "–"),
        ("dollars", 0, "$0.00"),
        ("dollars", 1234.5, "$1,234.50"),
        ("dollars", -3, "-$3.00"),
        ("dollars", 0.00042, "$0.00042"),
        ("percent", None, "–"),
        ("percent", 0.724, "72 %"),
        ("times", 5.44, "5.4x"),
        ("times", None, "–"),
        ("duration", None, "–"),
        ("duration", 0, "0 s"),
        ("duration", -5, "0 s"),
        ("duration", 200, "3 min 20 s"),
        ("duration", 187_200, "2 d 4 h"),
        ("duration", 86_401, "1 d 1 s"),
        ("moment", None, "–"),
        ("moment", 0, "–"),
        ("short", "t-1", "t-1"),
        ("short", "01a21664a9ed3e609f479a94fc25e97c", "…94fc25e97c"),
    ],
)
def test_a_figure_is_written_in_one_form(name, value, shown):
    assert filters.ALL[name](value) == shown


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (1_767_270_600_000, '<time datetime="2026-01-01T12:30:00+00:00">2026-01-01 12:30 UTC</time>'),
        (-5, '<time datetime="1970-01-01T00:00:00+00:00">1970-01-01 00:00 UTC</time>'),
        (1e300, '<time datetime="9892-03-08T12:26:40+00:00">9892-03-08 12:26 UTC</time>'),
    ],
)
def test_a_time_is_told_to_the_second_and_never_fails(at, shown):
    assert filters.moment(at) == shown


def test_an_exact_time_shows_its_second():
    assert filters.moment(1_767_270_605_000, exact=True) == (
        '<time data-exact datetime="2026-01-01T12:30:05+00:00">2026-01-01 12:30:05 UTC</time>'
    )
