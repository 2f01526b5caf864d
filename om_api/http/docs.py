"""The page of all endpoints: `python -m om_api.http.docs` prints it, `--write` makes docs/http-reference.md."""

import json
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

from om_api.http.app import make_app
from om_api.http.guard import OF_ALL, ROLE
from om_api.settings import load_settings
from om_api.settings.docs import table

PAGE = Path("docs/http-reference.md")
_WIDE = 110
_INTRODUCTION = """\
# HTTP reference

<!-- Made by `python -m om_api.http.docs --write`. Change om_api/http/ instead. -->

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
    bound = ", bound to every resource" if OF_ALL in told else ""
    yield f"Needs a key of a {told[ROLE]}{bound}.\n" if ROLE in told else "Needs no key.\n"
    rows = [_parameter(each) for each in told.get("parameters", ())]
    if rows:
        yield table(("parameter", "in", "type", "required", "meaning"), rows)
    if body := told.get("requestBody"):
        yield from _content("Send", body["content"]["application/json"])
    for media_type, reply in told["responses"]["200"]["content"].items():
        yield from (
            _content("Replies", reply) if media_type == "application/json" else _text(media_type, reply["example"])
        )


def _parameter(told: Document) -> tuple[str, ...]:
    return f"`{told['name']}`", told["in"], _type(told["schema"]), _required(told["required"]), told["description"]


def _content(word: str, content: Document) -> Iterator[str]:
    yield f"{word} {_type(content['schema'])}:\n"
    examples = [content["example"]] if "example" in content else []
    examples += [each["value"] for each in content.get("examples", {}).values()]
    for example in examples:
        short = json.dumps(example, ensure_ascii=False)
        text = short if len(short) < _WIDE else json.dumps(example, indent=2, ensure_ascii=False)
        yield f"```json\n{text}\n```\n"


def _text(media_type: str, example: str) -> Iterator[str]:
    yield f"Replies `{media_type}`:\n"
    yield f"```text\n{example.rstrip()}\n```\n"


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


def main(arguments: list[str]) -> None:
    """Print the page, or write it where it belongs, seen from the project's root."""
    if "--write" in arguments:
        PAGE.write_text(render_docs(), encoding="utf-8")
    else:
        sys.stdout.write(render_docs())


if __name__ == "__main__":
    main(sys.argv[1:])
