"""What is sent with a memory."""

from __future__ import annotations


def test_most_of_what_a_memory_sends_is_served_from_the_cache(found):
    line = next(line for line in found["lines"] if line["observer"] == "extractive")

    assert line["answering"]["cached"] > 0.5 * sum(line["answering"][what] for what in ("fresh", "cached", "written"))
