"""A process that serves: which signals it hears, and what it ends with."""

from __future__ import annotations

import signal
import sys

import pytest
import uvicorn

from om_api import load_settings
from om_api.http import make_app
from om_api.http.serving.server import Server, serve


@pytest.fixture
def serve_with(monkeypatch):
    """Serve with something that is run instead of listening; the tests' own process is left as it is."""

    def begin(run):
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
        monkeypatch.setattr(Server, "run", run)
        return serve(make_app(load_settings(environ={})), "127.0.0.1", 0)

    return begin


def test_only_a_signal_that_our_shell_has_us_ignore_is_ignored(serve_with, monkeypatch):
    found, told = {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: signal.SIG_DFL}, []
    monkeypatch.setattr(signal, "getsignal", found.get)
    monkeypatch.setattr(uvicorn.Server, "handle_exit", lambda _, number, __: told.append(number))
    serve_with(lambda server: [server.handle_exit(number, None) for number in found])

    assert told == [signal.SIGTERM]


@pytest.mark.parametrize(("begins", "code"), [(True, 0), (False, 1)])
def test_a_process_ends_with_1_when_it_could_not_begin(serve_with, begins, code):
    assert serve_with(lambda server: setattr(server, "started", begins)) == code
