"""What a run saw, as one table; and what it did not see but had to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import reports

from chaos.journal import Journal
from chaos.judging import Held, Verdict
from chaos.plan import THREADS, WORKERS, Run


class Spent(NamedTuple):
    """Model calls by purpose and behaviour, and how many observations and generations were made of them.

    `late`: calls for each observation of what was said while there was no worker, which the others leave out.
    """

    calls: Counter[str]
    made: int
    late: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.calls.values())

    @property
    def for_each(self) -> float:
        """Calls for each thing made."""
        return self.total / max(1, self.made)


class ArchiveSeen(NamedTuple):
    """What befell an archive: `things` and `messages` that are in it in the end, messages `erased`, answers that were `partial`
    by what was the matter, things that verify `named` as lacking, deaths of workers that had just written there."""

    things: int
    messages: int
    erased: int
    recalled: int
    partial: Counter[str]
    named: int
    struck: int


class Seen(NamedTuple):
    """Everything counted in one run; `calm` is the undisturbed one (None: not compared)."""

    run: Run
    messages: int
    acknowledged: int
    lost: int
    doubled: int
    cleared: int
    quarantined: int
    turns: int
    hours: float
    happened: Counter[str]
    dropped: int
    lost_bytes: int
    looks: int
    scopes: dict[str, int]
    generations: int
    clears: int
    migrations: int
    due: int
    longest_queue: int
    quiet_s: float
    in_flight: float
    drained_s: float
    spent: Spent
    calm: Spent | None = None
    archive: ArchiveSeen | None = None

    @property
    def restarts(self) -> int:
        return self.happened["start server"]

    @property
    def spend(self) -> float:
        """Model calls per call of the undisturbed run, or per thing made, whichever is worse; 0 if not compared.

        A storm holds workers up, and what waited is cut into fewer, larger chunks: by the first measure alone it could
        waste calls and still look cheap.
        """
        if self.calm is None:
            return 0.0
        mine, other = self.spent, self.calm
        return max(mine.total / other.total, mine.for_each / other.for_each)


def missed(seen: Seen) -> list[str]:
    """What the run had to see and did not: it fails by itself then, whatever it found."""
    least = seen.run.least
    asked = [
        ("kills of workers", seen.happened["kill worker"], least.kills),
        ("server restarts", seen.restarts, least.restarts),
        ("acknowledged messages", seen.acknowledged, least.messages),
        ("scopes", sum(seen.scopes.values()), least.scopes),
        ("generations", seen.generations, least.generations),
        ("clears in flight", seen.clears, least.clears),
        ("scope migrations in flight", seen.migrations, least.migrations),
        ("scopes due while there was no worker", seen.due, least.due),
        ("hours that the server's clock was set ahead", seen.hours, least.hours),
        *((f"scopes of kind {kind}", n, least.scopes_of_a_kind) for kind, n in seen.scopes.items()),
    ]
    asked += _asked_of_archive(seen, seen.archive) if seen.archive else []
    return [f"saw {had} {what}, not the {wanted} it takes" for what, had, wanted in asked if had < wanted]


def _asked_of_archive(seen: Seen, archive: ArchiveSeen) -> list[tuple[str, float, float]]:
    restored = seen.happened["return archive"]
    return [
        ("pauses of the archive", seen.happened["resume archive"], 1),
        ("times that the archive was away", seen.happened["start archive"], 1),
        ("restores of the archive", restored, 1),
        ("deaths of workers that archived", archive.struck, 1),
        ("archived messages", archive.messages, seen.acknowledged // 2),
        ("erased messages", archive.erased, 3),
        ("partial answers of an old archive", archive.partial["old"], restored),
        ("things that verify named in an old archive", archive.named, restored),
    ]


def broken(seen: Seen, verdict: Verdict, breaches: Iterable[object], unfinished: str) -> list[str]:
    """What of the promises about the whole run was broken."""
    found = [f"om verify: {breach}" for breach in breaches]
    if unfinished:
        found.append(f"not all scopes were observed: {unfinished}")
    if seen.quiet_s > (limit := seen.run.quiet_limit):
        found.append(
            f"all scopes were observed {seen.quiet_s:.0f} s after the last fault, not within {limit:.0f} s of it"
        )
    if seen.longest_queue > seen.run.queue_limit:
        found.append(f"{seen.longest_queue} tasks waited in the queues, not {seen.run.queue_limit} at most")
    if seen.doubled:
        found.append(f"{seen.doubled} messages are held twice")
    if seen.lost and not seen.run.loses_tail:
        found.append(f"{seen.lost} acknowledged messages are lost")
    if seen.spend > seen.run.spend_limit:
        found.append(
            f"model calls are {seen.spend:.2f} times those of the undisturbed run, not {seen.run.spend_limit} at most"
        )
    if seen.spent.late > seen.run.spend_limit:
        found.append(f"what was due took {seen.spent.late:.2f} model calls each, not {seen.run.spend_limit} at most")
    return found + ([f"{len(verdict.wrong)} messages are wrong"] if verdict.wrong else [])


def table(seen: Seen) -> str:
    """The run as a table of markdown."""
    rows = [
        ("seconds of faults, seed, appendfsync", f"{seen.run.seconds:.0f}, {seen.run.seed}, {seen.run.fsync}"),
        ("messages tried / acknowledged", f"{seen.messages} / {seen.acknowledged}"),
        ("acknowledged and lost", _lost(seen)),
        ("held twice", seen.doubled),
        ("taken by a clear / behind a placeholder", f"{seen.cleared} / {seen.quarantined}"),
        ("kills of workers / of beats", f"{seen.happened['kill worker']} / {seen.happened['kill beat']}"),
        ("hours that the server's clock was set ahead", f"{seen.hours:g}"),
        ("whole histories sent without ids, one of them by a new client in ten", seen.turns),
        ("server: killed / ended / paused", _counted(seen, "kill server", "term server", "pause server")),
        ("broker emptied / connections dropped", f"{seen.happened['lose broker']} / {seen.dropped}"),
        ("clears / scope migrations in flight", f"{seen.clears} / {seen.migrations}"),
        ("scopes by resource / by thread", f"{seen.scopes['resource']} / {seen.scopes['thread']}"),
        ("looks of the reader", seen.looks),
        ("generations", seen.generations),
        ("scopes due while there was no worker / model calls for each", f"{seen.due} / {seen.spent.late:.2f}"),
        ("seconds from the workers' return until they were observed", f"{seen.drained_s:.1f}"),
        ("tasks in the broker's queues, at most", seen.longest_queue),
        (
            "seconds from the last fault to quiet, the model failing on",
            f"{seen.quiet_s:.1f} of {seen.run.quiet_limit:.0f}",
        ),
        ("model calls in flight meanwhile, on average", f"{seen.in_flight:.1f} of {WORKERS * THREADS}"),
        ("model calls", _calls(seen.spent)),
        ("model calls of the undisturbed run", _calls(seen.calm)),
        ("spend ratio", f"{seen.spend:.2f}" if seen.calm else "not compared"),
    ]
    return reports.table(("what", "seen"), rows)


def archive_table(seen: Seen) -> str:
    """What befell its archive, as a table of markdown; the run had one."""
    archive = seen.archive or ArchiveSeen(0, 0, 0, 0, Counter(), 0, 0)
    rows = [
        ("seconds of faults, seed", f"{seen.run.seconds:.0f}, {seen.run.seed}"),
        ("messages tried / acknowledged / erased", f"{seen.messages} / {seen.acknowledged} / {archive.erased}"),
        ("acknowledged and lost / held twice / erased and found", f"{seen.lost} / {seen.doubled} / 0"),
        ("things in the archive / messages in them", f"{archive.things} / {archive.messages}"),
        (
            "archive: paused / away / an older copy for some seconds",
            _counted(seen, "pause archive", "kill archive", "restore archive"),
        ),
        ("kills of workers / of all at once as one had written to the archive", _killed(seen, archive)),
        ("server: killed / ended / paused", _counted(seen, "kill server", "term server", "pause server")),
        ("clears / scope migrations in flight", f"{seen.clears} / {seen.migrations}"),
        ("looks at the past", archive.recalled),
        (
            "of these partial: archive paused / away / old / back",
            " / ".join(str(archive.partial[state]) for state in ("paused", "away", "old", "")),
        ),
        ("things that verify named while the copy was old", archive.named),
    ]
    return reports.table(("what", "seen"), rows)


def _killed(seen: Seen, archive: ArchiveSeen) -> str:
    return f"{seen.happened['kill worker']} / {archive.struck}"


def _lost(seen: Seen) -> str:
    took = f" ({seen.lost_bytes} bytes of the file were taken with its kills)" if seen.run.loses_tail else ""
    return f"{seen.lost}{took}"


def _counted(seen: Seen, *names: str) -> str:
    return " / ".join(str(seen.happened[name]) for name in names)


def _calls(spent: Spent | None) -> str:
    if spent is None:
        return "not compared"
    each = ", ".join(f"{name} {n}" for name, n in spent.calls.most_common())
    return f"{spent.total}, {spent.for_each:.2f} for each thing made ({each})"


def told(wrong: Sequence[tuple[str, str]], journal: Journal, held: Held) -> list[str]:
    """The first wrong messages; of the very first one all that is known."""
    lines = [f"{name or '-'}: {what}" for name, what in wrong[:20]]
    name = next((name for name, _ in wrong if name), "")
    if name:
        lines += [f"history of {name}:", *journal.history(name), f"held by: {held.places.get(name, [])}"]
    return lines
