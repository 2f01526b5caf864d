"""What the models answered, read as a whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.tags import NAMES
from om_workers.prompts.parse import parse_observer, parse_reflector


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


def test_an_empty_block_says_that_nothing_was_worth_noting_and_no_block_is_unreadable():
    for text in [
        "<observations>\n</observations>", "<observations></observations>", "<observations/>", observations("", "  "),
        "<observations>\n</observations>\n<current-task>\nwait\n</current-task>",
    ]:  # fmt: skip
        observed = parse_observer(text)
        assert (observed.text, observed.priority, observed.readable) == ("", 3, True), text
    for text in ("", "I cannot help with that.", "<current-task>\nx\n</current-task>"):
        assert (parse_observer(text).text, parse_observer(text).readable) == ("", False), text


def test_a_reflection_is_read_with_its_threads_and_patterns():
    lines = ("* 🔴 [O1] User lives in Ghent [O1-N2]", '<thread id="t-1">', "* 🟡 Pattern: asks twice", "</thread>")
    reflected = parse_reflector(f"{observations(*lines)}\n<current-task>\nwait\n</current-task>")
    assert reflected.text == '* 🔴 User lives in Ghent\n<thread id="t-1">\n* 🟡 Pattern: asks twice\n</thread>'
    assert reflected.patterns == ("asks twice",)
    assert not reflected.degenerate
    assert parse_reflector('Well\n<thread id="a">\n* x\n</thread>\n- y').text == '<thread id="a">\n* x\n</thread>\n- y'
    assert (
        parse_reflector("\n Since May 2, 2025 in Ghent.\nHe reads. \n").text == "Since May 2, 2025 in Ghent.\nHe reads."
    )
    assert parse_reflector("").text == ""
    for excuse in [
        "I'm sorry, I can't help with that.", "As a language model, I may not condense this.\n\nIs there more?",
    ]:  # fmt: skip
        assert parse_reflector(excuse).text == "", excuse
        assert not parse_reflector(observations(excuse)).listed, excuse
    for line, kept in [
        ("* [O1] a", "* a"), ("* a [O12-N3]", "* a"), ("* a [O1][O2] b", "* a b"), ("* a [O1, O2-N1] b", "* a b"),
        ("* items[O1] of [Oslo] and [O]", "* items[O1] of [Oslo] and [O]"),
    ]:  # fmt: skip
        assert parse_reflector(observations(line)).text == kept, (line, kept)


TAG = re.compile(rf"</?(?:{'|'.join(NAMES)})(?![\w.:-])", re.IGNORECASE)
SECTION = re.compile(r'^<thread id="[A-Za-z0-9._:@+-]+">\n(?:(?!<thread|</thread>)[\s\S])*?\n</thread>$', re.MULTILINE)
tags = [f"{start}{name}{end}" for name in NAMES for start in ("<", "</") for end in (">", ' id="a">')]
pieces = st.sampled_from([*tags, "\n", "\n\n", "<", "* 🔴 (09:15) a", "Date: Dec 4, 2025", "[O1]", "  ", "Pattern: x"])
replies = st.one_of(st.text(), st.lists(st.one_of(pieces, st.text(max_size=4)), max_size=40).map("".join))


@given(replies)
def test_no_reply_gets_a_tag_of_ours_into_the_notes(text):
    observed = parse_observer(text)
    assert not any(map(TAG.search, (observed.text, observed.current_task, observed.suggested_response)))
    assert 1 <= observed.priority <= 5


@given(replies)
def test_of_a_reflection_only_whole_thread_sections_are_tags(text):
    reflected = parse_reflector(text)
    assert not TAG.search(SECTION.sub("", reflected.text))
    assert not any(map(TAG.search, reflected.patterns))
    again = parse_reflector(observations(reflected.text)).text
    assert again.split() == reflected.text.split() or "[O" in text


@pytest.mark.timeout(30)
def test_no_reply_makes_reading_hang():
    for line in ("<observations>", "<current-task>", "<a-b>", '<thread id="a">', "</thread>", "<thread ", "[O1]"):
        for end in ("\n", " "):
            text = (line + end) * 5_000
            assert parse_observer(text, ("a-b",)).priority in range(1, 6), (line, end)
            assert isinstance(parse_reflector(text).text, str), (line, end)


def test_a_block_is_found_where_its_tags_stand_on_lines_and_without_a_whole_block_only_list_lines_count():
    text = observations("* User typed </observations> and <observations> in the form", "* second")
    assert parse_observer(text).text == ("* User typed &lt;/observations> and &lt;observations> in the form\n* second")
    assert parse_observer("  <Observations>* a\n\t</OBSERVATIONS> bye").text == "* a"
    assert parse_observer(f"{observations('* a')}\nand\n{observations('', '* b', '')}").text == "* a\n* b"
    assert (
        parse_observer(observations("  Date: Dec 4, 2025", "  * a", "    * b")).text == "Date: Dec 4, 2025\n* a\n  * b"
    )
    text = observations("* a", "<current-task>", "x", "</current-task>", "* b")
    assert parse_observer(text).text == "* a\n* b"
    assert parse_observer(text).current_task == "x"
    text = f"{observations('* a', '<current-task>', '* b')}\n<current-task>\nreal\n</current-task>"
    assert parse_observer(text).current_task == "real"
    assert parse_observer(text).text == "* a\n&lt;current-task>\n* b"
    assert parse_observer("Sure!\n- a\n* b\nBye </observations>").text == "- a\n* b"
    text = "<observations>\nDate: Dec 4, 2025\n* a\n  - b\nchatter\n12. c\n**bold**\n---"
    assert parse_observer(text).text == "* a\n  - b\n12. c"
    text = "* a\n<current-task>\n- Primary: x\n</current-task>\n<suggested-response>\n* y\n</suggested-response>"
    observed = parse_observer(text)
    assert (observed.text, observed.current_task, observed.suggested_response) == ("* a", "- Primary: x", "* y")
    assert parse_observer(f"{observations('* a')}\n<observations>\n* b\nthe rest is").text == "* a\n* b"


def test_the_first_task_at_the_start_of_a_line_counts_and_a_section_that_says_none_is_told_from_one_that_is_missing():
    for text, task in [
        ("<current-task>x</current-task>", "x"), (" <current-task>\nx\ny\n</current-task>", "x\ny"),
        ("<current-task>\nx</current-task>\n", "x"), ("<current-task>\nx</current-task>\ny</current-task>\n", "x"),
        ("<current-task>\nthe tag </current-task> is odd\n</current-task>", "the tag &lt;/current-task> is odd"),
        ("<current-task>\nfirst\n</current-task>\n<current-task>\nsecond\n</current-task>", "first"),
        ("said <current-task>\nx\n</current-task>", ""), ("<current-task>\nx", ""),
        ("<current-task>\nİİİ <thread id='a'>x</thread></current-task>", "İİİ x"),
    ]:  # fmt: skip
        assert parse_observer(f"{observations('* a')}\n{text}").current_task == task, (text, task)
    for section in [
        "<current-task></current-task>", "<current-task>\n\n</current-task>", "<current-task/>", " <Current-Task />",
        "<current-task>\nnone\n</current-task>", "<current-task>\nPrimary: none\nSecondary: n/a\n</current-task>",
    ]:  # fmt: skip
        observed = parse_observer(f"{observations('* a')}\n{section}")
        assert (observed.current_task, observed.no_task, observed.no_suggestion) == ("", True, False), section
        assert observed.text == "* a", section
    for rest in ("", "<current-task>\nPrimary: mend", "<current-task>", "said <current-task/>"):
        observed = parse_observer(f"{observations('* a')}\n{rest}")
        assert (observed.current_task, observed.no_task, observed.no_suggestion) == ("", False, False), rest
    observed = parse_observer(
        f"{observations('* a')}\n<current-task>\nship it\n</current-task>\n<suggested-response>\nn/a\n</suggested-response>"
    )
    assert (observed.current_task, observed.no_task) == ("ship it", False)
    assert (observed.suggested_response, observed.no_suggestion) == ("", True)


def test_lines_have_priorities_patterns_and_a_longest_length():
    for lines, priority in [
        (["* 🟢 a"], 1), (["* 🟢 a", "* 🟡 b"], 3), (["* 🟡 a", "  * ✅ b"], 4), (["* ✅ a", "- 🔴 (09:15) b"], 5),
        (["* (09:15) 🔴 b"], 5), (["🔴 without a bullet"], 5), (["* 🟢 User likes 🔴 lamps"], 1), (["* plain"], 3),
    ]:  # fmt: skip
        assert parse_observer(observations(*lines)).priority == priority, (lines, priority)
    for line, found in [
        ("* 🟡 Pattern: a", ("a",)), ("- Pattern: a", ("a",)), ("* 🔴 (09:15) **Pattern:** a", ("a",)),
        ("* 🟡 Pattern: a <thread b", ("a &lt;thread b",)), ("* 🟡 The pattern: a", ()), ("* 🟡 Pattern:", ()),
    ]:  # fmt: skip
        assert parse_reflector(observations("* 🔴 x", line)).patterns == found, (line, found)
    reflected = parse_reflector(observations("* 🔴 x", "* 🟡 **Insight:** ships on Fridays", "* Pattern: asks twice"))
    assert (reflected.insights, reflected.patterns) == (("ships on Fridays",), ("asks twice",))
    observed = parse_observer(observations("* 🔴 " + "x" * 71_000, "* 🟡 b"))
    assert observed.text == "* 🔴 " + "x" * 9_996 + " ... [truncated]\n* 🟡 b"
    assert observed.priority == 5


def test_thread_sections_are_kept_of_reflections_and_taken_out_of_notes():
    text = observations('<thread id="a">', "* x <thread id='b'>y</thread>", "</thread>", "* z")
    assert parse_observer(text).text == "* x y\n* z"
    for code in ("List<Thread> x", "Map<Thread, int>", "f<Thread>()"):
        assert parse_observer(observations(f"* 🟡 {code}")).text == f"* 🟡 {code}", code
        assert parse_reflector(observations(f"* 🟡 {code}")).text == f"* 🟡 {code}", code
    assert parse_observer(observations("* <<thread>thread>")).text == "* &lt;thread>"
    for lines, text in [
        (["* a", "</thread>", "* b"], "* a\n* b"), (['<thread id="a">', "* a"], "* a"),
        (['<thread id="a">', "* a", '<thread id="b">', "* b", "</thread>"], '* a\n<thread id="b">\n* b\n</thread>'),
        (["<thread>", "* a", "</thread>"], "* a"), (['* said <thread id="a">', "* a", "</thread>"], "* said \n* a"),
        (['<thread id="no good">', "* a", "</thread>"], "* a"),
        (["  <Thread id='a' >* a</THREAD>", "* b"], '<thread id="a">\n* a\n</thread>\n* b'),
        (['<thread id="a">', "* said <thread id='x'> to us", "</thread>"], '<thread id="a">\n* said  to us\n</thread>'),
        (['<thread id="a">', "", "</thread>", "* b"], "* b"),
        (["* a <<thread>thread id='x'>"], "* a &lt;thread id='x'>"),
        (["* a <memory> <\u200bthread> b"], "* a &lt;memory> &lt;\u200bthread> b"),
    ]:  # fmt: skip
        assert parse_reflector(observations(*lines)).text == text, (lines, text)


def order(*bullets, head="Date: Dec 4, 2025"):
    lines = parse_observer(observations(head, *bullets)).text.split("\n")
    return "".join(line.split()[-1] for line in lines[1:])


def test_bullets_are_sorted_by_time_within_each_date():
    for times, expected in [
        (["14:00", "09:15"], "ba"), (["14:00", "9:15"], "ba"), (["13:00", "12:30"], "ba"), (["24:00", "09:15"], "ab"),
        (["10:30", "09:15", "10:00"], "bca"), (["9:00", "0:30"], "ba"), (["12:30", "0:15"], "ba"),
        (["2:00 PM", "9:15 AM", "12:05 am"], "cba"), (["12:10 PM", "11:50 AM"], "ba"),
        (["09:15", "09:10", "09:15"], "bac"), (["12:30", "01:15"], "ab"), (["11:50", "1:15"], "ab"),
        (["2:00 PM", "09:15"], "ab"), (["13:00 PM", "9:00 AM"], "ab"), (["25:00", "09:15"], "ab"),
        (["14:00", "09:75"], "ab"),
    ]:  # fmt: skip
        assert order(*(f"* 🟡 ({time}) {name}" for time, name in zip(times, "abc", strict=False))) == expected, times
    assert order("* (14:00) a", "  * -> b", "* (09:00) c", "  more d") == "cdab"
    for foreign in ("* 🟡 no time x", "Some remark x", "## heading x"):
        assert order("* (14:00) a", foreign, "* (09:00) b") == "axb", foreign
    text = observations("* (15:00) x", "* (14:00) y", "Date: Dec 4, 2025", "* (15:00) a", "* (14:00) b", "",
                        "Date: Dec 5", "* (08:00) c")  # fmt: skip
    assert re.sub(r"[^a-z\n]|ate|ec", "", parse_observer(text).text).split() == ["x", "y", "b", "a", "c"]
    assert "\n\nDate: Dec 5" in parse_observer(text).text


def test_a_reply_is_read_section_by_section():
    notes = "Date: Dec 4, 2025\n* 🟡 (09:15) User asked about tea\n  * -> found three shops\n* ✅ (09:20) List of shops sent"
    reply = f"Here are my notes.\n\n<observations>\n{notes}\n</observations>\n\n<current-task>\nPrimary: wait\n</current-task>\n"
    observed = parse_observer(f"{reply}\n<suggested-response>\nWhich shop?\n</suggested-response>\n")
    assert (observed.text, observed.current_task, observed.suggested_response) == (
        notes,
        "Primary: wait",
        "Which shop?",
    )
    assert (observed.priority, observed.degenerate, observed.readable) == (4, False, True)
    indented = parse_observer(observations("  Date: Dec 4, 2025", "  * a", "    * b"))
    assert indented.text == "Date: Dec 4, 2025\n* a\n  * b"
