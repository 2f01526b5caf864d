"""An item's bytes: what is no JSON is refused before anything is kept, and what is comes back as it was."""

import json

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.store.items.item_records import LONGEST_TTL_MINUTES, body_of, item_of, ttl_ms_of

HEAD = b"1700000000000001 1700000000000002 60000\n"


@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2.5, None, True, {"b": "\ud800\n\0ä"}]}, {"": 10**30}, {"text": "1 2 3\n{}\n"}]
)
@pytest.mark.parametrize("fields", [None, False, ["a", "b[*].c\n"]])
def test_a_value_comes_back_as_it_was_written(value, fields):
    item = item_of(("a",), "k", HEAD + body_of(value, fields))

    assert (item.value, item.fields) == (value, fields)
    assert (item.created, item.updated, item.ttl_ms) == (1700000000000001, 1700000000000002, 60_000)


def deep():
    value = {}
    for _ in range(100_000):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value", ["text", 1, [1], {"a": {1: 2}}, {"a": [{None: 1}]}, {"a": {1, 2}}, {"a": b"x"}, {"a": float("nan")}]
)
def test_what_is_no_object_of_json_is_refused(value):
    with pytest.raises(InvalidInputError, match="must be an object of JSON"):
        body_of(value)


@pytest.mark.parametrize("fields", ["text", True, 0, [5], [None], {"a": 1}])
def test_fields_that_cannot_be_are_refused_and_not_read(fields):
    with pytest.raises(InvalidInputError, match="index is"):
        body_of({}, fields)
    assert item_of(("a",), "k", HEAD + json.dumps(fields).encode() + b"\n{}") is None


def test_what_is_too_deep_to_be_written_is_refused():
    with pytest.raises(InvalidInputError, match="must be an object of JSON"):
        body_of(deep())


@pytest.mark.parametrize(
    "record", [b"", b"x", HEAD, HEAD + b"null\n[", b"a b c\nnull\n{}", HEAD + b"null\n7", b"\xff\n\n"]
)
def test_a_record_that_nobody_wrote_so_is_no_item(record):
    assert item_of(("a",), "k", record) is None


def test_the_words_of_an_item_are_its_values_and_not_their_names():
    item = item_of(("a",), "k", HEAD + body_of({"name": "Ada", "deep": [{"n": 7, "none": None}, "end"]}))

    assert item.text == "Ada\n7\nend"


@pytest.mark.parametrize(("minutes", "ms"), [(None, 0), (1, 60_000), (0.5, 30_000), (1e-9, 1)])
def test_a_lifetime_is_in_minutes(minutes, ms):
    assert ttl_ms_of(minutes) == ms


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf"), LONGEST_TTL_MINUTES + 1, "5", True])
def test_a_lifetime_that_cannot_be_is_refused(minutes):
    with pytest.raises(InvalidInputError, match="ttl is"):
        ttl_ms_of(minutes)
