"""Schemas in a few words."""

import pytest

from om_api.http.reference.schema_words import Words, words

A, B = {"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}
NULL = {"type": "null"}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, "string"),
        ({}, "any"),
        (A, "A"),
        ({"enum": ["x", "y"]}, "`x`, `y`"),
        ({"type": "integer", "minimum": 1, "maximum": 1000.0}, "integer (from 1, to 1,000)"),
        ({"anyOf": [{"type": "string"}, {"type": "string", "pattern": "x"}, NULL]}, "string or null"),
        ({"type": "array", "items": A}, "list of A"),
        ({"type": "array"}, "array"),
        (
            {"anyOf": [{"type": "array", "items": {"anyOf": [{"anyOf": [A, B]}, A]}}, NULL]},
            "list of (A or B or A) or null",
        ),
    ],
)
def test_a_schema_is_said_in_a_few_words(schema, said):
    assert "".join(each.text for each in words(schema)) == said


def test_a_value_of_the_document_is_named():
    assert words({"anyOf": [A, NULL]}) == [Words("A", "A"), Words(" or "), Words("null")]
