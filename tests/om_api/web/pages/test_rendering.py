"""Pages load nothing from elsewhere and run no script but ours; values are escaped, and a name that is missing is a mistake."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import om_api.web
from om_api.domain.events import Event
from om_api.web.pages.rendering import address, rendered

TEMPLATES = sorted(Path(om_api.web.__file__).parent.joinpath("templates").glob("*.html"))
_INLINE = re.compile(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", re.IGNORECASE)


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.stem)
def test_no_template_holds_a_script_a_style_or_an_address_of_elsewhere(file):
    assert _INLINE.findall(file.read_text()) == []


@pytest.mark.parametrize(("path", "status"), [("/ui/agents", 200), ("/ui/agents/harold", 404), ("/ui/nowhere", 404)])
def test_every_page_says_what_a_browser_may_load_and_is_kept_by_nobody(sign_in, path, status):
    answer = sign_in("reader", "harold").get(path)
    may = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))

    assert answer.status_code == status
    assert (may["default-src"], may["script-src"], may["frame-ancestors"]) == ("'none'", "'self'", "'none'")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_value_is_shown_as_words_on_one_line():
    event = Event(kind="paused", resource="harold", at=1_767_270_600_000, by="<b>\nx")
    row = rendered("event_row.html", event=event, details=[("by", event.by)])

    assert "&lt;b&gt;" in row
    assert "\n" not in row


def test_a_template_that_lacks_a_value_fails():
    with pytest.raises(UndefinedError, match="event"):
        rendered("event_row.html", details=[])


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({}, "/ui/agents/a%2Fb"),
        ({"thread": "x y&z=1"}, "/ui/agents/a%2Fb?thread=x%20y%26z%3D1"),
        ({"thread": None}, "/ui/agents/a%2Fb"),
    ],
)
def test_an_address_holds_names_whatever_is_in_them(asked, where):
    assert address("a/b", **asked) == where
