"""A schema in a few words."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

Schema = dict[str, Any]
_BOUNDS = {"from": "minimum", "to": "maximum", "at least": "minItems", "at most": "maxItems"}


class Words(NamedTuple):
    """Some words, with code in backticks; `names` is the value of the document that they name, if they name one."""

    text: str
    names: str = ""


def words(schema: Schema) -> list[Words]:
    """What a schema says."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return [Words(name, name)]
    if "anyOf" in schema:
        return list(chain.from_iterable(_either(schema["anyOf"])))
    if "enum" in schema:
        return [Words(", ".join(f"`{word}`" for word in schema["enum"]))]
    kind = str(schema.get("type", "any"))
    if kind == "array" and schema.get("items"):
        found = words(schema["items"])
        return [Words("list of "), *([Words("("), *found, Words(")")] if len(found) > 1 else found)]
    bounds = [f"{word} {schema[key]:,.12g}" for word, key in _BOUNDS.items() if key in schema]
    return [Words(" ".join([kind, *([f"({', '.join(bounds)})"] if bounds else [])]))]


def _either(schemas: list[Schema]) -> Iterator[list[Words]]:
    for number, each in enumerate(dict.fromkeys(tuple(words(schema)) for schema in schemas)):
        yield [*([Words(" or ")] if number else []), *each]
