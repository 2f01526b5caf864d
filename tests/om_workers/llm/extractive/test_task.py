from __future__ import annotations

import pytest
from extracts import observe, returned, said


def test_the_last_request_that_nobody_finished_is_the_current_task():
    done = [said("Fix the login bug"), said("Done, the login bug is fixed.", "assistant", 1)]
    text = observe(
        *done, said("Next, compare the yearly passes for Vienna", minute=2), said("I'll start.", "assistant", 3)
    )

    assert "<current-task>\nPrimary: Next, compare the yearly passes for Vienna\n</current-task>" in text


@pytest.mark.parametrize(
    ("request_", "reply"),
    [("Fix the login bug", "Done, the login bug is fixed."), ("What is the port of the broker?", "It is port 6379.")],
)
def test_a_finished_request_is_no_current_task(request_, reply):
    assert "<current-task>" not in observe(said(request_), said(reply, "assistant", 1))


def test_a_failed_tool_is_what_to_speak_of_next():
    text = observe(said("Deploy version 4 to staging"), returned("deploy", "disk full", is_error=True, minute=1))

    assert "<suggested-response>\nSay that deploy failed, and propose what to do.\n</suggested-response>" in text
