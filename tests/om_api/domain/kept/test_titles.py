"""Titles and metadata of threads: what is one, and what is refused with what would do."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.titles import check_metadata, check_title, metadata_of, suggestion


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("The roof", "The roof"),
        ('  "The  roof."\n', "The roof"),
        ("**The roof**", "The roof"),
        ("ab", ""),
        ("x" * 80, "x" * 80),
        ("x" * 81, ""),
        ("two\nlines", "two lines"),
        ("a\x07bell", ""),
        (None, ""),
        (["The roof"], ""),
    ],
)
def test_a_suggestion_is_one_short_line_or_none(said, title):
    assert suggestion({"thread-title": said}) == title
    assert suggestion({}) == ""


@pytest.mark.parametrize("title", ["two\nlines", "x" * 201, None, "a\x00b"])
def test_what_is_no_title_is_refused_with_what_is(title):
    with pytest.raises(InvalidInputError, match="one line of at most 200 characters"):
        check_title(title)


def test_a_title_is_taken_without_the_blanks_around_it():
    assert check_title("  The roof ") == "The roof"


@pytest.mark.parametrize("metadata", [[], "x", {"n": float("inf")}, {"x": "y" * 4_096}, {"f": object()}])
def test_what_is_no_metadata_is_refused(metadata):
    with pytest.raises(InvalidInputError, match="metadata"):
        check_metadata(metadata)


@pytest.mark.parametrize("text", ["", "[]", "no json", "3", "[" * 100_000])
def test_what_somebody_wrote_that_is_no_metadata_is_none(text):
    assert metadata_of(text) == {}


def test_metadata_comes_back():
    assert metadata_of(check_metadata({"a": [1, {"b": None}]}).decode()) == {"a": [1, {"b": None}]}
