"""No number in a script's arguments keeps the server busy: whoever may read one memory must not stop everybody's."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError
from redis.retry import Retry
from scene import HAROLD, observed, record
from servers import Server
from stores import Store

from om_api.domain.values import CopiedFrom
from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import load_all, provide
from om_api.store.memory import note
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_api.store.threads.copying import begin

FORGED = ["1e18", "-1e18", "-1", "0.5", "nan", "inf", "-inf", "x"]
LONGEST_S, MOST_WORDS = 2.0, 60
IDLE = (b"superseded", [b"superseded"], b"refetch", b"incomplete", b"occupied", b"", [])


class Called(NamedTuple):
    """A call that a script did not turn down, and what the server held before it: DUMP and PTTL of each key."""

    keys: Sequence[Any]
    args: Sequence[Any]
    held: dict[bytes, tuple[int, bytes]]


def _held(client):
    return {key: (max(client.pttl(key), 0), client.dump(key)) for key in client.scan_iter(count=1000)}


def _put_back(client, held):
    with client.pipeline(transaction=False) as pipe:
        pipe.flushdb()
        for key, (ttl, value) in held.items():
            pipe.restore(key, ttl, value)
        pipe.execute()


def _overheard(monkeypatch, server):
    """The longest call of each script, but of MOST_WORDS at most, that tests make, or this one where they make none."""
    calls, names = {}, {script.sha: script.name for script in load_all().values()}
    evalsha = redis.Redis.evalsha

    def overhearing(client, sha, numkeys, *given):
        name = names.get(sha)
        known = calls.get(name)
        longer = known is None or len(known.keys) + len(known.args) < len(given)
        ours = client.connection_pool.connection_kwargs.get("port") == server.port
        held = _held(plain) if ours and name and longer and len(given) <= MOST_WORDS else None
        reply = evalsha(client, sha, numkeys, *given)
        if held is not None and reply not in IDLE:
            calls[name] = Called(given[:numkeys], given[numkeys:], held)
        return reply

    with monkeypatch.context() as patched, server.client() as plain:
        patched.setattr(redis.Redis, "evalsha", overhearing)
        patched.setenv("TEST_REDIS_URL", server.url)
        tests = Path(__file__).parents[3]
        paths = [str(tests / "om_api/store"), str(tests / "promises/test_redaction.py")]
        pytest.main(["-q", "--assert=plain", "-o", "filterwarnings=", "-p", "no:cacheprovider", *paths])
        store = Store(Keys("forged:om"), ServerClock(), plain)
        observed(store, "c1", 1)
        store.run(note.read_for(store.keys, HAROLD, "t1", record(store).epoch, "gpt-5.2"))
        store.run(
            begin(store.keys, CopiedFrom(resource_id="harold", thread_id="t1", message_id="m1"), "harold", "t6", 9)
        )
    return calls


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


@pytest.mark.nightly
def test_no_number_keeps_the_server_busy(tmp_path, monkeypatch):
    """Catches a loop that runs as often as the caller says, not as often as the caller gave it something."""
    with Server(tmp_path, "--busy-reply-threshold", "100") as server:
        with server.client() as client:
            Connection(client).run(provide())
        calls = _overheard(monkeypatch, server)
        assert sorted(load_all().keys() - calls.keys()) == []
        with redis.Redis(port=server.port, socket_timeout=LONGEST_S, retry=Retry(NoBackoff(), 0)) as hurried:
            for name, called in calls.items():
                for args in _forged(called.args):
                    _put_back(hurried, called.held)
                    try:
                        with contextlib.suppress(ResponseError):
                            hurried.eval(load_all()[name].source, len(called.keys), *called.keys, *args)
                    except redis.TimeoutError:
                        server.kill()
                        pytest.fail(f"{name} ran for more than {LONGEST_S} s with {args}")
