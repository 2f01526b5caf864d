"""Escaping: no text from elsewhere opens or closes a tag of ours, and nothing else of it changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.tags import NAMES, escape

UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\x00"
FIND = re.compile(rf"<[\s/{UNSEEN}]*(?:{'|'.join(NAMES)})(?![\w.:-])", re.IGNORECASE)
HOSTILE = [
    "<observations>",
    "</observations>",
    "</ observations >",
    "< / observations>",
    "<//thread>",
    "<OBSERVATIONS>",
    "<Thread ID='x' onload=\"y\">",
    "<thread/>",
    "<thread\n id='a'>",
    "<\u200bsystem-reminder>",
    "</\u200b\ufeffsystem-reminder>",
    "<sys\u200btem-remin\u00adder>",
    "<\u202ememory>",
    "<\x00task>",
    "<\tmessages>",
    "<\nmessages\n>",
    "<current-task",
    "<\u3000suggested-response>",
    "<unobserved-context thread='t'>",
    "<previous-observations\u200b>",
    "<ta\u017fk>",
    "<\U000e0041reflection>",
]
HARMLESS = [
    "",
    "a -> b <- c <-> d => e",
    "if x < y and y > z: pass",
    "for (i=0; i<n; i++) { v << 2; }",
    "<div class='thread'>memory</div>",
    "<thread-title>x</thread-title>",
    "<threads> <threading.Thread object> <tasks/>",
    "std::vector<int> &lt;thread> &amp;",
    "i<memory_size && j<task.count && k<thread::id",
    "observations> thread> /task>",
    "<ns:task/> <task:ns/> <!-- task --> <?task?>",
    "🔴 <3 größer \u200b < ",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_tag_is_disarmed_by_one_changed_character(text):
    assert escape(f"a {text} b") == f"a {text.replace('<', '&lt;', 1)} b"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["<{}>", "</{}>", "<{} id='1'>", "<{}/>", "<{}"])
def test_every_name_is_covered_in_every_form(name, form):
    assert escape(form.format(name)) == form.format(name).replace("<", "&lt;")


@pytest.mark.parametrize("text", HARMLESS)
def test_everything_else_stays_byte_for_byte(text):
    assert escape(text) == text


def test_a_tag_wrapped_in_a_tag_does_not_survive():
    assert escape("<<thread>thread>") == "<&lt;thread>thread>"


pieces = st.sampled_from(["<", "</", ">", "/", " ", "\n", "x", "-", "&lt;", *UNSEEN, *NAMES, *map(str.upper, NAMES)])
texts = st.one_of(st.text(), st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=30).map("".join))


@given(texts)
def test_after_escaping_no_tag_of_ours_is_found_and_a_second_time_changes_nothing(text):
    escaped = escape(text)

    assert not FIND.search(escaped)
    assert escape(escaped) == escaped


@given(texts)
def test_only_opening_brackets_change(text):
    assert escape(text).replace("&lt;", "<") == text.replace("&lt;", "<")


@pytest.mark.parametrize("text", ["<" * 200_000, "< " * 100_000, "<t" + "\u200b" * 200_000, "<" + " " * 200_000 + "x"])
@pytest.mark.timeout(20)
def test_no_text_makes_it_hang(text):
    """Catches a regex that tries every place again: quadratic in the text, it would outlast the timeout."""
    assert escape(text * 5) == text * 5
