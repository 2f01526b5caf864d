"""What dies is started again after ever longer pauses, and what a shell ignores stays ignored."""

import signal
from itertools import pairwise

import pytest
import uvicorn

from om_api import load_settings
from om_api.cli.children import Keeper, StopRequests
from om_api.domain.errors import StoreError
from om_api.http import make_app
from om_api.http.serving.server import Server, serve


class Failing:
    """A child that never lives, or lives when it is told to."""

    name = "worker"

    def __init__(self, error=None):
        self.alive = False
        self.starts = 0
        self.error = error

    def start(self):
        self.starts += 1
        if self.error:
            raise self.error


def starts(child, seconds):
    """At which seconds a keeper starts a child."""
    keeper, found, before = Keeper(child, lambda _: None), [], 0
    for second in range(seconds):
        keeper.tend(second)
        if child.starts > before:
            before = child.starts
            found.append(second)
    return found


@pytest.mark.parametrize("error", [None, StoreError("no")])
def test_what_dies_at_once_is_started_after_ever_longer_pauses(error):
    at = starts(Failing(error), 200)
    pauses = [after - before - 1 for before, after in pairwise(at)]  # it takes one look to notice

    assert at[0] == 1
    assert pauses[:7] == [2, 4, 8, 16, 30, 30, 30]


def test_what_held_for_a_while_is_started_after_a_second_again():
    child, told = Failing(), []
    keeper = Keeper(child, told.append)
    for now, child.alive in ((0, False), (1, False), (2, False), (4, False), (10, True), (40, True), (50, False)):
        keeper.tend(now)

    assert [line.rpartition(" in ")[2] for line in told] == ["1 s", "2 s", "1 s"]


def test_what_a_shell_has_its_background_jobs_ignore_stays_ignored(monkeypatch):
    """A script that runs `om up &`: Ctrl-C is for who stands in front."""
    stop, told = StopRequests(), []
    monkeypatch.setattr(Server, "run", lambda self: told.append(self.handle_exit(signal.SIGINT, None)))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    try:
        with stop.listening():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
        monkeypatch.setattr(uvicorn.Server, "handle_exit", lambda *_: told.append("stopped"))
        serve(make_app(load_settings(environ={})), "127.0.0.1", 0)
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])

    assert (stop.times, told) == (1, [None])
