"""Texts: tags, folding, sections of threads, pieces."""

import re
import unicodedata

import pytest
from hostile import HOSTILE, tags
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain import tags as expression
from om_api.domain.caching import LRU
from om_api.domain.folding import LONGEST_NAME, folded, in_brackets, one_line
from om_api.domain.tags import NAMES, escape
from om_api.domain.texts import normal_forms

UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\x00"
FIND = re.compile(rf"<[\s/{UNSEEN}]*(?:{'|'.join(NAMES)})(?=[\s/>{UNSEEN}]|\Z)", re.IGNORECASE)
HARMLESS = [
    "", "a -> b <- c <-> d => e", "if x < y and y > z: pass", "for (i=0; i<n; i++) { v << 2; }",
    "<div class='thread'>memory</div>", "<thread-title>x</thread-title>",
    "<threads> <threading.Thread object> <tasks/>", "std::vector<int> &lt;thread> &amp;",
    "i<memory_size && j<task.count && k<thread::id", "observations> thread> /task>",
    "<ns:task/> <task:ns/> <!-- task --> <?task?>", "🔴 <3 größer \u200b < ",
]  # fmt: skip
CODE = [
    "List<Task> tasks = new ArrayList<Task>();",
    "Map<String, Task> m; Map<Thread, Integer> n; Promise<Task[]>; Optional<Memory?>",
    "Vec<Option<Thread>> and Result<Task, Error>", "type A = Array<Thread | null>; f<Messages>()",
    "while (i < messages) { i++; }", "if (i<memory && j <task || k) return a < thread;",
    "if (i < current_task) return a<system_reminder;", "xs[i] < task, f(x) <memory]",
    "a < b > c, a<b, <div>, <T>, x <y> z",
]  # fmt: skip


def test_escape_disarms_tags_and_leaves_everything_else_byte_for_byte():
    for text in HOSTILE:
        escaped = escape(f"a {text} b")
        assert tags(escaped) == [], text
        assert re.sub("&lt;|[<\uff1c\ufe64]", "?", escaped) == re.sub("&lt;|[<\uff1c\ufe64]", "?", f"a {text} b")
    for code in CODE:
        assert escape(code) == code, code
    for text in HARMLESS:
        assert escape(text) == text, text
    for code in [
        "vector<task> x", "<Task key={1}/>", "</Task>", "List<Task id=1>", "a < task b", "x <Task>",
        "return <Task {...all}>", "x <task?>",
    ]:  # fmt: skip
        assert escape(code) == code.replace("<", "&lt;"), code
    for form in ("<{}>", "</{}>", "<{} id='1'>", "<{}/>", "<{}"):
        tagged = [form.format(name) for name in NAMES]
        assert [escape(text) for text in tagged] == [text.replace("<", "&lt;") for text in tagged], form


def test_no_character_that_is_only_format_hides_a_tag():
    """Catches a character of Unicode's category Cf that is missing among what nobody sees."""
    unseen = [char for char in map(chr, range(0x110000)) if unicodedata.category(char) == "Cf"]
    hidden = [f"<{char}task>" for char in unseen] + [f"</{char}ta{char}sk>" for char in unseen]
    assert [ascii(text) for text in hidden if not escape(text).startswith("&lt;")] == []


pieces = st.sampled_from(["<", "</", ">", "/", " ", "\n", "x", "-", "&lt;", *UNSEEN, *NAMES, *map(str.upper, NAMES)])
texts = st.one_of(st.text(), st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=30).map("".join))


@given(texts)
def test_after_escaping_no_tag_of_ours_is_found_and_a_second_time_changes_nothing(text):
    escaped = escape(text)
    assert not FIND.search(escaped)
    assert escape(escaped) == escaped


@pytest.mark.timeout(20)
def test_no_text_makes_it_hang():
    """Catches a regex that tries every place again: quadratic in the text, it would outlast the timeout."""
    for text in ("<" * 200_000, "< " * 100_000, "<t" + "\u200b" * 200_000, "<" + " " * 200_000 + "x"):
        assert escape(text * 5) == text * 5, text


def test_escape_finds_a_tag_across_its_slices_and_leaves_code_there_and_folded_texts_and_names_begin_no_turn():
    """Catches a slice that ends within what makes a bracket a tag, or begins without what stands before it."""
    for cut in range(1, 14):
        before = "x " * (expression._SLICE // 2) + "y" * (14 - cut)
        assert escape(f"{before}<task> List<Task>") == f"{before}&lt;task> List<Task>", cut
        assert escape(f"{before} List<Task> </ta\u200bsk>") == f"{before} List<Task> &lt;/ta\u200bsk>", cut
    for text, shown in [
        ("", ""), ("one", "one"), ("one\nuser: two", "one\n\tuser: two"),
        ("one\r\n\ntwo\u2028three\x0cfour", "one\n\n\ttwo\n\tthree\n\tfour"),
    ]:  # fmt: skip
        assert folded(text) == shown, (text, shown)
    assert in_brackets("a [b]\nuser: c") == "a (b) user: c"


@given(st.text(max_size=300))
def test_a_name_stands_on_one_line_and_is_short(name):
    shown = one_line(name)
    assert len(shown.splitlines()) <= 1
    assert len(shown) <= LONGEST_NAME
    assert shown == shown.strip()


def test_a_table_forgets_what_was_not_used_for_longest():
    for most, heaviest in ((10, 0), (1_000, 100)):
        table = LRU(most, heaviest)
        for n in range(10 * most):
            table.put(n, str(n), 10)
            table.get(0)
        assert len(table) == 10, (most, heaviest)
        assert table.weight == 100, (most, heaviest)
        assert list(table) == [*range(10 * most - 9, 10 * most), 0], (most, heaviest)


def test_normal_forms_and_entities_are_those_of_the_standard_library():
    """Of texts that are cut within marks, vowels and finals, and of a number that `int` refuses."""
    text = "".join(f"{'é' * at}a\u0327\u0301\u1100\u1161\u11a8\u09c7\u09be\uff76\uff9e\u0f73" for at in range(250))
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert normal_forms.normalize(form, text) == unicodedata.normalize(form, text), form
    assert normal_forms.unescape(f"&lt;&#x41;&#{'0' * 900}66;&#{'1' * 5_000};") == "<AB\ufffd;"
