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


@pytest.mark.parametrize(("begins", "code"), [(True, 0), (False, 1)])
def test_a_process_ends_with_1_when_it_could_not_begin(serve_with, begins, code):
    assert serve_with(lambda server: setattr(server, "started", begins)) == code


def _run(scene):
    return asyncio.run(scene(Shutdown()))


def test_a_wait_ends_when_it_is_told_to():
    async def scene(stopping):
        asyncio.get_running_loop().call_soon(stopping.tell)
        async with stopping.ends():
            await asyncio.sleep(3600)

    with pytest.raises(TimeoutError):
        _run(scene)


def test_a_wait_that_begins_afterwards_ends_at_once():
    async def scene(stopping):
        stopping.tell()
        async with stopping.ends():
            await asyncio.sleep(0.5)

    with pytest.raises(TimeoutError):
        _run(scene)


def test_a_wait_goes_on_while_nobody_is_told_to_stop():
    async def scene(stopping):
        async with stopping.ends():
            await asyncio.sleep(0.01)
        return "went on"

    assert _run(scene) == "went on"


def test_what_ended_before_is_told_nothing():
    async def scene(stopping):
        async with stopping.ends():
            pass
        stopping.tell()
        await asyncio.sleep(0)
        return "went on"

    assert _run(scene) == "went on"
