"""The whole page."""

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files
from inspect import cleandoc
from itertools import groupby
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from om_api.http.reference.elements import Inside, element, paragraphs, written
from om_api.http.reference.endpoint import article, entries, heading, typed

_STYLE = files("om_api.http.reference").joinpath("page.css").read_text("utf-8")
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS = {  # a browser loads nothing for this page and runs nothing in it, whatever should ever stand there
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_BEGIN = """\
# of this server, and a key that `om keys create` made
OM=http://127.0.0.1:8000
TOKEN=om_…"""
Document = dict[str, Any]


class PathOperation(NamedTuple):
    """Where it is, and what the document says of it."""

    path: str
    method: str
    told: dict[str, Any]

    @property
    def tag(self) -> str:
        """What it belongs to."""
        return str(self.told["tags"][0]).capitalize()


def render(document: Document) -> bytes:
    """An OpenAPI document as a page of HTML."""
    found = [
        PathOperation(path, method, told) for path, each in document["paths"].items() for method, told in each.items()
    ]
    groups = [(tag, list(each)) for tag, each in groupby(found, lambda endpoint: endpoint.tag)]
    main = element("main")
    for tag, each in groups:
        main.append(element("h2", tag))
        main.extend(article(*endpoint) for endpoint in each)
    main.append(element("h2", "Values", id="values"))
    main.extend(_value(*each) for each in sorted(document["components"]["schemas"].items()))
    begin = element("header", *_introduction(document["info"]))
    return written(element("html", _head(document["info"]), element("body", begin, _contents(groups), main), lang="en"))


def _head(info: dict[str, str]) -> Element:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{info['title']}: HTTP API"),
        element("style", _STYLE),
    )


def _introduction(info: dict[str, str]) -> Iterator[Inside]:
    yield element("h1", f"{info['title']} ", element("small", info["version"]))
    yield from paragraphs(info["description"])
    yield element("p", "The same for programs: ", element("a", "/v1/openapi.json", href="v1/openapi.json"), ".")
    yield element("p", "The examples are for a shell that knows where to ask and with which key:")
    yield element("pre", _BEGIN)


def _contents(groups: list[tuple[str, list[PathOperation]]]) -> Element:
    inside: list[Inside] = [element("summary", "Endpoints")]
    for tag, each in groups:
        links = [
            element("li", element("a", *_link(endpoint), href=f"#{endpoint.told['operationId']}")) for endpoint in each
        ]
        inside += [element("p", tag), element("ul", *links)]
    inside.append(element("p", element("a", "Values", href="#values")))
    return element("nav", element("details", *inside, open="open"))


def _link(endpoint: PathOperation) -> list[Inside]:
    return heading(endpoint.path, endpoint.method, short=True)


def _value(name: str, schema: dict[str, Any]) -> Element:
    required = schema.get("required", ())
    rows = (
        (field, [*typed(told), ", required" if field in required else ""], told.get("description", ""))
        for field, told in schema.get("properties", {}).items()
    )
    inside = [element("h3", element("a", name, href=f"#{name}")), *paragraphs(cleandoc(schema.get("description", "")))]
    inside += [element("p", "One of ", *typed(schema), ".")] if "enum" in schema else []
    return element("article", *inside, *entries(rows), id=name)
