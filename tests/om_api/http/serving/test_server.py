"""A process that serves: which signals it hears, what it ends with, and that what only waits ends when it is told to stop."""

import asyncio
import signal
import sys

import pytest
import uvicorn

from om_api import load_settings
from om_api.http import make_app
from om_api.http.serving.server import Server, Shutdown, serve


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


def test_a_process_ends_with_1_when_it_could_not_begin(serve_with):
    for begins, code in ((True, 0), (False, 1)):
        assert serve_with(lambda server, begins=begins: setattr(server, "started", begins)) == code


def test_what_only_waits_ends_when_the_process_is_told_to_stop():
    async def scene():
        stopping = Shutdown()
        async with stopping.ends():  # which goes on while nobody is told to stop
            await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(stopping.tell)
        for _ in ("told while it waits", "told before"):
            with pytest.raises(TimeoutError):
                async with stopping.ends():
                    await asyncio.sleep(3600)

    asyncio.run(scene())
