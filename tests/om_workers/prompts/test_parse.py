"""What the models answered, read as a whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.tags import NAMES
from om_workers.prompts.library import prompt
from om_workers.prompts.parse import parse_observer, parse_reflector

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


def test_a_block_that_is_indented_as_a_whole_is_moved_to_the_margin():
    assert (
        parse_observer(observations("  Date: Dec 4, 2025", "  * a", "    * b")).text == "Date: Dec 4, 2025\n* a\n  * b"
    )


def test_a_reflection_is_read_with_its_threads_and_patterns():
    lines = ("* 🔴 [O1] User lives in Ghent [O1-N2]", '<thread id="t-1">', "* 🟡 Pattern: asks twice", "</thread>")
    reflected = parse_reflector(f"{observations(*lines)}\n<current-task>\nwait\n</current-task>")

    assert reflected.text == '* 🔴 User lives in Ghent\n<thread id="t-1">\n* 🟡 Pattern: asks twice\n</thread>'
    assert reflected.patterns == ("asks twice",)
    assert not reflected.degenerate


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
    said = parse_observer(prompt(name))
    assert said.current_task.startswith("Primary: ")
    assert said.suggested_response
