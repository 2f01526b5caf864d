from __future__ import annotations

import pytest
from extracts import block, observe, said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I prefer short answers in Portuguese", "🔴"),
        ("We decided to use Valkey instead of Redis", "🔴"),
        ("The deadline moved from March 3 to March 9", "🔴"),
        ("Could you rename the billing module?", "🟡"),
        ("maybe the cache of the parser leaks", "🟢"),
        ("the parser rewrite is merged", "✅"),
    ],
)
def test_a_line_has_the_priority_of_what_it_tells(text, line):
    assert block(observe(said(text)))[1].startswith(f"* {line} (14:30) User")
