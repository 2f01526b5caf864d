"""The storm: everybody talks and reads while things break by plan; then quiet."""

import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

from chaos import judging, outage, plan
from chaos.histories import HistoryWriter
from chaos.house import PREFIX, House
from chaos.journal import Journal
from chaos.outage import LateWriter, Queues
from chaos.owner import Owner
from chaos.past import Past, Rounds
from chaos.plan import AUTHOR, ERASABLE, Member, Run
from chaos.reader import Reader
from chaos.writers import LibraryWriter, PlainWriter, WaitingWriter, Writer

Actor: TypeAlias = Reader | Writer | Owner | Queues | Rounds | Past

_CLIENT_TIMEOUT_S = 1.0  # shorter than the longest pause of the server: replies get lost
_OWNER_TIMEOUT_S = 15.0
_MOST_CUT = 10_000
_LAST_WORDS_S = 30
_WRITERS = 5


class Storm:
    """One run's writers, reader, owners and faults. `happened` counts what was done, `lost_bytes` what kills took.

    `due` scopes waited for workers when there was none.
    """

    def __init__(self, house: House, run: Run, journal: Journal) -> None:
        self._house, self._run, self._journal = house, run, journal
        self._dice = random.Random(run.seed + 1)
        self._cast = plan.cast()
        self.happened: Counter[str] = Counter()
        self.dropped = self.lost_bytes = self.due = 0
        self._outage = -1
        self._owed: list[str] = []
        outside = house.outside(timeout=2)
        self.reader = Reader(
            house.client(_CLIENT_TIMEOUT_S),
            self._cast,
            journal,
            random.Random(run.seed + 2),
            lambda resource: judging.quarantined(house.whole(outside, resource), PREFIX, resource),
        )
        self.historian = self._historian()
        self.writers = [*(self._writer(n) for n in range(1, _WRITERS)), self.historian]
        self.owners = self._owners()
        self.queues = Queues(house.server.waiting)
        self.past, self.rounds = self._archiving() if house.archive else (None, None)
        self.struck = 0  # how often all workers died just after one of them wrote to the archive
        self._strikes_above: int | None = None  # how many rows it has when that is to happen

    def _archiving(self) -> tuple[Past, Rounds]:
        rest, more = self._part(AUTHOR, ERASABLE)
        self.writers.append(LibraryWriter(self._house.client(_CLIENT_TIMEOUT_S), *rest, **more))
        names = [member.name for member in (*self._cast, *ERASABLE)]
        rounds = Rounds(self._house.outside(timeout=2), self._house.server, PREFIX, names)
        dice = random.Random(self._run.seed + 4)
        return Past(self._house.client(_OWNER_TIMEOUT_S), self._house.archive, self._journal, dice), rounds

    @property
    def _beside(self) -> list[Actor]:
        """Who is there all the time."""
        return [actor for actor in (self.queues, self.rounds) if actor]

    def _owners(self) -> list[Owner]:
        """The moves come first: a memory whose workers die all the time has no unready chunk only now and then."""
        fated, seconds = [member for member in self._cast if member.fate], self._run.seconds
        starts = [seconds * (0.15 + 0.45 * n / len(fated)) for n in range(len(fated))]
        om = self._house.client(_OWNER_TIMEOUT_S)
        return [Owner(om, member, self._journal, at=at) for member, at in zip(fated, starts, strict=True)]

    def _writer(self, n: int) -> LibraryWriter | PlainWriter:
        rest, more = self._part(n, [member for member in self._cast if not member.whole])
        if n == 4:
            plain = WaitingWriter if self._run.wait_replicas else PlainWriter
            return plain(self._house.outside(_CLIENT_TIMEOUT_S), PREFIX, *rest, **more)
        return LibraryWriter(self._house.client(_CLIENT_TIMEOUT_S), *rest, **more)

    def _historian(self) -> HistoryWriter:
        rest, more = self._part(_WRITERS, [member for member in self._cast if member.whole])
        return HistoryWriter(lambda: self._house.client(_CLIENT_TIMEOUT_S), *rest, **more)

    def _part(self, n: int, cast: Sequence[Member]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What every writer is told: who it is, whom it speaks to, and how much it says until when."""
        rest = (f"w{n}", cast, self._journal, random.Random(self._run.seed * 100 + n))
        return rest, {"quota": self._run.quota // _WRITERS + 1, "seconds": self._run.seconds * 0.95}

    @property
    def hours(self) -> float:
        """By how many the server's clock was set ahead."""
        return float(self._house.server.ahead_s) / 3_600

    @property
    def deserted(self) -> list[str]:
        """Which processes ended by themselves, and how."""
        return self._house.crew.deserted

    def rage(self) -> float:
        """Let everybody talk and everything break for the time planned; the moment (monotonic s) when no more broke.

        Returns when nobody talks any more. The owners are heard by `hear_out`, the queues watched until `rest`.
        """
        readers: list[Actor] = [self.reader, *([self.past] if self.past else [])]
        for actor in (*self._beside, *readers, *self.writers, *self.owners):
            actor.start()
        try:
            self._break_things()
            ended = time.monotonic()
            self._wait_for(self.writers)
        finally:
            _halt(*readers, *self.writers)
        return ended

    def hear_out(self) -> None:
        """Let the owners end what they began: while workers die, a memory may never be without an unready chunk.

        Then whole histories are sent a last time, by a client of before: nothing takes any of them from here on.
        """
        self._wait_for(self.owners)
        _halt(*self.owners)
        self.historian.finish()
        if self.past:
            self.past.finish()

    def rest(self) -> None:
        """Watch no longer."""
        _halt(*self._beside)

    def lose_all_workers(self) -> None:
        """Have many memories spoken to while there are none, and then bring them back."""
        crew, late = self._house.crew, random.Random(self._run.seed + 3)
        self._journal.note("fault", fault="lose workers")
        crew.lose("worker")
        outage.fill(LateWriter(self._house.client(_OWNER_TIMEOUT_S), self._journal, self._run.late, late), crew.tend)
        with self._house.server.client() as client:
            self.due = outage.due(client, PREFIX)
        self._journal.note("fault", fault="bring back workers")
        crew.bring_back()

    def _break_things(self) -> None:
        began = time.monotonic()
        for fault in plan.faults(self._run):
            self._let_pass(began + fault.at)
            if fault.what == "kill worker":
                self._owed.append(fault.what)
            elif fault.what == "kill beat":
                self._killed(fault.what)
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
            if self._owed and self._killed(self._owed[0]):
                self._owed.pop(0)
            ahead = until - time.monotonic()
            if ahead <= 0:
                return
            self._strike_archivers(min(ahead, 0.1))

    def _killed(self, what: str) -> bool:
        whom = self._house.crew.kill(what.removeprefix("kill "), self._dice)
        if whom:
            self.happened[what] += 1
            self._journal.note("fault", fault=what, whom=whom)
        return bool(whom)

    def _wait_for(self, actors: Sequence[Actor]) -> None:
        """Let those who were held up say what they have to say."""
        until = time.monotonic() + _LAST_WORDS_S
        while time.monotonic() < until and any(actor.is_alive() for actor in actors):
            self._house.crew.tend()
            time.sleep(0.1)

    def _do(self, what: str) -> None:
        verb, _, whom = what.partition(" ")
        self.happened[what] += 1
        self._journal.note("fault", fault=what)
        if what == "lose broker":
            self._house.server.lose_broker()
        elif what == "drop connections":
            self.dropped += self._house.server.drop_connections()
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
                self.struck, self._strikes_above = self.struck + 1, None
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
                self.lost_bytes += server.cut_tail(self._dice.randrange(_MOST_CUT))


def _halt(*actors: Actor) -> None:
    for actor in actors:
        actor.halt.set()
    for actor in actors:
        actor.join(_LAST_WORDS_S)
