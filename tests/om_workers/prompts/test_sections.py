"""Where the sections of a reply begin and end."""

import pytest

from om_workers.prompts.parse import parse_observer


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


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


@pytest.mark.parametrize(
    "section",
    [
        "<current-task></current-task>",
        "<current-task>\n\n</current-task>",
        "<current-task/>",
        " <Current-Task />",
        "<current-task>\nnone\n</current-task>",
        "<current-task>\nPrimary: none\nSecondary: n/a\n</current-task>",
    ],
)
def test_a_section_that_says_none_is_told_from_one_that_is_missing(section):
    observed = parse_observer(f"{observations('* a')}\n{section}")

    assert (observed.current_task, observed.no_task, observed.no_suggestion) == ("", True, False)
    assert observed.text == "* a"


@pytest.mark.parametrize("rest", ["", "<current-task>\nPrimary: mend", "<current-task>", "said <current-task/>"])
def test_a_reply_that_was_cut_off_says_nothing_of_the_task(rest):
    observed = parse_observer(f"{observations('* a')}\n{rest}")

    assert (observed.current_task, observed.no_task, observed.no_suggestion) == ("", False, False)


def test_a_suggestion_of_none_is_read_as_one():
    observed = parse_observer(
        f"{observations('* a')}\n<current-task>\nship it\n</current-task>\n<suggested-response>\nn/a\n</suggested-response>"
    )

    assert (observed.current_task, observed.no_task) == ("ship it", False)
    assert (observed.suggested_response, observed.no_suggestion) == ("", True)


def test_sections_inside_the_block_are_taken_out_of_it():
    text = observations("* a", "<current-task>", "x", "</current-task>", "* b")

    assert parse_observer(text).text == "* a\n* b"
    assert parse_observer(text).current_task == "x"


def test_an_unclosed_task_does_not_swallow_the_end_of_the_block():
    text = f"{observations('* a', '<current-task>', '* b')}\n<current-task>\nreal\n</current-task>"

    assert parse_observer(text).current_task == "real"
    assert parse_observer(text).text == "* a\n&lt;current-task>\n* b"
