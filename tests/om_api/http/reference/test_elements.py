"""Whatever text stands in a page is text."""

from html.parser import HTMLParser

import pytest
from hostile import HOSTILE

from om_api.http.reference.elements import element, marked, paragraphs, written

BAD = [*HOSTILE, '"><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "&lt;b&gt;", "`<b>`"]


@pytest.mark.parametrize("text", BAD)
def test_no_text_opens_a_tag_or_ends_an_attribute(text):
    page = written(element("html", element("p", *marked(text), text, title=text), *paragraphs(text))).decode()
    seen, attributes = [], []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: (seen.append(tag), attributes.extend(attrs))
    reader.feed(page)

    assert set(seen) <= {"html", "p", "code"}
    assert attributes == [("title", text)]


def test_texts_and_elements_stand_in_their_order():
    made = element("p", "a ", element("b", "b"), " c", " d", element("br"), class_="x")

    assert written(made) == b'<!DOCTYPE html>\n<p class="x">a <b>b</b> c d<br></p>'


def test_words_in_backticks_are_code_and_an_empty_line_parts_paragraphs():
    page = written(element("div", *paragraphs("a `b` c,\nd\n\n`e`\n")))

    assert page.endswith(b"<div><p>a <code>b</code> c, d</p><p><code>e</code></p></div>")
