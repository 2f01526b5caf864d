"""Filters of items, one row each."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.store.items.item_filter import check_filter, matches

VALUE = {"n": 5, "text": "7", "word": "red", "none": None, "tags": ["a", "b"], "deep": {"x": 1, "y": {"z": 2}}}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (None, True),
        ({}, True),
        ({"n": 5}, True),
        ({"n": 5, "word": "blue"}, False),
        ({"absent": None}, True),
        ({"absent": 1}, False),
        ({"n": {"$eq": 5}}, True),
        ({"n": {"$ne": 5}}, False),
        ({"absent": {"$ne": 5}}, True),
        ({"n": {"$gt": 4, "$lt": 6}}, True),
        ({"n": {"$gt": 5}}, False),
        ({"n": {"$gte": 5}}, True),
        ({"n": {"$lt": 5}}, False),
        ({"n": {"$lte": 5}}, True),
        ({"text": {"$gt": 6}}, True),
        ({"word": {"$gt": 6}}, False),
        ({"none": {"$lt": 6}}, False),
        ({"absent": {"$lte": 6}}, False),
        ({"tags": ["a", "b"]}, True),
        ({"tags": ["a"]}, False),
        ({"tags": ["b", "a"]}, False),
        ({"word": ["red"]}, False),
        ({"deep": {"x": 1}}, True),
        ({"deep": {"y": {"z": {"$gte": 2}}}}, True),
        ({"deep": {"y": {"z": 3}}}, False),
        ({"word": {"x": 1}}, False),
    ],
)
def test_a_filter_keeps_what_it_says(wanted, expected):
    check_filter(wanted)

    assert matches(VALUE, wanted) is expected


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"n": {"$in": [1]}}, "use one of"),
        ({"n": {"$eq": 1, "plain": 2}}, "use one of"),
        ({"deep": {"x": {"$near": 1}}}, "use one of"),
        ({"n": {"$gt": "red"}}, "compares numbers"),
    ],
)
def test_a_filter_that_cannot_be_is_refused(wanted, says):
    with pytest.raises(InvalidInputError, match=says):
        check_filter(wanted)
