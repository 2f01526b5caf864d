"""The page of all endpoints, docs/http-reference.md; `make docs` writes it."""

import json
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from settings_page import table

from om_api.http.app import make_app
from om_api.http.reference.endpoint import needed
from om_api.http.reference.schema_words import words
from om_api.http.requests.replies import LINES
from om_api.settings import load_settings

_WIDE = 110
_INTRODUCTION = """\
# HTTP reference

<!-- Made by `make docs`. Change om_api/http/ instead. -->

Every endpoint, as a running server shows them at `/docs`, and to programs at `/v1/openapi.json`. How to begin, keys, errors
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
    yield f"{needed(told)}\n"
    rows = [_parameter(each) for each in told.get("parameters", ())]
    if rows:
        yield table(("parameter", "in", "type", "required", "meaning"), rows)
    if body := told.get("requestBody"):
        yield from _content("Send" if body.get("required") else "Send nothing, or", body["content"])
    yield from _content("Replies", told["responses"]["200"]["content"])


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
    return "".join(f"[{text}](#{name.lower()})" if name else text for text, name in words(schema))
