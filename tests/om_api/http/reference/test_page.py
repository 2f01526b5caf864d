"""The page of the API: all of the document, for anybody, with nothing from elsewhere and nothing that runs."""

import base64
import copy
import hashlib
import json
import re
import shlex
from html.parser import HTMLParser

from om_api.http.reference import page
from om_api.http.reference.curl import curl

HOSTILE = '</style></p><script>alert(1)</script><img src="https://a.example/x">'


class Seen(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids, self.attributes = set(), [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        self.tags.add(tag)
        self.attributes |= said.keys()
        self.links += [said["href"]] if "href" in said else []
        self.ids += [said["id"]] if "id" in said else []


def test_whoever_opens_the_server_in_a_browser_is_shown_every_endpoint_and_nothing_that_runs(app):
    first, shown = app.get("/", follow_redirects=False), app.get("/docs")
    assert (first.status_code, first.headers["location"]) == (307, "docs")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")

    document, seen = app.get("/v1/openapi.json").json(), Seen(shown.text)
    named = {told["operationId"] for each in document["paths"].values() for told in each.values()}
    assert named | set(document["components"]["schemas"]) <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))
    assert {link for link in seen.links if link.lstrip("#") not in seen.ids} == {"v1/openapi.json"}

    (style,) = re.findall(r"<style>(.*?)</style>", shown.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = shown.headers["content-security-policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert not {"script", "link", "img", "iframe", "object", "form"} & seen.tags
    assert not {name for name in seen.attributes if name.startswith("on") or name in {"style", "src"}}
    assert not re.search(r"url\(|@import|//", style)

    text = page.render(_said(copy.deepcopy(document))).decode()
    assert text.count("alert(1)") > 100
    assert not {"script", "img"} & Seen(text).tags


def _said(value):
    """A document whose every description and example says something else."""
    if isinstance(value, dict):
        return {
            name: HOSTILE if name in {"description", "example", "title"} and isinstance(each, str) else _said(each)
            for name, each in value.items()
        }
    return [_said(each) for each in value] if isinstance(value, list) else value


def test_a_shell_reads_what_was_meant_whatever_stands_in_an_example():
    content = {"application/json": {"examples": {"x": {"value": {"text": "it's $(id) `id`"}}}}}
    line = shlex.split(curl("/x", "post", {"requestBody": {"content": content}}))

    assert json.loads(line[-1]) == {"text": "it's $(id) `id`"}
