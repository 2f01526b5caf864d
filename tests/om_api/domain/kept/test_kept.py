"""What is kept in fields beside the notes."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.extractors import (
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
    without_told,  # fmt: skip
)
from om_api.domain.kept.titles import check_metadata, check_title, metadata_of, suggestion
from om_api.domain.kept.working_memory import WorkingForm, stamp, values_of, written
from om_api.domain.tags import NAMES
from om_api.domain.values import Observation

NUMBERS = {"type": "object", "additionalProperties": {"type": ["integer", "null"]}}
COUNTS = Extractor(slug="counts", instruction="Count.", schema=NUMBERS)


def noted(thread="t", to=1_000, common=(), **extracted):
    found = {slug.replace("_", "-"): value for slug, value in extracted.items()}
    return Observation(id=f"o-{to}", thread_id=thread, text="", to=to, extracted=found, common=common)


def test_check_slug_refuses_names_of_our_tags_and_check_schema_refuses_what_cannot_be_checked():
    for slug in ("contacts", "a", "dates-ahead", "x1-y2"):
        assert check_slug(slug) == slug, slug
    for slug in (*NAMES, WORKING, "thread-title", "", "-a", "a-", "a--b", "A", "a b", "<a>", "a" * 41, 3):
        with pytest.raises(InvalidInputError, match="cannot name an extractor"):
            check_slug(slug)
    for schema in [
        "object", {"type": "objekt"}, {"properties": {"a": {"$ref": "https://elsewhere/schema.json"}}},
        {"$ref": "#/$defs/nowhere"}, {"properties": {"a": {"$ref": "#unknown"}}}, {"description": "x" * LONGEST},
        {"const": object()}, {"pattern": "(?=a)a"}, {"items": {"pattern": "a{2000}"}}, {"pattern": "a{99999999999}"},
        {"patternProperties": {r"(a)\1": {}}}, {"unevaluatedProperties": False},
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}},
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match="schema"):
            check_schema(schema)
    assert fits({}, {"$ref": "#"}).startswith("it cannot be checked")


def test_fits_matches_patterns_in_linear_time():
    slow, hangs = r"^(\w+\s?)+$", "a" * 40 + "!"
    version = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    for value, schema in ((hangs, {"pattern": slow}), ([hangs], {**version, "items": {"$ref": "#"}, "pattern": slow})):
        assert "does not match" in fits(value, check_schema(schema)), schema
    twice = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    many = {"items": {"anyOf": [{"type": "null"}] * 400 + [True]}}
    for value, schema in ((1, {"$ref": "#/$defs/a0", "$defs": {**twice, "a40": {}}}), ([*range(2_000)], many)):
        assert "more than 150,000 steps" in fits(value, check_schema(schema))
    failing = {"anyOf": [{"anyOf": [{"type": "null"}] * 10}] * 30}
    for value in ("a" * 60_000, ["a" * 600] * 100):
        assert "more than 150,000 steps" in fits(value, check_schema(failing))
    assert fits("a" * 600, check_schema(failing)).startswith("'aaa")
    large, text = "(?:a.{0,1000}c|b.{0,1000}d|.{0,999}e)", "ab" * 3_900
    for value, schema in (
        (text, {"pattern": large}),
        ("é" * 3_000, {"pattern": large}),
        ({text: 1}, {"patternProperties": {large: {}}}),
    ):
        assert "more than 150,000 steps" in fits(value, check_schema(schema)), schema
    assert "maximum 64,000" in fits("a" * 70_000, {})
    unique = check_schema({"uniqueItems": True})
    for items, are in (
        ([{"a": 1}, {"a": 2}, [1], True, 1, "1", None, 0], True),
        ([{"a": 1, "b": [1]}, {"b": [1.0], "a": 1}], False),
    ):
        assert (fits(items, unique) == "") == are, items
    named = check_schema({"patternProperties": {slow: {"type": "integer"}, "^é": {}}, "additionalProperties": False})
    assert [fits(value, named) for value in ({"a": 1}, {"é!": "b"}, {"a": "b"})] == [
        "",
        "",
        "a: 'b' is not of type 'integer'",
    ]
    assert fits({hangs: 1}, named) == f"Additional properties are not allowed ('{hangs}' was unexpected)"


def test_value_of_reads_what_a_model_writes_and_refuses_what_does_not_fit():
    for text, value in (('{"a": 1}', {"a": 1}), ('```json\n{"a": 1}\n```', {"a": 1}), ("  ", None), ("null", None)):
        assert value_of(Extractor(slug="c", instruction="", schema={}), text) == value, (text, value)
    for text in ("{", '{"a": "one"}', "[1]", '{"a": ' + "9" * LONGEST + "}", "\ud800"):
        with pytest.raises(InvalidInputError):
            value_of(COUNTS, text)
    whole = Extractor(slug="w", instruction="", schema={"type": "object", "required": ["a", "b"]})
    assert value_of(whole, '{"b": 2}', {"a": 1}) == {"b": 2}
    with pytest.raises(InvalidInputError, match="'a' is a required property"):
        value_of(whole, '{"a": null}', {"a": 1, "b": 2})


def test_values_are_merged_by_their_kind_and_the_newest_of_too_many_stay():
    for before, found, after in [
        (None, {"a": 1, "b": None}, {"a": 1}), ({"a": 1, "b": 2}, {"b": None, "c": 3}, {"a": 1, "c": 3}),
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}), (["a"], ["b", "a"], ["a", "b"]),
        ("old", "new", "new"), ({"a": 1}, ["b"], ["b"]),
    ]:  # fmt: skip
        assert merged(before, found) == after, (before, found, after)
    assert merged([*range(MOST_ITEMS)], ["new"]) == [*range(1, MOST_ITEMS), "new"]
    assert list(merged({str(n): n for n in range(MOST_ITEMS)}, {"new": 1})) == [*map(str, range(1, MOST_ITEMS)), "new"]


def test_each_value_is_its_threads_or_the_whole_memorys_and_the_newer_one_counts():
    found = extracted_with({}, [noted("a", 1, mood="good"), noted("b", 2, ("contacts",), contacts={"Ada": "x"})])
    assert found.keys() == {"a", ""}
    assert found["a"]["mood"].value == "good"
    contacts = found[""]["contacts"]
    assert (contacts.value, contacts.at, contacts.observation_id) == ({"Ada": "x"}, 2, "o-2")
    for turned in (False, True):
        early = extracted_with({}, [noted("a", 1, ("contacts",), contacts={"Ada": "x", "Bo": "y"}, mood="good")])
        late = extracted_with({}, [noted("b", 2, ("contacts",), contacts={"Ada": "z"}, mood="bad")])
        made = of_several([late, early] if turned else [early, late])
        assert made[""]["contacts"].value == {"Ada": "z", "Bo": "y"}, turned
        assert (made["a"]["mood"].value, made["b"]["mood"].value) == ("good", "bad"), turned
    late = noted(to=20, working_memory={"City": "Rome"})
    early = noted(to=10, working_memory={"City": "Oslo", "Name": "Ada"})
    found = extracted_with({}, [late, early])["t"][WORKING].value
    assert found == {"City": ["Rome", 20], "Name": ["Ada", 10]}
    assert newest(found, {"City": ["Bern", 20]})["City"] == ["Bern", 20]


def test_what_is_to_go_is_found_as_it_was_said_however_deep():
    """Breaks when a value is searched as JSON, which writes quotes and ends of lines otherwise."""
    for value, left in [
        ({"says": ['the "blue"\ndoor', "x"], "other": "y"}, {"other": "y"}),
        ({"deep": {"says": 'the "blue"\ndoor'}, "other": {"says": "y"}}, {"other": {"says": "y"}}),
        ([['the "blue"\ndoor'], "y"], ["y"]), ('the "blue"\ndoor', None),
    ]:  # fmt: skip
        assert without_told(value, lambda text: 'the "blue"\ndoor' in text) == left, (value, left)


def test_a_title_is_one_short_line_and_metadata_comes_back_and_what_is_none_is_refused():
    for said, title in [
        ("The roof", "The roof"), ('  "The  roof."\n', "The roof"), ("**The roof**", "The roof"), ("ab", ""),
        ("x" * 80, "x" * 80), ("x" * 81, ""), ("two\nlines", "two lines"), ("a\x07bell", ""), (None, ""),
        (["The roof"], ""),
    ]:  # fmt: skip
        assert suggestion({"thread-title": said}) == title, (said, title)
        assert suggestion({}) == "", (said, title)
    for title in ("two\nlines", "x" * 201, None, "a\x00b"):
        with pytest.raises(InvalidInputError, match="one line of at most 200 characters"):
            check_title(title)
    for metadata in ([], "x", {"n": float("inf")}, {"x": "y" * 4_096}, {"f": object()}):
        with pytest.raises(InvalidInputError, match="metadata"):
            check_metadata(metadata)
    for text in ("", "[]", "no json", "3", "[" * 100_000):
        assert metadata_of(text) == {}, text
    assert metadata_of(check_metadata({"a": [1, {"b": None}]}).decode()) == {"a": [1, {"b": None}]}


FORM = WorkingForm(fields=("Name", "City"))


def test_working_memory_keeps_times_and_no_proposals():
    kept = {"Name": ["Ada", 5], "City": ["Graz", 6]}
    assert stamp(FORM, kept, {}, {"Name": "Ada", "City": "Rome"}, 9) == {"Name": ["Ada", 5], "City": ["Rome", 9]}
    proposed = {"City": ["Graz", 9_000]}
    assert values_of(stamp(FORM, {}, proposed, {"City": "Rome"}, 30), proposed) == {"City": "Rome"}
    proposed = {"City": ["Graz", 10]}
    after = stamp(FORM, {}, proposed, {}, 30)
    assert values_of(after, proposed) == {}
    assert values_of(after, {"City": ["Wien", 40]}) == {"City": "Wien"}
    # Breaks when a proposal is kept as if an Actor had said it now: what a user said since would lose to it.
    proposed = {"City": ["Graz", 10]}
    after = stamp(FORM, {}, proposed, {"Name": "Ada", "City": "Graz"}, 30)
    assert after == {"Name": ["Ada", 30]}
    assert values_of(after, {"City": ["Wien", 20]}) == {"Name": "Ada", "City": "Wien"}
    for value in (["tea", "City: Graz", "x\n- Name: Mallory"], {"a": "x\n- Name: Mallory"}):
        assert "\n- " not in f"- Prefers: {written(value)}", value
