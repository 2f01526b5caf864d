"""What steps ask of a Redis client, blocking or not, and what its errors say: one logic behind both connections."""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import DataError, NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NotAnswered

from om_api.archive.protocol import Archive
from om_api.domain.errors import (
    ArchiveError,
    ForeignDataError,
    NotPermittedError,
    NotReplicatedError,
    SettingsError,
    StoreError,
)
from om_api.domain.timing.chance import chance
from om_api.store.driver.archived_keys import filled
from om_api.store.driver.cluster import Line, NodeRequest, PartlyKeptError
from om_api.store.driver.scripts import Script, absent, load_all
from om_api.store.driver.slot_parts import parted
from om_api.store.driver.steps import (
    ALONE,
    Apart,
    Batch,
    Call,
    Calls,
    FromArchive,
    HasArchive,
    Leniently,
    Nodes,
    Replicas,
    Step,
    Steps,
    Verb,
    Wait,
    Words,
    pack,
)

T = TypeVar("T")
_Asked: TypeAlias = Verb[Any] | Batch[Any] | Wait | Apart[Any] | Nodes | FromArchive[Any] | HasArchive
_APART = ThreadPoolExecutor(32, thread_name_prefix="om-apart")  # of their own: what is slow keeps no look-up waiting
_FULL = "maxmemory"
_NO_ARCHIVE = (
    "a part of what is asked for was archived, and this process was told of no archive: set archive.url (OM_ARCHIVE__URL) to "
    "that of the workers"
)
_PAUSE_S = 0.05
_MARK_MS = 10_000  # that what was written for replicas stays
_FORBIDDEN = "this ACL user may not do that: see docs/security.md"
_FOREIGN = "a key has a value of another program: choose another OM_PREFIX or remove that key"
_ADVICE = {
    "maxmemory": "the server is out of memory: give it more, or clear idle memories",
    "CLUSTERDOWN": "a part of the Cluster is served by no node: bring it back, or its replica (redis-cli --cluster check)",
    "TRYAGAIN": "what is asked for moves to another node of the Cluster now: repeat; if it stays so, redis-cli --cluster fix",
    "MOVED": "the server is one of a Cluster: write redis+cluster:// in OM_REDIS_URL",
    "CROSSSLOT": "the server is one of a Cluster: write redis+cluster:// in OM_REDIS_URL",
    "cluster support disabled": "the server is none of a Cluster: write redis:// in OM_REDIS_URL",
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
    "WRONGTYPE": _FOREIGN,
    "LOADING": "the server is still loading its data: wait and repeat",
    "NOREPLICAS": "the server takes no writes without its replicas: see that they are connected",
    "BUSY Redis": "a script keeps the server busy: wait and repeat",
    "DB index is out of range": "the server has fewer databases: correct the number at the end of OM_REDIS_URL",
    "max number of clients": "the server has too many clients: raise its maxclients, or run fewer",
    "Too many connections": "this process has too many calls in flight: wait and repeat",
}


@dataclass
class Endpoint:
    """A client and what a conversation must know of it. `transact` sends a batch and returns its replies.

    `exchange` asks nodes, each over one connection, and returns refusals among the replies.
    `retries_itself`: the client tries again by itself, so that we need not and cannot know what its first try did. `time`
    is the module whose `sleep` fits the client. What is called is awaited by whoever drives, if it is asyncio's.
    """

    client: Any
    retries_itself: bool
    transact: Callable[[Any, Batch[Any]], Any]
    exchange: Callable[[Sequence[NodeRequest]], Any]
    time: ModuleType
    line: Line | None = None  # to a Cluster
    past: Archive | None = None

    def ask(self, step: _Asked) -> Calls[Any]:
        """A step's reply at one try; raises RedisError, or ArchiveError."""
        if isinstance(step, Batch):
            return (yield from self.redis(step))
        if isinstance(step, Verb) and step.replicas:
            return (yield from self._replicated(step, step.replicas))
        if isinstance(step, Verb):
            return (yield from self._called(step.name, step.keys, step.args))
        return (yield from self._aside(step))

    def _aside(self, step: Wait | Apart[Any] | Nodes | FromArchive[Any] | HasArchive) -> Calls[Any]:
        """What is no question to one server of Redis."""
        if isinstance(step, Wait):
            return (yield self.time.sleep, (step.seconds,))
        if isinstance(step, Apart):
            return (yield (_apart, (step.call,)) if self.time is asyncio else (step.call, ()))
        if isinstance(step, Nodes):
            return (yield from self.line.nodes()) if self.line else (ALONE,)
        return self.past is not None if isinstance(step, HasArchive) else (yield from self.archive(step))

    def redis(self, batch: Batch[Any]) -> Calls[Any]:
        """The replies to a batch as Redis gives them; raises RedisError."""
        return (yield from self._at_once(batch) if self.line is None else self._on_slots(batch, self.line))

    def archive(self, step: FromArchive[Any]) -> Calls[Any]:
        """What the archive says: asked in a thread where an event loop would wait; raises ArchiveError."""
        if self.past is None:
            raise ArchiveError(_NO_ARCHIVE)
        call: Call = (_tried, (step.ask, self.past))
        came, error = yield (asyncio.to_thread, (call[0], *call[1])) if self.time is asyncio else call
        if error:
            raise error
        return came

    def _at_once(self, step: Batch[Any]) -> Calls[Any]:
        if len(step.commands) == 1 and not step.packed:
            return [(yield self.client.execute_command, step.commands[0])]
        try:
            if not step.slim:
                return (yield self.transact, (self.client, step))
        except RedisError as error:
            _raise_unless_readable(step, error)
        return (yield from self._by_script(step.commands))

    def _on_slots(self, step: Batch[Any], line: Line) -> Calls[Any]:
        try:
            return (yield from line.ask(step))
        except RedisError as error:
            _raise_unless_readable(step, error)
        found: list[Any] = [None] * len(step.commands)
        for part in parted(step):
            replies = yield from self._by_script(part.commands)
            for place, reply in zip(part.places, replies, strict=True):
                found[place] = reply
        return found

    def _by_script(self, commands: Sequence[Words]) -> Calls[Any]:
        words = [word for command in commands for word in (len(command), *command)]
        names = [command[1] for command in commands if len(command) > 1]
        return (yield from self._called("batch", names, words))

    def _replicated(self, step: Verb[Any], replicas: Replicas) -> Calls[Any]:
        """A script's reply once replicas hold what it wrote; raises NotReplicatedError.

        Time 0: a primary takes a push, and fails. Time 1: its replica, which never heard of it, is the primary. Time 2: we ask
        the primary how many replicas hold all that it holds, and believe the push to be among that. So script and question go
        over one connection at once: no other server than that which ran the script can answer. On a Cluster the script finds
        its node first, and is repeated there with the question.
        """
        script, words = self._spoken(step.name, step.keys, step.args)
        behind = (("SET", replicas.mark, 1, "PX", _MARK_MS), ("WAIT", replicas.number, replicas.within_ms))
        found = (yield from self._called(step.name, step.keys, step.args)) if self.line else None
        for how in (("EVALSHA", script.sha), ("EVAL", script.source)):
            reply, marked, hold = yield from self._together([(*how, *words), *behind])
            if not isinstance(reply, NoScriptError):
                break
        if self.line is None:
            _raise_first([reply])
        refused = next((str(each) for each in (reply, marked, hold) if isinstance(each, Exception)), "")
        if refused or hold < replicas.number:
            raise _not_replicated(replicas, refused or f"{hold} had it after {replicas.within_ms} ms")
        return found if self.line else reply

    def _together(self, commands: Sequence[Words]) -> Calls[Any]:
        """Replies and refusals to commands that go over one connection, to the node of the first of them."""
        batch: Batch[Any] = Batch(commands, atomic=False)
        if self.retries_itself:
            return (yield partial(pipelined, refusals=True), (self.client, batch))
        at = self.line.cluster.owner(parted(batch)[0]) if self.line else ""
        node = self.line.cluster.node(at) if self.line else self.client
        (answer,) = yield self.exchange, ([NodeRequest(node, pack(commands, atomic=False), len(commands))],)
        if isinstance(answer, RedisError):
            if self.line:
                self.line.cluster.failed(at)
            raise answer
        return answer

    def _called(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> Calls[Any]:
        script, words = self._spoken(name, keys, args)
        try:
            return (yield from self._evaluated("evalsha", script.sha, *words))
        except NoScriptError:
            return (yield from self._evaluated("eval", script.source, *words))

    def _spoken(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> tuple[Script, Words]:
        """A script, and what follows its name in a call."""
        script = (load_all(cluster=True) if self.line else load_all())[name]
        script.check(len(keys))
        given = (*keys, absent(keys[0])) if self.line and keys else keys
        return script, (len(given), *given, *args)

    def _evaluated(self, name: str, *words: Any) -> Calls[Any]:
        if self.line is None:
            return (yield getattr(self.client, name), words)
        return (yield from self.line.ask(Batch([(name.upper(), *words)])))[0]


async def _apart(call: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_APART, call)


def _tried(ask: Callable[[Archive], T], archive: Archive) -> tuple[T | None, ArchiveError | None]:
    try:
        return ask(archive), None
    except ArchiveError as error:
        return None, error


def conversation(steps: Steps[T], endpoint: Endpoint) -> Calls[T]:
    """The calls of a client that steps come to; each step is asked twice if need be, and told of a failure by a StoreError.

    Whoever drives it makes each call, sends what it returned, and throws what Redis refused.
    """
    go_on: Callable[[Any], Step] = steps.send
    reply: Any = None
    missed: list[str] | None = None
    while True:
        try:
            step = go_on(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        try:
            if isinstance(step, Leniently):
                missed = [] if missed is None else missed
                go_on, reply = steps.send, missed
                continue
            go_on, reply = steps.send, (yield from _answered(step, endpoint, missed))
        except StoreError as failed:
            go_on, reply = steps.throw, failed


def _answered(step: _Asked, endpoint: Endpoint, missed: list[str] | None) -> Calls[Any]:
    """A step's reply, with what was archived of it, at the second try if need be; raises StoreError."""
    try:
        reply = yield from endpoint.ask(step)
    except RedisError as error:
        reply = yield from _again(step, error, endpoint)
    if not isinstance(step, Batch) or step.packed or step.writes:
        return reply
    try:
        return (yield from filled(endpoint, step, reply, missed))
    except RedisError as error:
        raise explain(error, step) from _cause(error)


def _again(step: _Asked, error: RedisError, endpoint: Endpoint) -> Calls[Any]:
    """A step's reply at the second try, because a connection may have died while it was idle; raises StoreError.

    Time 0: a push is written, and the connection breaks before its reply. Time 1: the second try is refused by a
    server that is starting. Nobody can know then what became of the push, though the refusal alone says "not kept".
    """
    first = explain(error, step, retried=endpoint.retries_itself)
    last = endpoint.retries_itself or (isinstance(step, Batch) and step.once)
    if last or not isinstance(error, NotConnected | NotAnswered) or _is_refusal(error):
        raise first from _cause(error)
    yield endpoint.time.sleep, (_PAUSE_S * chance.random(),)
    try:
        return (yield from endpoint.ask(step))
    except RedisError as second:
        again = explain(second, step)
        raise _uncertain(again) if first.stored is None is not again.stored else again from _cause(second)


def _cause(error: RedisError) -> RedisError | None:
    """What else a traceback should tell; nothing where nobody listens: our own words say all of it."""
    return None if _is_nobody_there(error) else error


def _is_nobody_there(error: RedisError) -> bool:
    return isinstance(error.__cause__, ConnectionRefusedError | socket.gaierror) or "connecting to" in str(error)


def on_the_wire(batch: Batch[Any]) -> tuple[bytes, int]:
    """A batch as bytes, and how many replies there will be."""
    extra = 2 if batch.atomic else 0  # of MULTI and EXEC
    try:
        return batch.packed or pack(batch.commands, atomic=batch.atomic), len(batch.commands) + extra
    except TypeError as error:
        raise DataError(f"a word of a command is none: {error}") from error


def settled(batch: Batch[Any], replies: Sequence[Any], callbacks: Mapping[str, Callable[[Any], Any]]) -> list[Any]:
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


def pipelined(client: Any, batch: Batch[Any], *, refusals: bool = False) -> Any:
    """A batch as redis-py sends it, for a client that tries again by itself: its replies, or an awaitable of them.

    Raises the first refusal, unless `refusals` are to be among the replies.
    """
    pipe = client.pipeline(transaction=batch.atomic)
    for command in batch.commands:
        pipe.execute_command(*command)
    return pipe.execute(raise_on_error=not refusals)


def _raise_unless_readable(step: Batch[Any], error: RedisError) -> None:
    """Raise an error, unless it is that of a server which is out of memory and lets a script read all the same."""
    if step.writes or not step.atomic or _FULL not in str(error):
        raise error


def _not_replicated(replicas: Replicas, why: str) -> NotReplicatedError:
    return NotReplicatedError(
        f"the primary keeps it, and of {replicas.number:,} replicas that should {why.rstrip('. ')[:200]}. If the primary fails "
        "now it may be lost: repeat the call with the same ids, which is safe. See that the replicas are connected, or set "
        "durability.wait_replicas lower."
    )


def explain(error: RedisError, step: Step, *, retried: bool = False) -> StoreError:
    """Turn a Redis error into one that says what happened to the write and what to do next.

    `retried`: the client may have tried before, so that the last error does not say what the first try did.
    """
    wrote = isinstance(step, Verb) or (isinstance(step, Batch) and step.writes)
    told, partly = (error.refusal, True) if isinstance(error, PartlyKeptError) else (error, False)
    text = _said(told).rstrip(". ")[:200]
    if word := _is_refusal(told):
        advice = _ADVICE.get(word, "See docs/operations.md.")
        kind = {_FORBIDDEN: NotPermittedError, _FOREIGN: ForeignDataError}.get(advice, StoreError)
        what = "refused a part, and has taken another" if partly else "refused"
        return kind(f"the store {what}: {text}. {advice}", stored=None if partly else False)
    never_sent = _is_nobody_there(error)
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


def check_bytes(client: Any) -> None:
    """Raise SettingsError for a client that makes text of replies: what a push was answered could not be read any more."""
    if hasattr(client, "get_encoder") and client.get_encoder().decode_responses:
        raise SettingsError("the Redis client decodes its replies, ours are bytes: leave out decode_responses")


def retries_itself(client: Any) -> bool:
    """Whether a plain client tries again by itself: it does if it was made so."""
    policy = client.get_retry() if hasattr(client, "get_retry") else None
    return bool(policy and policy.get_retries() > 0)
