"""Writing: messages are checked, counted and encoded here, once, and sent in batches."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy

from om_api.client.receipts import Receipt, ReceiptTally
from om_api.client.redacting import Redacting
from om_api.client.remembered.known_aliases import KnownAliases
from om_api.client.reporting import Reporter
from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError, NotReplicatedError, RateLimitedError, StoreError
from om_api.domain.message_size import check_size
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.push_limits import ANYBODY, AT_ONCE_S, THE_REST_S, UNLIMITED, Pusher, PushPace
from om_api.domain.values import check_id, is_id, new_id, to_ms, traceparent, with_zone
from om_api.domain.wire import EncodedMessage, encode_message, no_message
from om_api.settings import Settings
from om_api.store.driver.partitions import sure
from om_api.store.driver.steps import Replicas, Steps
from om_api.store.memory import due
from om_api.store.memory.amend import amend
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import BATCH, NO_HISTORY, Pushed, ServerClock, push, replicas_of
from om_api.telemetry import spans

THREADS = 4_096  # whose last message is remembered
_JUST_AHEAD = 60_000  # ms by which turns that were added together may be ahead of the clock
_ALIASES = 5  # that may change while a push is on its way


class Writer:
    """Adds messages of any threads and resources. On a `cluster` they cannot be marked due in the same step."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        clock: ServerClock,
        count: Callable[[str], int],
        reporter: Reporter,
        *,
        cluster: bool = False,
        aliases: KnownAliases | None = None,
        redacting: Redacting | None = None,
    ) -> None:
        self.redacting = redacting or Redacting(settings, keys)
        self._settings, self._keys, self._clock, self._reporter = settings, keys, clock, reporter
        self.count, self.aliases = count, aliases or KnownAliases()
        self._cluster = cluster
        self._last_ms: LRU[tuple[str, str], _ThreadTimes] = LRU(THREADS)

    def prepare_all(self, messages: Iterable[Message], positions: Sequence[int] = ()) -> list[EncodedMessage]:
        """Messages as they will be kept; raises InvalidInputError, which says by position and id which one cannot be.

        `positions` are theirs among those that were given; else they are all.
        """
        ready: list[EncodedMessage] = []
        places = set[tuple[str, str]]()  # where messages may be added
        try:
            for message in messages:
                ready.append(self._acceptable(message, places))  # noqa: PERF401  how far we came is told
        except InvalidInputError as error:
            at = positions[len(ready)] if positions else len(ready)
            raise InvalidInputError(f"messages[{at}]: {error}; nothing was kept") from error
        return ready

    def _acceptable(self, message: Message, places: set[tuple[str, str]]) -> EncodedMessage:
        if not isinstance(message, Message):
            raise InvalidInputError(no_message(message))
        place = message.resource_id, message.thread_id
        if not (type(place[0]) is type(place[1]) is str and place in places):
            self._check_place(message)
            places.add(place)
        try:
            return self._prepared(message)
        except RecursionError:
            raise InvalidInputError(f"message {message.id or '(without id)'}: it nests too deeply") from None

    def _check_place(self, message: Message) -> None:
        _check_place(message)
        if self._settings.for_agent(message.resource_id).read_only:
            raise InvalidInputError(f"{message.resource_id} is read_only: its contexts can be read, no message is kept")

    def prepare(self, message: Message) -> EncodedMessage:
        """A message as it will be kept: with id, tokens and the ms it is ordered by; raises InvalidInputError."""
        _check_place(message)
        return self._prepared(message)

    def _prepared(self, message: Message) -> EncodedMessage:
        ready = copy(message)
        ready.at = 0
        ready.check()  # what was changed since it was made
        ready.timestamp = with_zone(ready.timestamp, self._settings.for_agent(ready.resource_id).timezone)
        now = int(time.time() * 1000)
        at = self._next_ms(ready, None if ready.timestamp is None else to_ms(ready.timestamp), now)
        ready.id, dated = ready.id or new_id(min(at, now)), ready.timestamp is not None
        ready.traceparent = traceparent(ready.traceparent) or spans.traceparent()
        if ready.timestamp is None:
            ready.timestamp = at
        ready = self.redacting.message(ready)
        try:
            ready.tokens = count_message(ready, self.count)
            member = encode_message(ready)
        except (TypeError, ValueError):
            encode_message(message)  # raises by the id it was given; a part that cannot be written cannot be counted
            raise
        check_size(ready, member)
        ready.at = at
        self.redacting.prepared(ready.resource_id, member)
        return EncodedMessage(ready, member, dated)

    def _next_ms(self, message: Message, said: int | None, now: int) -> int:
        thread = message.resource_id, message.thread_id
        times = self._last_ms.get(thread)
        if times is None:
            self._last_ms.put(thread, times := _ThreadTimes())
        return times.next(said, now)

    def send(
        self, ready: Sequence[EncodedMessage], *, replace: bool = False, pusher: Pusher = ANYBODY
    ) -> Steps[Receipt]:
        """Send messages that are prepared, up to 500 of a resource at once; `replace` what is raw and says otherwise.

        A resource that takes no more of them now holds up no other: RateLimitedError is raised when all were tried.
        """
        resources: dict[str, list[EncodedMessage]] = {}
        for each in ready:
            resources.setdefault(each.message.resource_id, []).append(each)
        tally, kept, limited = ReceiptTally(), 0, list[RateLimitedError]()
        for resource, own in resources.items():
            try:
                for batch, ahead_s in batches(own):
                    yield from self.push(resource, batch, tally, replace=replace, pusher=pusher, ahead_s=ahead_s)
                    kept += len(batch)
            except RateLimitedError as error:
                limited.append(error)
            except StoreError as error:
                if not kept:
                    raise
                raise _partly(error, kept, len(ready)) from error
        if limited:
            raise _limited(limited, kept, len(ready))
        yield from self._reporter.tell_due(resources)
        return tally.receipt(each.message.id for each in ready)

    def push(
        self,
        resource: str,
        batch: Sequence[EncodedMessage],
        tally: ReceiptTally,
        *,
        before: bytes = NO_HISTORY,
        replace: bool = False,
        pusher: Pusher = ANYBODY,
        ahead_s: float = AT_ONCE_S,
    ) -> Steps[bool]:
        """Push messages of one resource, and what they say more than is known by their ids; `before` as in push.push.

        False, and nothing is kept, where the thread went on otherwise than from `before`, or is an alias of another than this
        client knew of. Raises RateLimitedError where resource or pusher are further ahead of their limits than `ahead_s`.
        """
        values = yield from self.redacting.kept(resource)
        try:
            pushed = yield from self._pushed(resource, batch, before, self._pace(resource, pusher, ahead_s))
        except RateLimitedError:
            yield from self._reporter.refused(resource)
            raise
        yield from self.redacting.keep(resource, values)
        tally.take(pushed)
        if pushed.ahead:
            yield from self._reporter.ahead(resource, len(pushed.ahead), pushed.ahead_ms)
        for each, known in pushed.other if not pushed.alias else ():
            waits = self._replicas(resource)
            said = yield from amend(self._keys, each, known, self.count, replace=replace, replicas=waits)
            tally.said(each.message.id, said, sealed=known.day > 0)
        return not (pushed.alias or pushed.apart)

    def _pace(self, resource: str, pusher: Pusher, ahead_s: float) -> PushPace:
        limits = self._settings.for_agent(resource).push_limits
        limited = limits.are_set or pusher is not ANYBODY
        return PushPace(limits.limits(), pusher, ahead_s) if limited else UNLIMITED

    def _pushed(self, resource: str, batch: Sequence[EncodedMessage], before: bytes, pace: PushPace) -> Steps[Pushed]:
        """Push, and have what is due marked; what came by an alias to the thread that it stands for."""
        for _ in range(len(batch) + _ALIASES):
            pushed = yield from self._pushed_once(resource, batch, before, pace)
            if pushed.alias is None:
                return pushed
            self.aliases.learn(resource, *pushed.alias)
            if before != NO_HISTORY:
                return pushed
        raise StoreError(f"aliases of {resource} change faster than they can be read: repeat.", stored=False)

    def _pushed_once(
        self, resource: str, batch: Sequence[EncodedMessage], before: bytes, pace: PushPace
    ) -> Steps[Pushed]:
        placed, through = self.aliases.placed(resource, batch)
        by_thread = self._settings.for_agent(resource).scope == "thread"
        mark = not self._cluster
        if self._cluster:
            with suppress(
                StoreError
            ):  # an agent's user may not begin it; SettingsError: nothing is kept that cannot be marked
                yield from sure(self._keys.layout)
        pushed = yield from push(
            self._keys,
            self._clock,
            resource,
            placed,
            before=before,
            through=through,
            thread_scope=by_thread,
            mark=mark,
            pace=pace,
            replicas=self._replicas(resource),
        )
        if self._cluster and pushed.due:
            with suppress(StoreError):  # the messages are kept; the sweep finds what a mark could not say
                yield from due.mark(self._keys.due_observe, pushed.due, now=pushed.now)
        return pushed

    def secure(self, resource: str) -> Steps[None]:
        """Have replicas hold whatever was pushed to a resource before, if its pushes wait for them; raises NotReplicatedError."""
        if waits := self._replicas(resource):
            yield from push(self._keys, self._clock, resource, (), mark=False, replicas=waits)

    def _replicas(self, resource: str) -> Replicas | None:
        said = self._settings.for_agent(resource).durability
        return replicas_of(self._keys, resource, said.wait_replicas, said.wait_timeout)


class _ThreadTimes:
    """The times of a thread's last message: turns come in one millisecond, and many say the second, and ids would order them."""

    __slots__ = ("_last", "_last_said", "_said")

    def __init__(self) -> None:
        self._said, self._last_said, self._last = 0, -1, -1

    def next(self, said: int | None, clock: int) -> int:
        """The ms that the next message is ordered by: that of the clock or, if it says one, that; behind those before it."""
        if said is None:
            self._last = at = max(clock, self._last + 1)
            return at
        self._last_said = at = self._last_said + 1 if self._said <= said <= self._last_said else said
        self._said = said
        if at < clock + _JUST_AHEAD:
            self._last = max(self._last, at)
        return at


def batches(messages: Sequence[EncodedMessage]) -> Iterator[tuple[Sequence[EncodedMessage], float]]:
    """Messages of a resource as they are sent, and how far (s) each batch may be ahead of a limit: once begun, a call goes on."""
    for start in range(0, len(messages), BATCH):
        yield messages[start : start + BATCH], THE_REST_S if start else AT_ONCE_S


def _check_place(message: Message) -> None:
    """Raise InvalidInputError unless a message says whose it is, and of which thread."""
    if is_id(message.thread_id) and is_id(message.resource_id):
        return
    which = f"of message {message.id or '(without id)'}"
    for name, said in (("thread_id", message.thread_id), ("resource_id", message.resource_id)):
        if not said:
            raise InvalidInputError(f"{name} {which} is missing: pass {name}=, or write it into the message")
        check_id(said, f"{name} {which}")


def _limited(errors: Sequence[RateLimitedError], kept: int, asked: int) -> RateLimitedError:
    """One error of several resources."""
    last = max(errors, key=lambda error: error.retry_after)
    if not kept:
        return last
    text = f"{last} Of {asked:,} messages {kept:,} of other resources are kept."
    return RateLimitedError(text, retry_after=last.retry_after, stored=None)


def _partly(error: StoreError, kept: int, asked: int) -> StoreError:
    text = f"{error} Of {asked:,} messages the first {kept:,} are kept, in the order of their resources"
    kind = NotReplicatedError if isinstance(error, NotReplicatedError) else StoreError
    return kind(f"{text}: repeat the call with the same ids, which is safe.", stored=None)
