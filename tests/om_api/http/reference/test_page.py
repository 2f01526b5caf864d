"""The page of the API: all of the document, for anybody, with nothing from elsewhere and nothing that runs."""

import base64
import copy
import hashlib
import re
from html.parser import HTMLParser

import pytest

from om_api.http.reference import page

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


@pytest.fixture
def shown(app):
    return app.get("/docs")


def test_whoever_opens_the_server_in_a_browser_is_shown_the_page(app, shown):
    first = app.get("/", follow_redirects=False)

    assert (first.status_code, first.headers["location"]) == (307, "docs")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert app.get("/").content == shown.content


def test_every_endpoint_and_every_value_is_on_it_once_and_every_link_leads_to_one(app, shown):
    document, seen = app.get("/v1/openapi.json").json(), Seen(shown.text)
    named = {told["operationId"] for each in document["paths"].values() for told in each.values()}

    assert named | set(document["components"]["schemas"]) <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))
    assert {link for link in seen.links if link.lstrip("#") not in seen.ids} == {"v1/openapi.json"}


def test_a_browser_may_load_nothing_for_it_and_run_nothing_in_it(shown):
    seen, policy = Seen(shown.text), shown.headers["content-security-policy"]
    (style,) = re.findall(r"<style>(.*?)</style>", shown.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert not {"script", "link", "img", "iframe", "object", "form"} & seen.tags
    assert not {name for name in seen.attributes if name.startswith("on") or name in {"style", "src"}}
    assert not re.search(r"url\(|@import|//", style)


def test_it_is_light_or_dark_as_the_reader_likes_and_fits_a_phone(shown):
    assert "@media (prefers-color-scheme: dark)" in shown.text
    assert 'content="width=device-width, initial-scale=1" name="viewport"' in shown.text or (
        'name="viewport" content="width=device-width, initial-scale=1"' in shown.text
    )


def test_nothing_that_the_document_says_opens_a_tag(app):
    document = _said(copy.deepcopy(app.get("/v1/openapi.json").json()))
    text = page.render(document).decode()

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


def test_the_page_is_written_once(app, shown, monkeypatch):
    monkeypatch.setattr(app.app, "openapi", None)

    assert app.get("/docs").content == shown.content
