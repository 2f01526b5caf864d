"""Extractors: what may be one, how its value is read, and what several values come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.extractors import (
    KNOWN,
    LONGEST,
    MOST_ITEMS,
    WORKING,
    Extractor,
    check_schema,
    check_slug,
    extracted_with,
    fits,
    merged,
    newest,
    of_several,
    value_of,
    without_told,
)
from om_api.domain.tags import NAMES
from om_api.domain.values import Observation

NUMBERS = {"type": "object", "additionalProperties": {"type": ["integer", "null"]}}
COUNTS = Extractor(slug="counts", instruction="Count.", schema=NUMBERS)
TEXT = Extractor(slug="mood", instruction="How is it?")


def noted(thread="t", to=1_000, common=(), **extracted):
    found = {slug.replace("_", "-"): value for slug, value in extracted.items()}
    return Observation(id=f"o-{to}", thread_id=thread, text="", to=to, extracted=found, common=common)


@pytest.mark.parametrize("slug", ["contacts", "a", "dates-ahead", "x1-y2"])
def test_a_slug_is_a_tag_of_its_own(slug):
    assert check_slug(slug) == slug


@pytest.mark.parametrize(
    "slug", [*NAMES, WORKING, "thread-title", "", "-a", "a-", "a--b", "A", "a b", "<a>", "a" * 41, 3]
)
def test_no_slug_collides_with_our_tags(slug):
    with pytest.raises(InvalidInputError, match="cannot name an extractor"):
        check_slug(slug)


@pytest.mark.parametrize(
    "schema",
    [
        "object",
        {"type": "objekt"},
        {"properties": {"a": {"$ref": "https://elsewhere/schema.json"}}},
        {"$ref": "#/$defs/nowhere"},
        {"properties": {"a": {"$ref": "#unknown"}}},
        {"description": "x" * LONGEST},
        {"const": object()},
    ],
)
def test_a_schema_that_cannot_be_is_refused(schema):
    with pytest.raises(InvalidInputError, match="schema"):
        check_schema(schema)


@pytest.mark.parametrize("slug", KNOWN)
def test_our_own_schemas_can_be(slug):
    assert check_schema(KNOWN[slug]) == KNOWN[slug]


@pytest.mark.parametrize(
    ("text", "value"), [('{"a": 1}', {"a": 1}), ('```json\n{"a": 1}\n```', {"a": 1}), ("  ", None), ("null", None)]
)
def test_a_value_is_read_as_a_model_writes_it(text, value):
    assert value_of(Extractor(slug="c", instruction="", schema={}), text) == value


@pytest.mark.parametrize("text", ["{", '{"a": "one"}', "[1]", '{"a": ' + "9" * LONGEST + "}", "\ud800"])
def test_what_does_not_fit_is_refused_with_the_reason(text):
    with pytest.raises(InvalidInputError):
        value_of(COUNTS, text)


def test_text_is_taken_as_it_is():
    assert value_of(TEXT, " good <b> \n") == "good <b>"


def test_a_patch_is_checked_as_what_it_makes_of_the_value():
    whole = Extractor(slug="w", instruction="", schema={"type": "object", "required": ["a", "b"]})

    assert value_of(whole, '{"b": 2}', {"a": 1}) == {"b": 2}
    with pytest.raises(InvalidInputError, match="'a' is a required property"):
        value_of(whole, '{"a": null}', {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("before", "found", "after"),
    [
        (None, {"a": 1, "b": None}, {"a": 1}),
        ({"a": 1, "b": 2}, {"b": None, "c": 3}, {"a": 1, "c": 3}),
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        (["a"], ["b", "a"], ["a", "b"]),
        ("old", "new", "new"),
        ({"a": 1}, ["b"], ["b"]),
    ],
)
def test_values_are_merged_by_their_kind(before, found, after):
    assert merged(before, found) == after


def test_the_newest_of_too_many_stay():
    assert merged([*range(MOST_ITEMS)], ["new"]) == [*range(1, MOST_ITEMS), "new"]
    assert list(merged({str(n): n for n in range(MOST_ITEMS)}, {"new": 1})) == [*map(str, range(1, MOST_ITEMS)), "new"]


def test_each_value_is_its_threads_or_the_whole_memorys():
    found = extracted_with({}, [noted("a", 1, mood="good"), noted("b", 2, ("contacts",), contacts={"Ada": "x"})])

    assert {thread: {slug: each.value for slug, each in of.items()} for thread, of in found.items()} == {
        "a": {"mood": "good"},
        "": {"contacts": {"Ada": "x"}},
    }
    assert found[""]["contacts"].at == 2
    assert found[""]["contacts"].observation_id == "o-2"


@pytest.mark.parametrize("turned", [False, True])
def test_of_what_several_memories_say_the_newer_one_counts_and_all_that_one_of_them_says_stands(turned):
    early = extracted_with({}, [noted("a", 1, ("contacts",), contacts={"Ada": "x", "Bo": "y"}, mood="good")])
    late = extracted_with({}, [noted("b", 2, ("contacts",), contacts={"Ada": "z"}, mood="bad")])
    made = of_several([late, early] if turned else [early, late])

    assert made[""]["contacts"].value == {"Ada": "z", "Bo": "y"}
    assert (made["a"]["mood"].value, made["b"]["mood"].value) == ("good", "bad")


values = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(max_size=2), of, max_size=3),
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["mood", "contacts", "list"]), values, max_size=3), max_size=6), st.data()
)
def test_it_makes_no_difference_where_a_reflection_comes_between(said, data):
    observations = [noted("t", at, **found) for at, found in enumerate(said, 1)]
    cut = data.draw(st.integers(0, len(said)))

    assert extracted_with(extracted_with({}, observations[:cut]), observations[cut:]) == extracted_with(
        {}, observations
    )


def test_of_a_proposed_field_the_one_said_last_counts():
    late, early = (
        noted(to=20, working_memory={"City": "Rome"}),
        noted(to=10, working_memory={"City": "Oslo", "Name": "Ada"}),
    )

    found = extracted_with({}, [late, early])["t"][WORKING].value

    assert found == {"City": ["Rome", 20], "Name": ["Ada", 10]}
    assert newest(found, {"City": ["Bern", 20]})["City"] == ["Bern", 20]


def test_a_schema_that_recurses_without_end_is_told_and_not_raised():
    assert fits({}, {"$ref": "#"}).startswith("it cannot be checked")


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"says": ['the "blue"\ndoor', "x"], "other": "y"}, {"other": "y"}),
        ({"deep": {"says": 'the "blue"\ndoor'}, "other": {"says": "y"}}, {"other": {"says": "y"}}),
        ([['the "blue"\ndoor'], "y"], ["y"]),
        ('the "blue"\ndoor', None),
    ],
)
def test_what_is_to_go_is_found_as_it_was_said_however_deep(value, left):
    """Breaks when a value is searched as JSON, which writes quotes and ends of lines otherwise."""
    assert without_told(value, lambda text: 'the "blue"\ndoor' in text) == left
