"""The one place where a Redis client is called: it drives steps and turns Redis' errors into ours."""

from __future__ import annotations

import random
import socket
import time
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NotAnswered
from redis.retry import Retry
from redis.sentinel import Sentinel

from om_api.errors import SettingsError, StoreError
from om_api.store.scripts import load_all
from om_api.store.steps import Batch, Steps, Verb, Wait

if TYPE_CHECKING:
    from om_api.store.steps import Step

T = TypeVar("T")
POOL = 512  # connections; a worker's threads and a server's handlers each hold one for the length of a call
_SENTINEL_PORT = 26_379
_FULL = "maxmemory"
_PAUSE_S = 0.05
_ADVICE = {
    "maxmemory": "the server is out of memory: give it more, or clear idle memories",
    "READONLY": "the server is a read-only replica: point OM_REDIS_URL at the primary",
    "MISCONF": "the server cannot write to its disk and refuses writes: look at its log",
    "WRONGPASS": "the server refuses this password: correct OM_REDIS_URL",
    "invalid username": "the server refuses this password: correct OM_REDIS_URL",
    "NOAUTH": "the server wants a password: put it into OM_REDIS_URL",
    "HELLO must be called": "the server wants a password: put it into OM_REDIS_URL",
    "NOPERM": "this ACL user may not do that: see docs/operations.md",
    "WRONGTYPE": "a key holds something that is not ours: choose another OM_PREFIX or remove that key",
    "LOADING": "the server is still loading its data: wait and repeat",
    "NOREPLICAS": "the server takes no writes without its replicas: see that they are connected",
    "BUSY Redis": "a script keeps the server busy: wait and repeat",
    "DB index is out of range": "the server has fewer databases: correct the number at the end of OM_REDIS_URL",
    "max number of clients": "the server has too many clients: raise its maxclients, or run fewer",
    "Too many connections": "this process has too many calls in flight: wait and repeat",
}


def open_client(url: str, timeout: float = 5.0) -> redis.Redis:
    """A client for a URL; connects at first use. `timeout` in seconds bounds each call.

    redis://, rediss:// (TLS), unix://, and redis+sentinel://host:port,host:port/primary/db for Sentinel's primary.
    """
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "max_connections": POOL,
        "retry": Retry(NoBackoff(), 0),  # Connection tries again itself: it must know what the first try may have done
    }
    parts = urlsplit(url)
    if parts.scheme not in {"redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel"}:
        raise SettingsError("the store's URL must begin with redis://, rediss://, unix:// or redis+sentinel://")
    try:
        if parts.scheme.endswith("+sentinel"):
            return _primary(parts, options)
        client = redis.Redis.from_url(url, **options)
        client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)  # connects to nothing yet
    except SettingsError:
        raise
    except (TypeError, ValueError):  # its text may hold a part of the password
        raise SettingsError(
            "the store's URL cannot be used: see to its port, its database and its options, and write / ? # in a password"
            " as %2F %3F %23"
        ) from None
    return client


def _primary(parts: SplitResult, options: dict[str, Any]) -> redis.Redis:
    service, _, db = parts.path.strip("/").partition("/")
    if not service:
        raise SettingsError("a sentinel URL names its primary: redis+sentinel://host:26379,host2:26379/mymaster/0")
    account, _, addresses = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    hosts = [address.rpartition(":") for address in addresses.split(",")]
    secure = {"ssl": True} if parts.scheme.startswith("rediss") else {}
    sentinel = Sentinel(
        [(host or port, int(port) if host else _SENTINEL_PORT) for host, _, port in hosts],
        socket_timeout=options["socket_timeout"],
    )
    known = {"username": unquote(user) or None, "password": unquote(password) or None}
    found: redis.Redis = sentinel.master_for(service, db=int(db or 0), **known, **options, **secure)
    return found


class Connection:
    """Runs steps against a blocking redis-py client (a plain server, Sentinel's primary, or a RedisCluster)."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.cluster = isinstance(client, redis.RedisCluster)
        self._retries_itself = self.cluster or _retries(client) > 0

    def run(self, steps: Steps[T]) -> T:
        """Drive steps to their end and return what they return; raises StoreError."""
        try:
            step = next(steps)
            while True:
                try:
                    reply = self._answer(step)
                except StoreError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _answer(self, step: Step) -> Any:
        """A step's reply; asked twice, because a connection may have died while it was idle.

        Time 0: a push is written, and the connection breaks before its reply. Time 1: the second try is refused by a
        server that is starting. Nobody can know then what became of the push, though the refusal alone says "not kept".
        """
        try:
            return self._perform(step)
        except RedisError as error:
            first = explain(error, step, retried=self._retries_itself)
            if self._retries_itself or not isinstance(error, NotConnected | NotAnswered) or _is_refusal(error):
                raise first from error
        time.sleep(_PAUSE_S * random.random())
        try:
            return self._perform(step)
        except RedisError as error:
            again = explain(error, step)
            raise _uncertain(again) if first.stored is None is not again.stored else again from error

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Verb):
            return self._call(step)
        if isinstance(step, Wait):
            return time.sleep(step.seconds)
        if self.cluster:
            return self._perform_on_slots(step)
        if len(step.commands) == 1:
            return [self.client.execute_command(*step.commands[0])]
        pipe = self.client.pipeline(transaction=step.atomic)
        for command in step.commands:
            pipe.execute_command(*command)
        try:
            return pipe.execute()
        except RedisError as error:
            if step.writes or not step.atomic or _FULL not in str(error):
                raise
        words = [word for command in step.commands for word in (len(command), *command)]
        return self._call(Verb("batch", [command[1] for command in step.commands if len(command) > 1], words))

    def _perform_on_slots(self, step: Batch) -> Any:
        # A Cluster's transaction lives in one slot, and TIME in none: it is asked before the rest.
        timed = [command == ("TIME",) for command in step.commands]
        time_ = self.client.time(target_nodes="random") if any(timed) else None
        pipe = self.client.pipeline(transaction=step.atomic and len(step.commands) - sum(timed) > 1)
        for command in step.commands:
            if command != ("TIME",):
                pipe.execute_command(*command)
        replies = iter(pipe.execute())
        return [time_ if is_time else next(replies) for is_time in timed]

    def _call(self, verb: Verb) -> Any:
        script = load_all()[verb.name]
        script.check(len(verb.keys))
        try:
            return self.client.evalsha(script.sha, len(verb.keys), *verb.keys, *verb.args)
        except NoScriptError:
            return self.client.eval(script.source, len(verb.keys), *verb.keys, *verb.args)

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()


def explain(error: RedisError, step: Step, *, retried: bool = False) -> StoreError:
    """Turn a Redis error into one that says what happened to the write and what to do next.

    `retried`: the client may have tried before, so that the last error does not say what the first try did.
    """
    wrote = isinstance(step, Verb) or (isinstance(step, Batch) and step.writes)
    text = _said(error).rstrip(". ")[:200]
    if word := _is_refusal(error):
        return StoreError(f"the store refused: {text}. {_ADVICE.get(word, 'See docs/operations.md.')}", stored=False)
    never_sent = isinstance(error.__cause__, ConnectionRefusedError | socket.gaierror) or "connecting to" in text
    where = step.name if isinstance(step, Verb) else "read"
    return StoreError(
        f"the store did not answer ({where}): {text}. Check that the server runs and OM_REDIS_URL points at it; "
        "repeating the call with the same ids is safe.",
        stored=None if wrote and (retried or not never_sent) else False,
    )


def _is_refusal(error: RedisError) -> str:
    """The word of a server (or a pool) that did nothing of what it was asked; "" when it may have done it."""
    known = next((word for word in _ADVICE if word in _said(error)), "")
    return known or (type(error).__name__ if isinstance(error, ResponseError) else "")


def _said(error: RedisError) -> str:
    # redis-py takes the server's first word, such as READONLY, off the text
    code = error.status_code
    return f"{code} {error}" if code and code not in str(error) else str(error)


def _uncertain(error: StoreError) -> StoreError:
    return StoreError(
        f"{error} The first try may have been kept: repeat the call with the same ids, which is safe.", stored=None
    )


def _retries(client: Any) -> int:
    """How often a client tries again by itself."""
    policy = client.get_retry() if hasattr(client, "get_retry") else None
    return policy.get_retries() if policy else 0
