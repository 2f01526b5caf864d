"""Each kind of figure in one form."""

from om_api.web.pages import filters


def test_a_figure_is_written_in_one_form():
    for name, shown in {
        "number": {None: "–", 0: "0", 1234567: "1,234,567", 2.5: "2.50"},
        "dollars": {None: "–", 0: "$0.00", 1234.5: "$1,234.50", -3: "-$3.00", 0.00042: "$0.00042"},
        "percent": {None: "–", 0.724: "72 %"},
        "times": {None: "–", 5.44: "5.4x"},
        "duration": {None: "–", 0: "0 s", -5: "0 s", 200: "3 min 20 s", 187_200: "2 d 4 h", 86_401: "1 d 1 s"},
        "short": {"t-1": "t-1", "01a21664a9ed3e609f479a94fc25e97c": "…94fc25e97c"},
        "moment": {
            None: "–",
            0: "–",
            1_767_270_600_000: '<time datetime="2026-01-01T12:30:00+00:00">2026-01-01 12:30 UTC</time>',
            -5: '<time datetime="1970-01-01T00:00:00+00:00">1970-01-01 00:00 UTC</time>',
            1e300: '<time datetime="9892-03-08T12:26:40+00:00">9892-03-08 12:26 UTC</time>',
        },
    }.items():
        assert {value: filters.ALL[name](value) for value in shown} == shown
