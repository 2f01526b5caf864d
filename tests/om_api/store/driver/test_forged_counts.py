"""No number in a script's arguments keeps the server busy: whoever may read one memory must not stop everybody's."""

import contextlib
from types import SimpleNamespace

import pytest
import redis
from every_script import Overhearing, call_everything, put_back
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError
from redis.retry import Retry
from servers import Server

from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import load_all, provide
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

FORGED = ["1e18", "-1e18", "-1", "0.5", "nan", "inf", "-inf", "x"]
LONGEST_S = 2.0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("forged"), "--busy-reply-threshold", "100") as own:
        yield own


@pytest.fixture(scope="module")
def calls(server):
    """A working call of each script, and what the server held before it."""
    with Overhearing(port=server.port) as client:
        run = Connection(client).run
        store = SimpleNamespace(keys=Keys("forged:om"), clock=ServerClock(), client=client, run=run)
        store.run(provide())
        call_everything(store)
        yield client.calls


@pytest.fixture
def hurried(server):
    """A client that waits no longer than a script may last; what still runs afterwards is ended."""
    with redis.Redis(port=server.port, socket_timeout=LONGEST_S, retry=Retry(NoBackoff(), 0)) as client:
        yield client
    _end_scripts(server)


def _end_scripts(server):
    """SCRIPT KILL; a server whose script has written takes none, and is started anew."""
    with server.client() as client:
        try:
            client.script_kill()
        except ResponseError as error:
            if "UNKILLABLE" in str(error):
                server.kill()
                server.start()


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def _forged(args):
    """The arguments with each number replaced by each forged one, one at a time."""
    for place in [place for place, word in enumerate(args) if _is_number(word)]:
        for number in FORGED:
            yield [*args[:place], number, *args[place + 1 :]]


def test_every_script_is_tried(calls):
    """A script without a call here would be tested by nobody."""
    assert sorted(calls) == sorted(load_all())


@pytest.mark.parametrize("name", sorted(load_all()))
def test_what_is_forged_would_else_be_done(name, calls, hurried):
    """A call that a script turns down at once would show nothing of its loops."""
    called = calls[name]
    put_back(hurried, called.held)
    reply = hurried.eval(load_all()[name].source, len(called.keys), *called.keys, *called.args)

    assert reply not in (b"superseded", [b"superseded"], b"refetch", b"incomplete", b"occupied", b"", [])


@pytest.mark.parametrize("name", sorted(load_all()))
def test_no_number_keeps_the_server_busy(name, calls, hurried):
    """Catches a loop that runs as often as the caller says, not as often as the caller gave it something."""
    called = calls[name]
    for args in _forged(called.args):
        put_back(hurried, called.held)
        try:
            with contextlib.suppress(ResponseError):
                hurried.eval(load_all()[name].source, len(called.keys), *called.keys, *args)
        except redis.TimeoutError:
            pytest.fail(f"{name} ran for more than {LONGEST_S} s with {args}")
