"""Escaping: no text from elsewhere opens or closes a tag of ours, and nothing else of it changes."""

import re
import threading
import time
import unicodedata

import pytest
from hostile import HALVES, HOSTILE, tags
from hypothesis import example, given
from hypothesis import strategies as st

from om_api.domain import tags as expression
from om_api.domain.tags import NAMES, escape

UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\x00"
FIND = re.compile(rf"<[\s/{UNSEEN}]*(?:{'|'.join(NAMES)})(?=[\s/>{UNSEEN}]|\Z)", re.IGNORECASE)
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
CODE = [
    "List<Task> tasks = new ArrayList<Task>();",
    "Map<String, Task> m; Map<Thread, Integer> n; Promise<Task[]>; Optional<Memory?>",
    "Vec<Option<Thread>> and Result<Task, Error>",
    "type A = Array<Thread | null>; f<Messages>()",
    "while (i < messages) { i++; }",
    "if (i<memory && j <task || k) return a < thread;",
    "if (i < current_task) return a<system_reminder;",
    "xs[i] < task, f(x) <memory]",
    "a < b > c, a<b, <div>, <T>, x <y> z",
]


def test_there_are_many_ways_to_be_hostile_and_each_is_one():
    assert len(HOSTILE) + len(HALVES) >= 60
    assert [text for text in HOSTILE if not tags(text)] == []


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_hostile_tag_is_disarmed_and_nothing_but_brackets_changes(text):
    escaped = escape(f"a {text} b")

    assert tags(escaped) == []
    assert re.sub("&lt;|[<\uff1c\ufe64]", "?", escaped) == re.sub("&lt;|[<\uff1c\ufe64]", "?", f"a {text} b")


@pytest.mark.parametrize("code", CODE)
def test_code_that_cannot_be_a_tag_of_ours_stays_byte_for_byte(code):
    assert escape(code) == code


@pytest.mark.parametrize(
    "code",
    [
        "vector<task> x",
        "<Task key={1}/>",
        "</Task>",
        "List<Task id=1>",
        "a < task b",
        "x <Task>",
        "return <Task {...all}>",
        "x <task?>",
    ],
)
def test_code_that_looks_like_a_tag_of_ours_is_escaped(code):
    assert escape(code) == code.replace("<", "&lt;")


@pytest.mark.parametrize("form", ["<{}>", "</{}>", "<{} id='1'>", "<{}/>", "<{}"])
def test_every_name_is_covered_in_every_form(form):
    tagged = [form.format(name) for name in NAMES]

    assert [escape(text) for text in tagged] == [text.replace("<", "&lt;") for text in tagged]


@pytest.mark.parametrize("text", HARMLESS)
def test_everything_else_stays_byte_for_byte(text):
    assert escape(text) == text


def test_no_character_that_is_only_format_hides_a_tag():
    """Catches a character of Unicode's category Cf that is missing among what nobody sees."""
    unseen = [char for char in map(chr, range(0x110000)) if unicodedata.category(char) == "Cf"]
    hidden = [f"<{char}task>" for char in unseen] + [f"</{char}ta{char}sk>" for char in unseen]

    assert [ascii(text) for text in hidden if not escape(text).startswith("&lt;")] == []


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


looks = st.sampled_from(
    ["<", "\uff1c", "/", "\uff0f", ">", " ", "\n", "\u200b", "x", "-", "\u2011", "thread", "task", "TASK"]
)


@given(st.lists(st.one_of(looks, st.just("\uff54\uff41\uff53\uff4b")), max_size=20).map("".join))
def test_an_inattentive_reader_finds_no_tag_either(text):
    assert tags(escape(text)) == []


@pytest.mark.parametrize("text", ["<" * 200_000, "< " * 100_000, "<t" + "\u200b" * 200_000, "<" + " " * 200_000 + "x"])
@pytest.mark.timeout(20)
def test_no_text_makes_it_hang(text):
    """Catches a regex that tries every place again: quadratic in the text, it would outlast the timeout."""
    assert escape(text * 5) == text * 5


def test_a_long_text_lets_others_run_while_it_is_escaped():
    """Catches one call of a regex for the whole text: everybody else at the API waited for it, 1 s and more."""
    escaping, turns = threading.Thread(target=escape, args=("<" * 2_000_000 + "<o" * 1_000_000,)), 0
    escaping.start()
    while escaping.is_alive():
        time.sleep(0.001)
        turns += 1

    assert turns > 20


# the expression of before, in the order of before, which asked what comes behind an identifier first
WHOLE = re.compile(
    rf"[{expression.BRACKETS}](?!{expression.GENERIC}|{expression.COMPARED})"
    rf"(?=[\s{expression._SLASH}{expression._UNSEEN}]*+(?:{'|'.join(map(expression._spelled, NAMES))})(?![\w.:-]))",
    re.IGNORECASE,
)
CUTS = [
    "<",
    "\uff1c",
    "\ufe64",
    "a<",
    "a <",
    ") <",
    r"\n<",
    r"\u0000<",
    "List<Task>",
    "List<Task<",
    "x<Task ",
    "|",
    "&&",
    ")",
]
bits = st.sampled_from(
    [*CUTS, *HOSTILE, *CODE, *HARMLESS, *NAMES, "\uff34ask", "Task", "\u017f", " ", "\u200b", "/", "[", ";"]
)
mixed = st.lists(st.one_of(bits, st.text(max_size=2)), max_size=30).map("".join)


@given(mixed, st.integers(1, 40))
@example("List<Task<x", 5)
@example("List<Task>", 3)
def test_a_text_that_is_escaped_in_slices_is_the_one_that_is_escaped_whole(text, size):
    """Catches a slice that ends within what makes a bracket a tag, or begins without what stands before it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expression, "_SLICE", size)

        assert escape(text) == WHOLE.sub("&lt;", text)


@given(mixed)
def test_a_short_text_is_escaped_as_it_always_was(text):
    """Catches a first look at a bracket that lets go one that is followed by a name of ours."""
    assert escape(text) == WHOLE.sub("&lt;", text)
