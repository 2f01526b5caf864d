"""How a step is asked of a Redis client, blocking or not, and what its errors say: one logic behind both connections."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import DataError, NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NotAnswered

from om_api.errors import NotPermittedError, StoreError
from om_api.store.scripts import load_all
from om_api.store.steps import Batch, Step, Steps, Verb, Wait, pack

if TYPE_CHECKING:
    from om_api.store.scripts import Script

T = TypeVar("T")
Ask: TypeAlias = Callable[[Any], Any]  # what to do with a client: it gives the reply, or an awaitable of it
Asks: TypeAlias = Generator[Ask, Any, Any]
_FULL = "maxmemory"
_PAUSE_S = 0.05
_FORBIDDEN = "this ACL user may not do that: see docs/security.md"
_ADVICE = {
    "maxmemory": "the server is out of memory: give it more, or clear idle memories",
    "READONLY": "the server is a read-only replica: point OM_REDIS_URL at the primary",
    "MISCONF": "the server cannot write to its disk and refuses writes: look at its log",
    "WRONGPASS": "the server refuses this password: correct OM_REDIS_URL",
    "invalid username": "the server refuses this password: correct OM_REDIS_URL",
    "NOAUTH": "the server wants a password: put it into OM_REDIS_URL",
    "HELLO must be called": "the server wants a password: put it into OM_REDIS_URL",
    "run the 'eval' command": "the server has lost our scripts, which this ACL user may run and not bring: a worker brings them"
    " within 10 s, so repeat",
    "NOPERM": _FORBIDDEN,
    "ACL failure in script": _FORBIDDEN,  # as Valkey says it of a command within a script
    "The user executing the script can't": _FORBIDDEN,  # as Redis does
    "WRONGTYPE": "a key holds something that is not ours: choose another OM_PREFIX or remove that key",
    "LOADING": "the server is still loading its data: wait and repeat",
    "NOREPLICAS": "the server takes no writes without its replicas: see that they are connected",
    "BUSY Redis": "a script keeps the server busy: wait and repeat",
    "DB index is out of range": "the server has fewer databases: correct the number at the end of OM_REDIS_URL",
    "max number of clients": "the server has too many clients: raise its maxclients, or run fewer",
    "Too many connections": "this process has too many calls in flight: wait and repeat",
}


def patient(steps: Steps[T], *, retries_itself: bool) -> Steps[T]:
    """The same steps, each asked twice if need be, and told of a failure by a StoreError; whoever drives throws RedisErrors.

    `retries_itself`: the client tries again by itself, so that we need not and cannot know what its first try did.
    """
    try:
        step = next(steps)
        while True:
            try:
                try:
                    reply = yield step
                except RedisError as error:
                    reply = yield from _again(step, error, retries_itself=retries_itself)
            except StoreError as failed:
                step = steps.throw(failed)
            else:
                step = steps.send(reply)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _again(step: Step, error: RedisError, *, retries_itself: bool) -> Steps[Any]:
    """A step's reply at the second try, because a connection may have died while it was idle; raises StoreError.

    Time 0: a push is written, and the connection breaks before its reply. Time 1: the second try is refused by a
    server that is starting. Nobody can know then what became of the push, though the refusal alone says "not kept".
    """
    first = explain(error, step, retried=retries_itself)
    last = retries_itself or (isinstance(step, Batch) and step.once)
    if last or not isinstance(error, NotConnected | NotAnswered) or _is_refusal(error):
        raise first from error
    yield Wait(_PAUSE_S * random.random())
    try:
        return (yield step)
    except RedisError as second:
        again = explain(second, step)
        raise _uncertain(again) if first.stored is None is not again.stored else again from second


def asks(step: Verb | Batch, *, cluster: bool, transact: Callable[[Any, Batch], Any]) -> Asks:
    """What a client is asked for one step, one after the other; returns the step's reply.

    `transact` sends a batch and returns its replies.
    """
    if isinstance(step, Verb):
        return _call(step)
    return _on_slots(step) if cluster else _at_once(step, transact)


def _at_once(step: Batch, transact: Callable[[Any, Batch], Any]) -> Asks:
    if len(step.commands) == 1 and not step.packed:
        return [(yield lambda client: client.execute_command(*step.commands[0]))]
    if step.slim:
        return (yield from _call(_as_script(step)))
    try:
        return (yield lambda client: transact(client, step))
    except RedisError as error:
        if step.writes or not step.atomic or _FULL not in str(error):
            raise
    return (yield from _call(_as_script(step)))


def _as_script(step: Batch) -> Verb:
    words = [word for command in step.commands for word in (len(command), *command)]
    return Verb("batch", [command[1] for command in step.commands if len(command) > 1], words)


def on_the_wire(batch: Batch) -> tuple[bytes, int]:
    """A batch as bytes, and how many replies there will be."""
    extra = 2 if batch.atomic else 0  # of MULTI and EXEC
    try:
        return batch.packed or pack(batch.commands, atomic=batch.atomic), len(batch.commands) + extra
    except TypeError as error:
        raise DataError(f"a word of a command is none: {error}") from error


def settled(batch: Batch, replies: Sequence[Any], callbacks: Mapping[str, Callable[[Any], Any]]) -> list[Any]:
    """What a batch was answered, in redis-py's own types unless it was packed beforehand; raises the first error."""
    _raise_first(replies)
    done = replies[-1] if batch.atomic else replies
    if not isinstance(done, list) or len(done) != len(batch.commands):
        raise ResponseError("the server gave another number of replies than it was asked for")
    _raise_first(done)
    if batch.packed:
        return list(done)
    pairs = zip(batch.commands, done, strict=True)
    return [callbacks[name](reply) if (name := command[0]) in callbacks else reply for command, reply in pairs]


def _raise_first(replies: Iterable[Any]) -> None:
    for reply in replies:
        if isinstance(reply, ResponseError):
            raise reply


def pipelined(client: Any, batch: Batch) -> Any:
    """A batch as redis-py sends it, for a client that tries again by itself: its replies, or an awaitable of them."""
    return _pipeline(client, batch.commands, atomic=batch.atomic).execute()


def _pipeline(client: Any, commands: Any, *, atomic: bool) -> Any:
    pipe = client.pipeline(transaction=atomic)
    for command in commands:
        pipe.execute_command(*command)
    return pipe


def _on_slots(step: Batch) -> Asks:
    # A Cluster's transaction lives in one slot, and TIME in none: it is asked before the rest.
    rest = [command for command in step.commands if command != ("TIME",)]
    timed = len(rest) < len(step.commands)
    time = (yield lambda client: client.time(target_nodes="random")) if timed else None
    atomic = step.atomic and len(rest) > 1
    replies = iter((yield lambda client: _pipeline(client, rest, atomic=atomic).execute()))
    return [time if command == ("TIME",) else next(replies) for command in step.commands]


def _call(verb: Verb) -> Asks:
    script: Script = load_all()[verb.name]
    script.check(len(verb.keys))
    words = (len(verb.keys), *verb.keys, *verb.args)
    try:
        return (yield lambda client: client.evalsha(script.sha, *words))
    except NoScriptError:
        return (yield lambda client: client.eval(script.source, *words))


def explain(error: RedisError, step: Step, *, retried: bool = False) -> StoreError:
    """Turn a Redis error into one that says what happened to the write and what to do next.

    `retried`: the client may have tried before, so that the last error does not say what the first try did.
    """
    wrote = isinstance(step, Verb) or (isinstance(step, Batch) and step.writes)
    text = _said(error).rstrip(". ")[:200]
    if word := _is_refusal(error):
        advice = _ADVICE.get(word, "See docs/operations.md.")
        kind = NotPermittedError if advice == _FORBIDDEN else StoreError
        return kind(f"the store refused: {text}. {advice}", stored=False)
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


def retries_itself(client: Any) -> bool:
    """Whether a client tries again by itself: a Cluster's does, and a plain one if it was made so."""
    policy = client.get_retry() if hasattr(client, "get_retry") else None
    return bool(policy and policy.get_retries() > 0)
