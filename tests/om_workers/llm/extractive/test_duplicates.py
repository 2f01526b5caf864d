import pytest
from extracts import block, reflect


def test_reflection_drops_what_a_newer_line_repeats():
    text = reflect(
        "Date: Dec 1, 2025\n* 🔴 (09:00) User: likes green tea a lot",
        "Date: Dec 3, 2025\n* 🔴 (08:00) User: likes green tea a lot",
    )

    assert block(text) == ["Date: Dec 3, 2025", "* 🔴 (08:00) User: likes green tea a lot"]


@pytest.mark.parametrize("other", ["build 42 of the web app failed", "build 41 of the web app not failed"])
def test_lines_that_differ_in_a_number_or_a_negation_are_no_duplicates(other):
    text = reflect(f"Date: Dec 1, 2025\n* 🔴 (09:00) build 41 of the web app failed\n* 🔴 (09:01) {other}")

    assert len(block(text)) == 3
