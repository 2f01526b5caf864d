"""What a run is to do and must have seen: its length, its cast, its faults by a seed, and the least it may pass with."""

import math
import random
from typing import NamedTuple

FULL_SECONDS = 180
WORKERS, THREADS = 3, 8
THINKS_S = 0.15  # the model, before it answers
LATE = "w9"  # who speaks while there is no worker; its memories are called after it
_DOWN_S = (0.2, 1.5)
_PAUSE_S = (1.0, 3.0)
_MARGIN = 1.25  # more is planned than must be seen: what comes late is not seen
_ARCHIVE_ROUND_S = 45  # in which each of them comes once
_ARCHIVE_PAUSE_S = 6.2  # longer than anybody waits for it
_ENDED_BY = {"kill": "start", "term": "start", "pause": "resume"}


class Least(NamedTuple):
    """What a run must have seen, or it fails by itself; `kills` are of workers, `due` scopes while there is no worker.

    `hours`: by how many the server's clock was set ahead.
    """

    kills: int = 50
    restarts: int = 3
    messages: int = 5_000
    scopes: int = 20
    scopes_of_a_kind: int = 5
    generations: int = 30
    clears: int = 1
    migrations: int = 1
    due: int = 3_000
    hours: float = 1


class Run(NamedTuple):
    """How long (s) faults last, by which seed, how the server syncs, what must have been seen, and what it is held to.

    `compares`: the same messages are said again without faults, to compare what was spent. `leap_s`: how far the server's clock
    is set ahead whenever it is started again. `kinds` are the faults of servers, and `down_s` how long they last at least and at
    most, where they are not one server's. `wait_replicas`: what a push waits for. `may_lose`: failovers may lose what was said.
    `partitions`: parts of each index that is no resource's. `tick`: s between two looks for what is due. `archive`: where what is
    old goes at once, "sqlite" or "postgres"; "" for nowhere.
    """

    seconds: float = FULL_SECONDS
    seed: int = 1
    fsync: str = "always"
    least: Least = Least()
    message_threshold: int = 1_500
    observation_threshold: int = 1_000
    spend_limit: float = 1.5
    quiet_limit: float = 60
    compares: bool = True
    leap_s: float = 3_600
    kinds: tuple[str, ...] = ()
    down_s: tuple[float, float] | None = None
    wait_replicas: int = 0
    may_lose: bool = False
    partitions: int = 1
    tick: float = 0.5
    archive: str = ""

    @property
    def quota(self) -> int:
        """Messages to be sent by all writers together."""
        return math.ceil(self.least.messages * _MARGIN)

    @property
    def queue_limit(self) -> int:
        """Tasks that may wait in the queues at any time: two for each place, or for each part of an index.

        With an archive all workers are killed at once, and the dead count beside the new until they were silent for long enough.
        """
        return 2 * max(WORKERS * THREADS * (2 if self.archive else 1), self.partitions)

    @property
    def late(self) -> int:
        """Memories that are spoken to while there is no worker."""
        return math.ceil(self.least.due * 1.05)

    @property
    def loses_tail(self) -> bool:
        """Whether a kill of the server takes what it wrote last, as a power failure does; or a failover does."""
        return self.fsync == "everysec" or self.may_lose


class Member(NamedTuple):
    """One resource of the cast: its threads, how often it is spoken to, and what its owner does to it, if anything.

    `whole`: by a client alone that sends its whole history again each time.
    """

    name: str
    threads: tuple[str, ...]
    weight: int = 2
    fate: str = ""
    whole: bool = False


class Fault(NamedTuple):
    """What goes wrong, and when: seconds from the start."""

    at: float
    what: str


ERASED = "erased-"  # what of these is erased goes from all texts, with the lines that tell it
ERASABLE = (Member(f"{ERASED}1", ("t-1", "t-2"), 2, "erase"), Member(f"{ERASED}2", ("t-1",), 2, "erase"))
AUTHOR = 6  # who speaks to them


def cast() -> list[Member]:
    """Fourteen resources with one memory each, and seven (`solo-*`) with one for each thread: 32 scopes, two of them busy."""
    busy = [Member("pool-1", ("t-1", "t-2"), 5), Member("pool-2", ("t-1", "t-2", "t-3"), 5)]
    pools = [Member(f"pool-{n}", ("t-1", "t-2", "t-3")[: 2 + n % 2]) for n in range(3, 10)]
    solos = [Member(f"solo-{n}", ("s-1", "s-2", "s-3"), 3) for n in range(1, 5)]
    moved = [Member("pool-moved", ("t-1", "t-2"), 2, "thread"), Member("solo-moved", ("s-1", "s-2"), 2, "resource")]
    ended = [Member("pool-ended", ("t-1", "t-2"), 3, "clear"), Member("solo-ended", ("s-1", "s-2"), 3, "clear")]
    whole = [Member("pool-whole", ("t-1", "t-2")), Member("solo-whole", ("s-1", "s-2"))]
    whole += [Member("pool-whole-moved", ("t-1",), 1, "thread"), Member("pool-whole-ended", ("t-1",), 1, "clear")]
    return [*busy, *pools, *solos, *moved, *ended, *(member._replace(whole=True) for member in whole)]


def faults(run: Run) -> list[Fault]:
    """The seeded plan, in order. Whatever touches the server has a stretch of the run for itself, so that nothing is lost
    of another; workers and beats die at any time, whether the server is there or not."""
    dice = random.Random(run.seed)
    planned = _spread(dice, "kill worker", math.ceil(run.least.kills * _MARGIN), run.seconds)
    # a beat sends the first sweep a minute after it began: the last seconds spare them, or quiet could not come in sixty
    planned += _spread(dice, "kill beat", max(2, round(run.seconds / 22)), run.seconds * 0.85)
    restarts, kinds = run.least.restarts, list(run.kinds)
    if not kinds:  # those of one server
        kinds += ["kill server", "term server"] * (restarts // 2 + 1) + ["pause server"] * (restarts + 1)
        kinds += ["drop connections"] * (2 * restarts) + ["lose broker"] * max(1, restarts - 1)
    dice.shuffle(kinds)
    stretch = run.seconds / len(kinds)
    for n, kind in enumerate(kinds):
        planned += _of_server(dice, kind, n * stretch, stretch, run.down_s)
    return sorted(planned + (_of_archive(run) if run.archive else []))


def _of_archive(run: Run) -> list[Fault]:
    """One after the other, in any order; what is restored is a copy that was made some seconds before."""
    rounds = max(1, round(run.seconds / _ARCHIVE_ROUND_S))
    stretch = run.seconds / (4 * rounds)
    kinds = [
        [(0.05, "pause archive"), (0.05 + _ARCHIVE_PAUSE_S / stretch, "resume archive")],
        [(0.1, "kill archive"), (0.6, "start archive")],
        [(0.03, "copy archive"), (0.45, "restore archive"), (0.9, "return archive")],
        [(0.5, "kill archivers")],
    ] * rounds
    random.Random(run.seed + 7).shuffle(kinds)
    return [Fault((n + share) * stretch, what) for n, kind in enumerate(kinds) for share, what in kind]


def _spread(dice: random.Random, what: str, times: int, seconds: float) -> list[Fault]:
    slot = seconds / times
    return [Fault(slot * (n + dice.random()), what) for n in range(times)]


def _of_server(
    dice: random.Random, kind: str, start: float, stretch: float, down_s: tuple[float, float] | None
) -> list[Fault]:
    at = start + dice.random() * stretch * (0.4 if down_s is None else 0.1)
    verb, _, whom = kind.partition(" ")
    if verb not in _ENDED_BY:
        return [Fault(at, kind)]
    lasts = min(dice.uniform(*(down_s or (_PAUSE_S if verb == "pause" else _DOWN_S))), stretch * 0.5)
    return [Fault(at, kind), Fault(at + lasts, f"{_ENDED_BY[verb]} {whom}")]
