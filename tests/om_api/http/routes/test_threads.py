"""Threads over HTTP: what is not yet observed of each, and ending one."""

from __future__ import annotations

HAROLD = "/v1/resources/harold"


def test_threads_come_by_name_with_what_is_not_yet_observed(say, walk):
    say("m-1", thread="t-2")
    say("m-2", "m-3", thread="t-1")

    found = [(each["id"], each["messages"], each["tokens"]) for each in walk(f"{HAROLD}/threads", limit=1)]
    assert found == [("t-1", 2, 200), ("t-2", 1, 100)]


def test_a_thread_that_is_ended_says_what_went_and_leaves_the_others(say, ask, walk, world):
    say("m-1", "m-2", thread="t-1")
    say("m-3", thread="t-2")
    ended = ask("DELETE", f"{HAROLD}/threads/t-1").json()

    assert ended == {"outcome": "cleared", "messages": 2, "observations": 0, "merged": []}
    assert [each["id"] for each in walk(f"{HAROLD}/threads")] == ["t-2"]
    assert world.covering() == ["m-3"]
