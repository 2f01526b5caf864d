"""Pages load nothing from elsewhere and run no script but ours; values are escaped, and a name that is missing is a mistake."""

import re
from pathlib import Path

import om_api.web
from om_api.web.pages.rendering import address

TEMPLATES = sorted(Path(om_api.web.__file__).parent.joinpath("templates").glob("*.html"))
_INLINE = re.compile(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", re.IGNORECASE)


def test_no_template_holds_a_script_a_style_or_an_address_of_elsewhere():
    assert TEMPLATES
    assert {file.stem: found for file in TEMPLATES if (found := _INLINE.findall(file.read_text()))} == {}


def test_every_page_says_what_a_browser_may_load_and_is_kept_by_nobody(sign_in):
    who = sign_in("reader", "harold")
    for path, status in (("/ui/agents", 200), ("/ui/agents/harold", 404), ("/ui/nowhere", 404)):
        answer = who.get(path)
        may = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
        assert answer.status_code == status, path
        assert (may["default-src"], may["script-src"], may["frame-ancestors"]) == ("'none'", "'self'", "'none'")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_address_holds_names_whatever_is_in_them():
    assert address("a/b", thread=None) == "/ui/agents/a%2Fb"
    assert address("a/b", thread="x y&z=1") == "/ui/agents/a%2Fb?thread=x%20y%26z%3D1"
