"""The storm: everybody talks and reads while things break by plan; then quiet."""

import random
import signal
import time
from collections.abc import Sequence
from typing import Any

from chaos import judging, plan
from chaos.actors import Actor, Owner, Queues, Reader
from chaos.house import PREFIX, House
from chaos.journal import Journal
from chaos.past import Past, Rounds
from chaos.plan import AUTHOR, ERASABLE, Member, Run
from chaos.quiet import due
from chaos.report import Seen
from chaos.writers import HistoryWriter, LateWriter, LibraryWriter, PlainWriter, WaitingWriter

_CLIENT_TIMEOUT_S = 1.0  # shorter than the longest pause of the server: replies get lost
_OWNER_TIMEOUT_S = 15.0
_MOST_CUT = 10_000
_LAST_WORDS_S = 30
_WRITERS = 5


class Storm:
    """One run's actors and faults, which counts in `seen` what it did."""

    def __init__(self, house: House, run: Run, journal: Journal, seen: Seen) -> None:
        self._house, self._run, self._journal, self._seen = house, run, journal, seen
        self._dice = random.Random(run.seed + 1)
        self._outage = -1
        self._owed = 0  # kills of workers
        self._strikes_above: int | None = None  # how many rows the archive has when all workers are to die
        cast, outside = plan.cast(), house.outside(timeout=2)
        self._reader = Reader(
            house.client(_CLIENT_TIMEOUT_S),
            cast,
            journal,
            random.Random(run.seed + 2),
            lambda resource: judging.look(house.whole(outside, resource), PREFIX, resource).quarantined,
        )
        singly = [member for member in cast if not member.whole]
        whole = self._part(_WRITERS, [member for member in cast if member.whole])
        plain = WaitingWriter if run.wait_replicas else PlainWriter
        self._historian = HistoryWriter(lambda: house.client(_CLIENT_TIMEOUT_S), *whole)
        self._writers = [LibraryWriter(house.client(_CLIENT_TIMEOUT_S), *self._part(n, singly)) for n in (1, 2, 3)]
        self._writers += [plain(house.outside(_CLIENT_TIMEOUT_S), PREFIX, *self._part(4, singly)), self._historian]
        # the moves come first: a memory whose workers die all the time has no unready chunk only now and then
        fated, om = [member for member in cast if member.fate], house.client(_OWNER_TIMEOUT_S)
        starts = [run.seconds * (0.15 + 0.45 * n / len(fated)) for n in range(len(fated))]
        self._owners = [Owner(om, member, journal, at) for member, at in zip(fated, starts, strict=True)]
        self._queues = Queues(house.server.waiting, journal)
        self._readers: list[Actor] = [self._reader]
        self._always: list[Actor] = [self._queues]
        self._past: Past | None = None
        if house.archive:
            self._past = Past(house.client(_OWNER_TIMEOUT_S), house.archive, journal, random.Random(run.seed + 4))
            self._readers.append(self._past)
            self._writers.append(LibraryWriter(house.client(_CLIENT_TIMEOUT_S), *self._part(AUTHOR, ERASABLE)))
            names = [member.name for member in (*cast, *ERASABLE)]
            self._always.append(Rounds(house.outside(timeout=2), house.server, names, journal))

    def _part(self, n: int, cast: Sequence[Member]) -> tuple[Any, ...]:
        """What every writer is told: who it is, whom it speaks to, and how much it says until when."""
        dice = random.Random(self._run.seed * 100 + n)
        return f"w{n}", cast, self._journal, dice, self._run.quota // _WRITERS + 1, self._run.seconds * 0.95

    def rage(self) -> float:
        """Let everybody talk and everything break for the time planned; the moment (monotonic s) when no more broke.

        Returns when nobody talks any more. The owners are heard by `hear_out`, the queues watched until `rest`.
        """
        for actor in (*self._always, *self._readers, *self._writers, *self._owners):
            actor.start()
        try:
            self._break_things()
            ended = time.monotonic()
            self._wait_for(self._writers)
        finally:
            _halt(*self._readers, *self._writers)
        return ended

    def hear_out(self) -> None:
        """Let the owners end what they began: while workers die, a memory may never be without an unready chunk.

        Then whole histories are sent a last time, by a client of before: nothing takes any of them from here on.
        """
        self._wait_for(self._owners)
        _halt(*self._owners)
        self._historian.finish()
        if self._past:
            self._past.finish()

    def rest(self) -> None:
        """Watch no longer, and count what the actors did."""
        _halt(*self._always)
        flown, seen = [owner.what for owner in self._owners if owner.done and owner.in_flight], self._seen
        seen.clears, seen.migrations = flown.count("clear"), flown.count("migration")
        seen.turns, seen.looks, seen.longest_queue = self._historian.turns, self._reader.looks, self._queues.longest
        server = self._house.server
        seen.hours, seen.failovers, seen.moved = server.ahead_s / 3_600, server.failovers, server.moved
        if self._past:
            seen.recalled, seen.partial, seen.named = self._past.recalled, self._past.partial, self._past.named

    def lose_all_workers(self) -> None:
        """Have many memories spoken to while there are none, and then bring them back."""
        crew, dice = self._house.crew, random.Random(self._run.seed + 3)
        self._journal.note("fault", fault="lose workers")
        crew.lose("worker")
        late = LateWriter(self._house.client(_OWNER_TIMEOUT_S), self._journal, self._run.late, dice)
        late.start()
        while late.is_alive():
            crew.tend()
            late.join(0.1)
        with self._house.server.client() as client:
            self._seen.due = due(client, PREFIX)
        self._journal.note("fault", fault="bring back workers")
        crew.bring_back()

    def _break_things(self) -> None:
        began = time.monotonic()
        for fault in plan.faults(self._run):
            self._let_pass(began + fault.at)
            if fault.what == "kill worker":
                self._owed += 1
            elif fault.what == "kill beat":
                self._kill("beat")
            else:
                self._do(fault.what)
        self._let_pass(began + self._run.seconds)
        # on a slow machine the last ones may still have to start
        while self._owed and time.monotonic() < began + 3 * self._run.seconds:
            self._let_pass(time.monotonic() + 0.1)

    def _let_pass(self, until: float) -> None:
        """Tend the crew until a moment, and kill what is owed as soon as there is a worker that works, or one that archives."""
        while True:
            self._house.crew.tend()
            if self._owed and self._kill("worker"):
                self._owed -= 1
            ahead = until - time.monotonic()
            if ahead <= 0:
                return
            self._strike_archivers(min(ahead, 0.1))

    def _kill(self, kind: str) -> bool:
        whom = self._house.crew.kill(kind, self._dice)
        if whom:
            self._seen.happened[f"kill {kind}"] += 1
            self._journal.note("fault", fault=f"kill {kind}", whom=whom)
        return bool(whom)

    def _wait_for(self, actors: Sequence[Actor]) -> None:
        """Let those who were held up say what they have to say."""
        until = time.monotonic() + _LAST_WORDS_S
        while time.monotonic() < until and any(actor.is_alive() for actor in actors):
            self._house.crew.tend()
            time.sleep(0.1)

    def _do(self, what: str) -> None:
        verb, _, whom = what.partition(" ")
        self._seen.happened[what] += 1
        self._journal.note("fault", fault=what)
        if what == "lose broker":
            self._house.server.lose_broker()
        elif what == "drop connections":
            self._seen.dropped += self._house.server.drop_connections()
        elif whom == "server":
            self._to_server(verb)
        elif whom == "archive":
            self._strikes_above = None
            self._house.archive.do(verb)
        elif whom == "archivers":
            self._strikes_above = self._house.archive.count()
        else:
            self._to_one_of_several(what)

    def _strike_archivers(self, seconds: float) -> None:
        """Sleep; if it is due, kill all workers as soon as one has archived something, which may be in Redis still."""
        until = time.monotonic() + seconds
        while self._strikes_above is not None and time.monotonic() < until:
            if self._house.archive.count() > self._strikes_above:
                self._house.crew.strike("worker")
                self._seen.struck, self._strikes_above = self._seen.struck + 1, None
        time.sleep(max(0.0, until - time.monotonic()))

    def _to_one_of_several(self, what: str) -> None:
        """What befalls one of several servers; a failover may take back what workers did, but no message."""
        verb = what.partition(" ")[0]
        if verb not in {"start", "resume"}:
            self._outage = self._journal.opens("loss" if self._run.may_lose else "failover", "*")
        self._house.server.do(what)
        if verb not in {"kill", "pause"}:
            self._journal.closes(self._outage)

    def _to_server(self, verb: str) -> None:
        server = self._house.server
        if verb == "pause":
            server.pause()
        elif verb == "resume":
            server.go_on()
        elif verb == "start":
            server.start()
            self._journal.closes(self._outage)
        else:
            self._outage = self._journal.opens("loss" if self._run.loses_tail else "outage", "*")
            server.stop(signal.SIGKILL if verb == "kill" else signal.SIGTERM)
            if self._run.loses_tail and verb == "kill":
                self._seen.lost_bytes += server.cut_tail(self._dice.randrange(_MOST_CUT))


def _halt(*actors: Actor) -> None:
    for actor in actors:
        actor.halt.set()
    for actor in actors:
        actor.join(_LAST_WORDS_S)
