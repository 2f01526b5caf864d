"""The dispatcher: hands due scopes to the fleet as tasks, as many as it can begin; the rest waits in the due index."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from typing import NamedTuple, TypeVar

from om_api.domain.errors import OMError
from om_api.domain.timing.chance import chance
from om_api.domain.values import Scope
from om_api.store.driver.partitions import PartedIndex, part_of
from om_api.store.fleet import health, presence
from om_api.store.fleet.presence import Worker
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.due import Claim, Claims
from om_workers.work.lasting import Lasting
from om_workers.work.services import Services
from om_workers.work.unreadable import Isolated

T = TypeVar("T")
_AT_ONCE = 100
_SIFTED = 1_000
_OTHERS = 3  # parts that are asked where one has nothing
_REFILL_S = 0.5
_COUNTED_S = 5.0  # the fleet changes when a process starts or ends
_HEARD_MS = due.LEASE_MS // 2  # a heartbeat and a half: who was not heard of for longer may be dead
_USUAL = 32  # tasks at a time of a worker of an earlier version, which does not say
_WIDEST = 1_000  # tasks at a time that are believed of one worker
_LOST_MS = 10 * due.LEASE_MS  # a task may wait for long behind others, but not for ever
_SHARES = {"observe": 1.0, "reflect": 0.5, "maintenance": 0.25}  # of what the fleet runs at a time: adopting is quick


class Dispatched(NamedTuple):
    """How many scopes were handed out, and how many names were dropped that nobody ever wrote a message under."""

    due: int = 0
    unknown: int = 0


class Dispatcher:
    """One process' share in handing out work; its threads may use it at the same time, as other processes use theirs.

    Never more tasks of looks wait than the workers that live run at a time, and half as many of reflections. The task of a
    look goes on with what comes next, and hands out more when its time is over.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run
        keys, queues = services.keys, services.queues
        self._kinds = {"observe": (keys.due_observe, queues.observe), "reflect": (keys.due_reflect, queues.reflect)}
        self._lasting = Lasting(services.settings, keys)
        self._slow: dict[str, set[str]] = {"observe": set(), "reflect": set()}  # at work here
        self._capacity: dict[str, int] = {}
        self._counted_at = float("-inf")
        self._guard = threading.Lock()

    def fill(self, queue: str, seconds: float, part: int = 0) -> Dispatched:
        """Give what is due in a part of the index its turn, and hand it out as far as there is room, for at most `seconds`.

        A task that was lost is found here: its lease is over, and none waits in the queue. Names that nobody wrote under are
        dropped, whether there is room or not. Raises StoreError when store or broker is away.
        """
        key, tasks = self._part(queue, part), self.share(queue)
        grace_ms = _LOST_MS if self._services.queues.waiting(queue) else 0
        unknown = self._admit(queue, key, seconds / 2, grace_ms) if tasks else 0
        return Dispatched(self._fill(queue, key, seconds / 2, least=1, grace_ms=grace_ms)[0], unknown)

    def refill(self, queue: str, scope: str = "") -> None:
        """Hand out what comes next, since the task of a scope has ended: of its part, else of some other one.

        What goes wrong here, the next tick makes good. Who stops hands out nothing: what it gave back is due, and whoever
        goes on takes it.
        """
        self._of_some_part(queue, scope, self._next)

    def following(self, queue: str, scope: str, seconds: float) -> Iterator[Claim]:
        """The scopes whose turn comes next, for the task of a scope that goes on with them for so long: each is begun.

        What is left after that time is handed out.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            claim = self._of_some_part(queue, scope, self._begin_next)
            if not claim:
                return
            yield claim
        self.refill(queue, scope)

    def _of_some_part(self, queue: str, scope: str, take: Callable[[str, str], T]) -> T | None:
        """What is found in the part of a scope, or else in some other one; nothing for who stops."""
        if self._services.stopping.asked:
            return None
        with Isolated("refill_failed", queue=queue):
            return next(filter(None, (take(queue, self._part(queue, part)) for part in self._near(scope))), None)
        return None

    def _begin_next(self, queue: str, part: str) -> Claim | None:
        most = self._lasting.slow_most(queue, self.share(queue))

        def take() -> tuple[list[Claim], int]:
            while True:
                came = self._run(due.claims(part, 1, grace_ms=_LOST_MS, slow_most=most, begun=True))
                self._slow[queue].update(came.slow)
                found = self._in_time(queue, part, came, _LOST_MS)
                if found or not came.scopes:
                    return found, came.arrivals

        return next(iter(self._admitting(queue, part, take)), None)

    def _next(self, queue: str, part: str) -> int:
        least = max(1, self.share(queue) // 4)
        return self._admitting(queue, part, lambda: self._fill(queue, part, _REFILL_S, least=least, grace_ms=_LOST_MS))

    def _admitting(self, queue: str, part: str, take: Callable[[], tuple[T, int]]) -> T:
        """Take whose turn it is; where there is none, those that came due since the tick are given theirs first."""
        taken, arrivals = take()
        if taken or not arrivals:
            return taken
        self._admit(queue, part, _REFILL_S, _LOST_MS)
        return take()[0]

    def _near(self, scope: str) -> list[int]:
        """The part of a scope, and some others that may have what it has not."""
        count = self._services.keys.layout.now.count
        own = part_of(scope, count)
        others = chance.sample(range(count), min(count, _OTHERS))
        return [own, *(part for part in others if part != own)]

    def _part(self, queue: str, part: int) -> str:
        index = self._kinds[queue][0]
        return index.part(part, index.layout.now.count)

    def begin(self, queue: str, scope: str, lease: str) -> bool:
        """Begin a task that was handed out; False when it has nothing to do any more, because another one did it.

        Time 0: a scope is taken as a slow one. Time 1: its model turns out to be quick. Time 2: its task begins, and is a slow
        one all the same: else nobody would say that it has ended, and it would keep its place until its lease is over.
        """
        index = self._kinds[queue][0]
        began = self._run(due.start(index, Claim(scope, lease)))
        if began == "started" and self._lasting.turn(queue, scope).slow:  # nobody knew: it comes again in its turn
            self._place_again(queue, index.of(scope), [Claim(scope, lease)], _LOST_MS)
            return False
        if began == "slow":
            self._slow[queue].add(scope)
        return began != "superseded"

    def lasted(self, queue: str, scope: str, seconds: float) -> None:
        """Note for how long a task asked a model."""
        with suppress(OMError):  # the next one will tell
            self._run(self._lasting.ended(queue, scope, seconds))

    def ended(self, queue: str, scope: str) -> None:
        """Say that a task is over; if it was a slow one, another may begin."""
        if scope not in self._slow[queue]:
            return
        self._slow[queue].discard(scope)
        with suppress(OMError):  # its place ends by itself, a lease later
            self._run(due.ended(self._kinds[queue][0], scope))
        self.refill(queue, scope)

    def keep(self) -> None:
        """Keep the places of the tasks that this process holds and has not begun, and of slow ones that are at work."""
        for queue, (index, _) in self._kinds.items():
            self._run(due.keep(index, self._services.queues.held(queue)))
            self._run(due.still_slow(index, [*self._slow[queue]]))

    def capacity(self, queue: str) -> int:
        """How many tasks of a queue the workers that live run at a time, as counted within the last seconds."""
        with self._guard:
            if time.monotonic() - self._counted_at > _COUNTED_S:
                own = self._services.presence.worker
                workers = {
                    each.name: each for each in (*self._run(health.workers(self._services.keys, _HEARD_MS)), own)
                }
                self._capacity = {
                    name: sum(_width(each) for each in workers.values() if name in each.queues)
                    for name in health.QUEUES
                }
                self._lasting.learned(self._run(presence.lasting(self._services.keys)))
                self._counted_at = time.monotonic()
            return self._capacity[queue]

    def room(self, queue: str) -> int:
        """How many tasks of a queue may wait that nobody has begun."""
        return ceil(self.capacity(queue) * _SHARES[queue])

    def index(self, queue: str) -> PartedIndex:
        """The due index of a queue."""
        return self._kinds[queue][0]

    def share(self, queue: str) -> int:
        """How many of them may be of one part."""
        return -(-self.room(queue) // self._services.keys.layout.now.count)

    def _admit(self, queue: str, part: str, seconds: float, grace_ms: int) -> int:
        """Give what is due its turn, until little of a thousand has none; how many names were dropped that nobody wrote under."""
        dropped, end, tasks, goes_on = 0, time.monotonic() + seconds, self.share(queue), True
        while goes_on:
            come = self._run(due.arrivals(part, _SIFTED, grace_ms))
            known = self._known(come)
            turns = [self._lasting.turn(queue, name) for name in come if name in known]
            admitted = self._run(due.admit(part, turns, tasks, grace_ms))
            gone, came = self._drop(part, [name for name in come if name not in known])
            dropped += gone
            goes_on = (came > 0 or 2 * (admitted + gone) > _SIFTED) and time.monotonic() < end
        self._services.events.unknown(dropped)
        return dropped

    def _drop(self, part: str, names: Sequence[str]) -> tuple[int, int]:
        """Drop names that nobody wrote under; how many, and under how many somebody wrote meanwhile."""
        held = self._run(due.hold(part, names))
        came = self._known([each.scope for each in held])  # a message that comes later marks its scope
        self._run(due.give_back(part, [each for each in held if each.scope in came]))
        gone = self._run(due.drop(part, [each for each in held if each.scope not in came]))
        return gone, len(names) - gone

    def _fill(self, queue: str, part: str, seconds: float, *, least: int, grace_ms: int) -> tuple[int, int]:
        """Hand out whose turn it is; how many, and how many more are due that have no turn yet."""
        send, most, end, handed, arrivals = self._kinds[queue][1], self.share(queue), time.monotonic() + seconds, 0, 0
        slow_most, a_task = self._lasting.slow_most(queue, most), self._lasting.scopes_a_task(queue)
        while most:
            came = self._run(
                due.claims(
                    part, _AT_ONCE, most=most, least=least, grace_ms=grace_ms, slow_most=slow_most, a_task=a_task
                )
            )
            found, arrivals = self._in_time(queue, part, came, grace_ms), came.arrivals
            self._send(part, found, send)
            handed += len(found)
            late = len(came.scopes) - len(found)
            if (len(came.scopes) < _AT_ONCE and not late) or time.monotonic() > end:
                break
        return handed, arrivals

    def _in_time(self, queue: str, part: str, came: Claims, grace_ms: int) -> list[Claim]:
        """Those that were taken, less those that are known to be slow only now: they are given another turn."""
        late = [
            each for each in came.scopes if each.scope not in came.slow and self._lasting.turn(queue, each.scope).slow
        ]
        self._place_again(queue, part, late, grace_ms)
        return [each for each in came.scopes if each not in late]

    def _place_again(self, queue: str, part: str, late: Sequence[Claim], grace_ms: int) -> None:
        """Give another turn to scopes that are known to be slow since they had theirs."""
        self._run(due.give_back(part, late))
        turns = [self._lasting.turn(queue, each.scope) for each in late]
        self._run(due.admit(part, turns, self.share(queue), grace_ms))

    def _known(self, names: Sequence[str]) -> set[str]:
        """Those of scopes that somebody wrote messages under: whoever may mark scopes may write any name."""
        scopes = {name: Scope.parse(name) for name in names if Scope.is_one(name)}
        written = self._run(keyspace_scan.written(self._services.keys, [*scopes.values()]))
        return {name for name, there in zip(scopes, written, strict=True) if there}

    def _send(self, part: str, claims: Sequence[Claim], send: Callable[[str, str], None]) -> None:
        for at, claim in enumerate(claims):
            try:
                send(claim.scope, claim.lease)
            except OMError:  # else what was not sent would keep its place until its lease is over, or ten
                self._run(due.give_back(part, claims[at:]))
                raise


def _width(worker: Worker) -> int:
    return min(max(0, worker.concurrency) or _USUAL, _WIDEST)
