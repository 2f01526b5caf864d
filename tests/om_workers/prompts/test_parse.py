"""What the models answered: blocks, lists, sections, marks, order, threads and loops."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.tags import NAMES
from om_workers.prompts.library import prompt
from om_workers.prompts.parse import is_degenerate, parse_observer, parse_reflector

REPLY = """Here are my notes.

<observations>
Date: Dec 4, 2025
* 🟡 (09:15) User asked about tea
  * -> found three shops
* ✅ (09:20) List of shops sent
</observations>

<current-task>
Primary: wait for the user
</current-task>

<suggested-response>
Which shop do you like?
</suggested-response>
"""


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


# -- blocks and sections -----------------------------------------------------------------------------------------------


def test_a_reply_is_read_section_by_section():
    observed = parse_observer(REPLY)

    assert observed.text.split("\n") == [
        "Date: Dec 4, 2025",
        "* 🟡 (09:15) User asked about tea",
        "  * -> found three shops",
        "* ✅ (09:20) List of shops sent",
    ]
    assert observed.current_task == "Primary: wait for the user"
    assert observed.suggested_response == "Which shop do you like?"
    assert (observed.priority, observed.degenerate, observed.readable) == (4, False, True)


def test_a_tag_inside_a_line_ends_no_block():
    text = observations("* User typed </observations> and <observations> in the form", "* second")

    assert parse_observer(text).text == ("* User typed &lt;/observations> and &lt;observations> in the form\n* second")


def test_tags_may_be_indented_and_share_a_line_with_text():
    assert parse_observer("  <Observations>* a\n\t</OBSERVATIONS> bye").text == "* a"


def test_an_unclosed_block_falls_back_to_list_lines():
    text = "<observations>\nDate: Dec 4, 2025\n* a\n  - b\nchatter\n12. c\n**bold**\n---"

    assert parse_observer(text).text == "* a\n  - b\n12. c"


def test_without_a_block_only_list_lines_count():
    assert parse_observer("Sure!\n- a\n* b\nBye </observations>").text == "- a\n* b"


def test_the_list_of_another_section_is_no_observation():
    text = "* a\n<current-task>\n- Primary: x\n</current-task>\n<suggested-response>\n* y\n</suggested-response>"
    observed = parse_observer(text)

    assert (observed.text, observed.current_task, observed.suggested_response) == ("* a", "- Primary: x", "* y")


def test_several_blocks_are_joined():
    assert parse_observer(f"{observations('* a')}\nand\n{observations('', '* b', '')}").text == "* a\n* b"


def test_of_a_last_block_that_was_cut_off_the_list_lines_count():
    assert parse_observer(f"{observations('* a')}\n<observations>\n* b\nthe rest is").text == "* a\n* b"


@pytest.mark.parametrize(
    "text",
    [
        "<observations>\n</observations>",
        "<observations></observations>",
        "<observations/>",
        observations("", "  "),
        "<observations>\n</observations>\n<current-task>\nwait\n</current-task>",
    ],
)
def test_an_empty_block_says_that_nothing_was_worth_noting(text):
    observed = parse_observer(text)

    assert (observed.text, observed.priority, observed.readable) == ("", 3, True)


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "<current-task>\nx\n</current-task>"])
def test_a_reply_without_notes_is_not_readable(text):
    assert (parse_observer(text).text, parse_observer(text).readable) == ("", False)


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("<current-task>x</current-task>", "x"),
        (" <current-task>\nx\ny\n</current-task>", "x\ny"),
        ("<current-task>\nx</current-task>\n", "x"),
        ("<current-task>\nx</current-task>\ny</current-task>\n", "x"),
        ("<current-task>\nthe tag </current-task> is odd\n</current-task>", "the tag &lt;/current-task> is odd"),
        ("<current-task>\nfirst\n</current-task>\n<current-task>\nsecond\n</current-task>", "first"),
        ("said <current-task>\nx\n</current-task>", ""),
        ("<current-task>\nx", ""),
        ("<current-task>\nİİİ <thread id='a'>x</thread></current-task>", "İİİ x"),
    ],
)
def test_the_first_task_at_the_start_of_a_line_counts(text, task):
    assert parse_observer(f"{observations('* a')}\n{text}").current_task == task


def test_sections_inside_the_block_are_taken_out_of_it():
    text = observations("* a", "<current-task>", "x", "</current-task>", "* b")

    assert parse_observer(text).text == "* a\n* b"
    assert parse_observer(text).current_task == "x"


def test_an_unclosed_task_does_not_swallow_the_end_of_the_block():
    text = f"{observations('* a', '<current-task>', '* b')}\n<current-task>\nreal\n</current-task>"

    assert parse_observer(text).current_task == "real"
    assert parse_observer(text).text == "* a\n&lt;current-task>\n* b"


def test_a_block_that_is_indented_as_a_whole_is_moved_to_the_margin():
    assert (
        parse_observer(observations("  Date: Dec 4, 2025", "  * a", "    * b")).text == "Date: Dec 4, 2025\n* a\n  * b"
    )


def test_thread_tags_are_taken_out():
    text = observations('<thread id="a">', "* x <thread id='b'>y</thread>", "</thread>", "* z")

    assert parse_observer(text).text == "* x y\n* z"


@pytest.mark.parametrize("code", ["List<Thread> x", "Map<Thread, int>", "f<Thread>()"])
def test_code_that_names_a_thread_as_its_type_is_left_as_it_is(code):
    assert parse_observer(observations(f"* 🟡 {code}")).text == f"* 🟡 {code}"
    assert parse_reflector(observations(f"* 🟡 {code}")).text == f"* 🟡 {code}"


def test_a_tag_that_taking_out_another_brings_together_is_escaped():
    assert parse_observer(observations("* <<thread>thread>")).text == "* &lt;thread>"


@pytest.mark.parametrize(
    ("lines", "priority"),
    [
        (["* 🟢 a"], 1),
        (["* 🟢 a", "* 🟡 b"], 3),
        (["* 🟡 a", "  * ✅ b"], 4),
        (["* ✅ a", "- 🔴 (09:15) b"], 5),
        (["* (09:15) 🔴 b"], 5),
        (["🔴 without a bullet"], 5),
        (["* 🟢 User likes 🔴 lamps"], 1),
        (["* plain"], 3),
    ],
)
def test_the_priority_is_the_highest_of_the_lines_own_marks(lines, priority):
    assert parse_observer(observations(*lines)).priority == priority


# -- order -------------------------------------------------------------------------------------------------------------


def order(*bullets, head="Date: Dec 4, 2025"):
    lines = parse_observer(observations(head, *bullets)).text.split("\n")
    return "".join(line.split()[-1] for line in lines[1:])


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["14:00", "09:15"], "ba"),
        (["14:00", "9:15"], "ba"),
        (["13:00", "12:30"], "ba"),
        (["24:00", "09:15"], "ab"),
        (["10:30", "09:15", "10:00"], "bca"),
        (["9:00", "0:30"], "ba"),
        (["12:30", "0:15"], "ba"),
        (["2:00 PM", "9:15 AM", "12:05 am"], "cba"),
        (["12:10 PM", "11:50 AM"], "ba"),
        (["09:15", "09:10", "09:15"], "bac"),
        (["12:30", "01:15"], "ab"),
        (["11:50", "1:15"], "ab"),
        (["2:00 PM", "09:15"], "ab"),
        (["13:00 PM", "9:00 AM"], "ab"),
        (["25:00", "09:15"], "ab"),
        (["14:00", "09:75"], "ab"),
    ],
)
def test_bullets_are_sorted_by_time_where_the_clock_is_clear(times, expected):
    assert order(*(f"* 🟡 ({time}) {name}" for time, name in zip(times, "abc", strict=False))) == expected


def test_what_is_indented_stays_with_its_bullet():
    assert order("* (14:00) a", "  * -> b", "* (09:00) c", "  more d") == "cdab"


@pytest.mark.parametrize("foreign", ["* 🟡 no time x", "Some remark x", "## heading x"])
def test_one_line_without_a_place_keeps_the_whole_group_as_it_is(foreign):
    assert order("* (14:00) a", foreign, "* (09:00) b") == "axb"


def test_each_date_is_sorted_by_itself_and_lines_before_the_first_stay():
    text = observations(
        "* (15:00) x",
        "* (14:00) y",
        "Date: Dec 4, 2025",
        "* (15:00) a",
        "* (14:00) b",
        "",
        "Date: Dec 5",
        "* (08:00) c",
    )

    assert re.sub(r"[^a-z\n]|ate|ec", "", parse_observer(text).text).split() == ["x", "y", "b", "a", "c"]
    assert "\n\nDate: Dec 5" in parse_observer(text).text


# -- reflections -------------------------------------------------------------------------------------------------------


def test_a_reflection_is_read_with_its_threads_and_patterns():
    lines = ("* 🔴 [O1] User lives in Ghent [O1-N2]", '<thread id="t-1">', "* 🟡 Pattern: asks twice", "</thread>")
    reflected = parse_reflector(f"{observations(*lines)}\n<current-task>\nwait\n</current-task>")

    assert reflected.text == '* 🔴 User lives in Ghent\n<thread id="t-1">\n* 🟡 Pattern: asks twice\n</thread>'
    assert reflected.patterns == ("asks twice",)
    assert (reflected.current_task, reflected.degenerate) == ("wait", False)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("* 🟡 Pattern: a", ("a",)),
        ("- Pattern: a", ("a",)),
        ("* 🔴 (09:15) **Pattern:** a", ("a",)),
        ("* 🟡 Pattern: a <thread b", ("a &lt;thread b",)),
        ("* 🟡 The pattern: a", ()),
        ("* 🟡 Pattern:", ()),
    ],
)
def test_patterns_are_read_from_their_own_lines(line, found):
    assert parse_reflector(observations("* 🔴 x", line)).patterns == found


def test_without_a_block_a_reflection_is_its_list_or_else_dated_prose():
    assert parse_reflector('Well\n<thread id="a">\n* x\n</thread>\n- y').text == '<thread id="a">\n* x\n</thread>\n- y'
    assert (
        parse_reflector("\n Since May 2, 2025 in Ghent.\nHe reads. \n").text == "Since May 2, 2025 in Ghent.\nHe reads."
    )
    assert parse_reflector("").text == ""


@pytest.mark.parametrize(
    "excuse", ["I'm sorry, I can't help with that.", "As a language model, I may not condense this.\n\nIs there more?"]
)
def test_an_excuse_is_never_taken_for_a_memory(excuse):
    assert parse_reflector(excuse).text == ""
    assert not parse_reflector(observations(excuse)).listed


def test_insights_are_lines_of_their_own_kind():
    reflected = parse_reflector(observations("* 🔴 x", "* 🟡 **Insight:** ships on Fridays", "* Pattern: asks twice"))

    assert (reflected.insights, reflected.patterns) == (("ships on Fridays",), ("asks twice",))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["* a", "</thread>", "* b"], "* a\n* b"),
        (['<thread id="a">', "* a"], "* a"),
        (['<thread id="a">', "* a", '<thread id="b">', "* b", "</thread>"], '* a\n<thread id="b">\n* b\n</thread>'),
        (["<thread>", "* a", "</thread>"], "* a"),
        (['* said <thread id="a">', "* a", "</thread>"], "* said \n* a"),
        (['<thread id="no good">', "* a", "</thread>"], "* a"),
        (["  <Thread id='a' >* a</THREAD>", "* b"], '<thread id="a">\n* a\n</thread>\n* b'),
        (['<thread id="a">', "* said <thread id='x'> to us", "</thread>"], '<thread id="a">\n* said  to us\n</thread>'),
        (['<thread id="a">', "", "</thread>", "* b"], "* b"),
        (["* a <<thread>thread id='x'>"], "* a &lt;thread id='x'>"),
        (["* a <memory> <\u200bthread> b"], "* a &lt;memory> &lt;\u200bthread> b"),
    ],
)
def test_well_formed_thread_sections_stay_and_strays_go(lines, text):
    assert parse_reflector(observations(*lines)).text == text


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("* [O1] a", "* a"),
        ("* a [O12-N3]", "* a"),
        ("* a [O1][O2] b", "* a b"),
        ("* a [O1, O2-N1] b", "* a b"),
        ("* items[O1] of [Oslo] and [O]", "* items[O1] of [Oslo] and [O]"),
    ],
)
def test_anchors_are_taken_out_and_other_brackets_stay(line, kept):
    assert parse_reflector(observations(line)).text == kept


# -- loops -------------------------------------------------------------------------------------------------------------


def numbered(number):
    return [f"* 🟡 (09:{n % 60:02}) Note {n}: {n * 7919} items were counted in hall {n * 31}" for n in range(number)]


FIVE = ["a longer line about the first thing", "a second line that says something else", "the third line of the block"]
FIVE += ["and a fourth one, also long enough", "the fifth and last line of this block"]


@pytest.mark.parametrize(
    "lines",
    [
        numbered(400),
        ["* 🟡 ran the tests"] * 200,
        ["x" * 71_000],
        ["x" * 71_000, *numbered(40)],
        [f"Date: Dec {n % 30 + 1}, 2025" for n in range(2000)],
        ["</item>"] * 3000,
        *([("* 🟡 ran tests", "* 🟡 edited")[n % 2] for n in range(number)] for number in (100, 200, 300)),
        FIVE * 3,
        [
            *["a line of just about a hundred characters that is repeated, but only a few times in one run"] * 90,
            *numbered(30),
        ],
    ],
    ids=lambda lines: f"{len(lines)} lines",
)
def test_honest_repetition_is_accepted(lines):
    text = observations(*lines)

    assert not parse_observer(text).degenerate
    assert not parse_reflector(text).degenerate


@pytest.mark.parametrize(
    "lines",
    [
        FIVE * 20,
        ["a line of eighty-five characters that comes again and again as if it never would end."] * 300,
        [f"line {n} of a long block, different from the other {n * 37} lines" for n in range(21)] * 62,
        ["* 🟡 ran a tool", "* 🟡 read a file"] * 400,
        ["ha"] * 6000,
        [*numbered(5), "and so on " * 900],
    ],
    ids=lambda lines: f"{len(lines)} lines",
)
def test_a_loop_is_told_and_all_of_it_discarded(lines):
    text = observations(*lines) + "\n<current-task>\nx\n</current-task>"
    observed, reflected = parse_observer(text), parse_reflector(text)

    assert (observed.degenerate, observed.text, observed.current_task, observed.readable) == (True, "", "", False)
    assert (reflected.degenerate, reflected.text, reflected.patterns) == (True, "", ())


def test_a_short_text_is_never_a_loop():
    text = "\n".join(FIVE * 20)

    assert not is_degenerate(text[:1999])
    assert is_degenerate(text[:2000])


def test_a_longer_line_ends_a_run_of_short_ones():
    runs = [line for n in range(4) for line in [*["* 🟡 ran a tool", "* 🟡 read a file"] * 150, numbered(9)[n]]]

    assert not is_degenerate("\n".join(runs))
    assert is_degenerate("\n".join(line for line in runs if "Note" not in line))


def test_a_long_line_is_cut_with_a_note():
    observed = parse_observer(observations("* 🔴 " + "x" * 71_000, "* 🟡 b"))

    assert observed.text == "* 🔴 " + "x" * 9_996 + " ... [truncated]\n* 🟡 b"
    assert observed.priority == 5


# -- anything at all ---------------------------------------------------------------------------------------------------

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
    assert not any(map(TAG.search, (*reflected.patterns, reflected.current_task, reflected.suggested_response)))
    again = parse_reflector(observations(reflected.text)).text
    assert again.split() == reflected.text.split() or "[O" in text


@pytest.mark.parametrize(
    "line", ["<observations>", "<current-task>", '<thread id="a">', "</thread>", "<thread ", "[O1]"]
)
@pytest.mark.parametrize("end", ["\n", " "])
@pytest.mark.timeout(30)
def test_no_reply_makes_reading_hang(line, end):
    text = (line + end) * 10_000

    assert parse_observer(text).priority in range(1, 6)
    assert isinstance(parse_reflector(text).text, str)


@pytest.mark.parametrize("name", ["observer", "reflector"])
def test_the_example_in_the_prompt_can_be_read(name):
    read = {"observer": parse_observer, "reflector": parse_reflector}[name](prompt(name))

    assert read.text.startswith("Date: ")
    assert read.current_task.startswith("Primary: ")
    assert read.suggested_response


def noted(n, length=60):
    """A line of its own, of so many characters."""
    return f"* 🟡 {n * 7919 % 10_007} pieces were counted in hall {n * 31} ".ljust(length, chr(97 + n % 26))[:length]


HALF = [*range(30), *range(15, 30), *range(15)]  # each once and again, no two alike side by side
FEW = [n * 2 % 5 for n in range(20)]


@pytest.mark.parametrize(
    ("honest", "loop"),
    [
        (
            [noted(1, 100)] * 100 + [noted(n) for n in range(2, 30)],
            [noted(1, 100)] * 101 + [noted(n) for n in range(2, 30)],
        ),
        (["ran tests", "read it"] * 625, ["ran tests", "read it"] * 626),  # 10,000 characters of short lines
        ([noted(n) for n in HALF], [noted(n) for n in [*HALF, 7]]),  # half of them are copies, and one more
        (
            ["x" * 4_300, *(noted(n, 99) for n in range(57))],  # of 50 windows 20 are copies, and one more
            ["x" * 4_400, *(noted(n, 99) for n in range(56))],
        ),
        ([noted(n, 180) for n in FEW[:19]], [noted(n, 180) for n in FEW]),  # fewer than 20 lines tell nothing
    ],
    ids=["one run", "short lines", "half are copies", "windows", "few lines"],
)
def test_an_honest_list_is_no_loop_until_it_repeats_more_than_it_may(honest, loop):
    assert (is_degenerate("\n".join(honest)), is_degenerate("\n".join(loop))) == (False, True)
