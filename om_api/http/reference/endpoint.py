"""One endpoint on the page: what it does, who may ask, what it takes, what it answers, and how it is asked."""

import json
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from om_api.http.reference.curl import curl
from om_api.http.reference.elements import Inside, element, marked, paragraphs
from om_api.http.reference.schema_words import Schema, words
from om_api.http.requests.guard import RESOURCES, ROLE

_WIDE = 76
_DONE = "200"
_COMMON = "/v1/resources/{resource}/"
Operation = dict[str, Any]


def article(path: str, method: str, told: Operation) -> Element:
    """All of an endpoint."""
    name = told["operationId"]
    title = element("h3", element("a", *heading(path, method), href=f"#{name}"))
    inside = [title, *paragraphs(told["description"]), element("p", *marked(needed(told)), class_="who")]
    inside += _titled("Parameters", _parameters(told))
    inside += _titled("Body", _body(told))
    inside += [element("h4", "Ask"), element("pre", curl(path, method, told))]
    inside += [element("h4", "Reply"), *_contents(told["responses"][_DONE]["content"])]
    return element("article", *inside, *_errors(told), id=name)


def heading(path: str, method: str, *, short: bool = False) -> list[Inside]:
    """The name of an endpoint: its method and its path, of which the beginning that most have may be left out."""
    shown = path.replace(_COMMON, "…/") if short else path
    return [element("b", method.upper(), class_=method), " ", element("code", shown)]


def needed(told: Operation) -> str:
    """Which key an endpoint needs."""
    if ROLE not in told:
        return "Needs no key."
    article = "an" if told[ROLE][0] in "aeiou" else "a"
    return f"Needs a key of {article} {told[ROLE]}{', bound to every resource (`*`)' if RESOURCES in told else ''}."


def typed(schema: Schema) -> list[Inside]:
    """A schema in a few words, with links to the values that it names."""
    found: list[Inside] = []
    for text, name in words(schema):
        found += [element("a", text, href=f"#{name}")] if name else marked(text)
    return found


def entries(rows: Iterator[tuple[str, list[Inside], str]]) -> list[Inside]:
    """Names, each with what it is and what it means; nothing where there is none."""
    inside = [
        each
        for name, what, meaning in rows
        for each in (
            element("dt", element("code", name), " ", element("span", *what)),
            element("dd", *marked(meaning)),
        )
    ]
    return [element("dl", *inside)] if inside else []


def _titled(title: str, inside: list[Inside]) -> list[Inside]:
    return [element("h4", title), *inside] if inside else []


def _parameters(told: Operation) -> list[Inside]:
    return entries(
        (each["name"], [*typed(each["schema"]), f", {each['in']}{_required(each['required'])}"], each["description"])
        for each in told.get("parameters", ())
    )


def _required(is_so: bool) -> str:  # noqa: FBT001  as the document says it
    return ", required" if is_so else ""


def _body(told: Operation) -> list[Inside]:
    body = told.get("requestBody", {})
    optional = [] if not body or body.get("required") else [element("p", "It may be left out.")]
    return [*_contents(body.get("content", {})), *optional]


def _contents(contents: dict[str, Any]) -> list[Inside]:
    found: list[Inside] = []
    for media, content in contents.items():
        found.append(element("p", *typed(content["schema"]), " as ", element("code", media)))
        examples = [each["value"] for each in content.get("examples", {}).values()]
        found += [element("pre", _shown(each)) for each in [*examples, *_one(content)]]
    return found


def _one(content: dict[str, Any]) -> list[Any]:
    return [content["example"]] if "example" in content else []


def _shown(example: Any) -> str:
    if isinstance(example, str):
        return example.rstrip()
    short = json.dumps(example, ensure_ascii=False)
    return short if len(short) < _WIDE else json.dumps(example, indent=2, ensure_ascii=False)


def _errors(told: Operation) -> list[Inside]:
    rows: Iterator[tuple[str, list[Inside], str]] = (
        (status, [], each["description"]) for status, each in told["responses"].items() if status != _DONE
    )
    found = entries(rows)
    said = element("p", "Each is a ", element("a", "Problem", href="#Problem"), " as ")
    said.append(element("code", "application/problem+json"))
    return [element("details", element("summary", "Errors"), *found, said)] if found else []
