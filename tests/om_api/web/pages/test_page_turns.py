"""Turns of open pages: one behind the other, none waits for a page that is closed, and after a rest some come at once."""

import math

import pytest

from om_api.web.pages import page_turns as module
from om_api.web.pages.page_turns import PageTurns


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(module, "LOOKS", 10)
    monkeypatch.setattr(module, "_AT_REST", 2)


def _queued(count, now=100.0):
    turns, pages = PageTurns(), [object() for _ in range(count)]
    for page in pages:
        turns.take(page, now)
    return turns, pages


def test_some_come_at_once_the_others_one_behind_the_other_and_nobody_waits_for_pages_that_are_closed():
    turns, pages = _queued(5)
    assert [round(turns.at(page) - 100, 6) for page in pages] == [-0.2, -0.1, 0, 0.1, 0.2]
    turns.take(pages[0], 100.0)  # whoever waits already takes no second turn
    turns.done(pages[0])
    assert turns.at(pages[0]) == math.inf
    assert turns.at(pages[4]) == pytest.approx(100.2)

    turns, pages = _queued(200)
    for page in pages[:199]:
        turns.leave(page)
    assert turns.at(pages[199]) <= 100
