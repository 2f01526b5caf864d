"""The page of all endpoints, docs/http-reference.md; `make docs` writes it."""

import json
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from settings_page import table

from om_api.http.app import make_app
from om_api.http.requests.guard import RESOURCES, ROLE
from om_api.http.requests.replies import LINES
from om_api.settings import load_settings

_WIDE = 110
_INTRODUCTION = """\
# HTTP reference

<!-- Made by `make docs`. Change om_api/http/ instead. -->

Every endpoint, as the OpenAPI document of a running server (at `/v1/openapi.json`) has them. How to begin, keys, errors
and pages: [http.md](http.md). A refused request is answered by a [Problem](#problem).
"""
Document = dict[str, Any]


def render_docs() -> str:
    """Return the whole page."""
    document = make_app(load_settings(environ={})).openapi()
    return "\n".join([_INTRODUCTION, *_endpoints(document), "## Values\n", *_values(document)])


def _endpoints(document: Document) -> Iterator[str]:
    tag = ""
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            if told["tags"][0] != tag:
                tag = told["tags"][0]
                yield f"## {tag.capitalize()}\n"
            yield from _endpoint(f"{method.upper()} {path}", told)


def _endpoint(name: str, told: Document) -> Iterator[str]:
    yield f"### `{name}`\n"
    yield f"{told['description']}\n"
    yield f"{_needed(told)}\n"
    rows = [_parameter(each) for each in told.get("parameters", ())]
    if rows:
        yield table(("parameter", "in", "type", "required", "meaning"), rows)
    if body := told.get("requestBody"):
        yield from _content("Send" if body.get("required") else "Send nothing, or", body["content"])
    yield from _content("Replies", told["responses"]["200"]["content"])


def _needed(told: Document) -> str:
    if ROLE not in told:
        return "Needs no key."
    article = "an" if told[ROLE][0] in "aeiou" else "a"
    return f"Needs a key of {article} {told[ROLE]}{', bound to every resource (`*`)' if RESOURCES in told else ''}."


def _parameter(told: Document) -> tuple[str, ...]:
    return f"`{told['name']}`", told["in"], _type(told["schema"]), _required(told["required"]), told["description"]


def _content(word: str, contents: Document) -> Iterator[str]:
    for media, content in contents.items():
        if media == LINES:
            yield f"{word} lines of JSON (`{LINES}`), see [backup.md](backup.md):\n"
            yield from (f"```json\n{example}```\n" for example in _examples(content))
        elif media == "application/json":
            yield f"{word} {_type(content['schema'])}:\n"
            yield from (f"```json\n{_shown(example)}\n```\n" for example in _examples(content))
        else:
            yield f"{word} `{media}`:\n"
            yield f"```text\n{content['example'].rstrip()}\n```\n"


def _shown(example: Any) -> str:
    short = json.dumps(example, ensure_ascii=False)
    return short if len(short) < _WIDE else json.dumps(example, indent=2, ensure_ascii=False)


def _examples(content: Document) -> list[Any]:
    shown = [content["example"]] if "example" in content else []
    return [*shown, *(each["value"] for each in content.get("examples", {}).values())]


def _values(document: Document) -> Iterator[str]:
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f"### {name}\n"
        yield f"{cleandoc(schema.get('description', ''))}\n"
        if "properties" in schema:
            required = schema.get("required", ())
            rows = [_field(field, told, field in required) for field, told in schema["properties"].items()]
            yield table(("field", "type", "required", "meaning"), rows)
        elif "enum" in schema:
            yield f"One of {', '.join(f'`{word}`' for word in schema['enum'])}.\n"


def _field(name: str, told: Document, required: bool) -> tuple[str, ...]:  # noqa: FBT001  a column of its own
    return f"`{name}`", _type(told), _required(required), told.get("description", "")


def _required(is_so: bool) -> str:  # noqa: FBT001  same
    return "yes" if is_so else ""


def _type(schema: Document) -> str:
    """A schema in a few words, a link where it has a name."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    kind = str(schema.get("type", "any"))
    if kind == "array" and schema.get("items"):
        return f"list of {_type(schema['items'])}"
    bounds = [f"{word} {schema[key]:,.12g}" for word, key in _BOUNDS.items() if key in schema]
    return " ".join([kind, *([f"({', '.join(bounds)})"] if bounds else [])])


_BOUNDS = {"from": "minimum", "to": "maximum", "at least": "minItems", "at most": "maxItems"}
