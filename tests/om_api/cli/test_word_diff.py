"""What changed between two texts can be read off, word by word, and nothing of either is lost."""

import re

import pytest

from om_api.cli.word_diff import word_diff


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("* same", "* same", ["  * same"]),
        ("* Ada is his mother.", "* Ada is his sister.", ["~ * Ada is his [-mother-]{+sister+}."]),
        ("a\nb", "a\nb\nc", ["  a", "  b", "+ {+c+}"]),
        ("a\nb\nc", "a", ["  a", "- [-b-]", "- [-c-]"]),
        ("a\nx\nc", "a\ny z\nq\nc", ["  a", "- [-x-]", "+ {+y z+}", "+ {+q+}", "  c"]),
        ("", "* first", ["~ {+* first+}"]),
    ],
)
def test_what_goes_and_what_comes_is_marked(before, after, lines):
    assert word_diff(before, after) == lines


def test_of_long_texts_either_can_be_made_again():
    before = "\n".join(f"* line {n} of the notes, about matter {n % 7}" for n in range(400))
    after = before.replace("matter 3", "subject 3").replace("* line 9", "* row 9")
    told = word_diff(before, after)
    becomes = [re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", line[2:])) for line in told if line[0] != "-"]
    was = [re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", line[2:])) for line in told if line[0] != "+"]

    assert "\n".join(becomes) == after
    assert "\n".join(was) == before
