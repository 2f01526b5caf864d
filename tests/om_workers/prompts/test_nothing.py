import pytest

from om_workers.prompts.nothing import says_nothing


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "-",
        "—",
        "...",
        "✅",
        "None",
        "none.",
        "(none)",
        "<none>",
        "`none`",
        "**None**",
        "N/A",
        "n.a.",
        "NA",
        "null",
        "Not applicable",
        "nothing else",
        "nothing pending",
        "Nothing is pending.",
        "There is nothing pending right now",
        "No current task.",
        "no open tasks at the moment",
        "There are no pending tasks",
        "no outstanding questions",
        "No response needed",
        "no further action required",
        "Task completed",
        "All tasks completed.",
        "Everything is done",
        "None (all done)",
        "Primary:",
        "Primary: none\nSecondary: none",
        "Primary: none; secondary: none",
        "**Primary:** none",
        "* Primary: n/a\n* Secondary: waiting for the user",
        "None - waiting for the user's next message",
        "Suggested response: none",
        "No pending tasks or requests",
        "Not specified",
        "Idle",
        "TBD",
        "N/A - conversation ended",
        "The conversation has ended.",
        "keine",
        "ninguna",
        "なし",
    ],
)
def test_none_is_said_in_many_ways(text):
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Fix bug 7",
        "None of the tests pass",
        "Nothing works: fix it",
        "No",
        "No task is more urgent than bug 7",
        "Null pointer in the parser",
        "Empty the cache",
        "Finish the task",
        "the open task",
        "waiting for the user",
        "Primary: wait for the user's answer",
        "Primary: none\nSecondary: ask Ada",
        "Bug 7 fixed; nothing is pending",
        "None, Ada calls back tomorrow",
        "None - ask Ada for the invoice",
        "Bug 7 is fixed",
        "Idle workers are shut down",
        "No tests or tasks run",
        "none " * 40,
    ],
)
def test_what_only_begins_like_it_says_something(text):
    assert not says_nothing(text)


def test_a_long_text_that_is_none_for_ever_takes_no_time():
    assert not says_nothing("no open " * 50_000)
