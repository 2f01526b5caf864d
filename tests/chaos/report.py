"""What a run saw, as one table; and what it did not see but had to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import reports

from chaos.journal import Journal
from chaos.judging import Held, Verdict
from chaos.plan import THREADS, WORKERS, Run
from om_api.store.audit.invariants import Breach


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


_UNJUDGED, _NOTHING = Verdict([], 0, 0, 0), Spent(Counter(), 0)


@dataclass
class Seen:
    """Everything counted in one run.

    `lost_bytes`: what kills of the server took of its file; `moved` slots; `due`: scopes that waited for workers when there was
    none; `unfinished`: what was not observed in the end; `in_flight`: model calls on average until quiet; `calm`: what the
    undisturbed run spent (None: not compared). Of an archive: `rows` and `archived` messages that are in it in the end, looks at
    the past and how many were `partial` by what was the matter, things that verify `named` as lacking, deaths of all workers.
    """

    run: Run
    happened: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    acknowledged: int = 0
    verdict: Verdict = _UNJUDGED
    quarantined: int = 0
    turns: int = 0
    hours: float = 0
    failovers: int = 0
    moved: int = 0
    dropped: int = 0
    lost_bytes: int = 0
    looks: int = 0
    scopes: dict[str, int] = field(default_factory=dict)
    generations: int = 0
    clears: int = 0
    migrations: int = 0
    due: int = 0
    longest_queue: int = 0
    quiet_s: float = 0
    in_flight: float = 0
    drained_s: float = 0
    unfinished: str = ""
    breaches: Sequence[Breach] = ()
    spent: Spent = _NOTHING
    calm: Spent | None = None
    rows: int = 0
    archived: int = 0
    erased: int = 0
    recalled: int = 0
    partial: Counter[str] = field(default_factory=Counter)
    named: int = 0
    struck: int = 0

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
        ("server restarts", seen.happened["start server"], least.restarts),
        ("acknowledged messages", seen.acknowledged, least.messages),
        ("scopes", sum(seen.scopes.values()), least.scopes),
        ("generations", seen.generations, least.generations),
        ("clears in flight", seen.clears, least.clears),
        ("scope migrations in flight", seen.migrations, least.migrations),
        ("scopes due while there was no worker", seen.due, least.due),
        ("hours that the server's clock was set ahead", seen.hours, least.hours),
        *((f"scopes of kind {kind}", n, least.scopes_of_a_kind) for kind, n in seen.scopes.items()),
    ]
    if seen.run.archive:
        asked += [
            ("pauses of the archive", seen.happened["resume archive"], 1),
            ("times that the archive was away", seen.happened["start archive"], 1),
            ("restores of the archive", seen.happened["return archive"], 1),
            ("deaths of workers that archived", seen.struck, 1),
            ("archived messages", seen.archived, seen.acknowledged // 2),
            ("erased messages", seen.erased, 3),
            ("partial answers of an old archive", seen.partial["old"], 1),
            ("things that verify named in an old archive", seen.named, 1),
        ]
    return [f"saw {had} {what}, not the {wanted} it takes" for what, had, wanted in asked if had < wanted]


def broken(seen: Seen) -> list[str]:
    """What of the promises about the whole run was broken."""
    limit, spend, verdict = seen.run.quiet_limit, seen.run.spend_limit, seen.verdict
    late = f"all scopes were observed {seen.quiet_s:.0f} s after the last fault, not within {limit:.0f} s of it"
    queued = f"{seen.longest_queue} tasks waited in the queues, not {seen.run.queue_limit} at most"
    dear = f"model calls are {seen.spend:.2f} times those of the undisturbed run, not {spend} at most"
    found = [
        (seen.unfinished, f"not all scopes were observed: {seen.unfinished}"),
        (seen.quiet_s > limit, late),
        (seen.longest_queue > seen.run.queue_limit, queued),
        (verdict.doubled, f"{verdict.doubled} messages are held twice"),
        (verdict.lost and not seen.run.loses_tail, f"{verdict.lost} acknowledged messages are lost"),
        (seen.spend > spend, dear),
        (seen.spent.late > spend, f"what was due took {seen.spent.late:.2f} model calls each, not {spend} at most"),
        (verdict.wrong, f"{len(verdict.wrong)} messages are wrong"),
    ]
    return [*(f"om verify: {breach}" for breach in seen.breaches), *(why for is_so, why in found if is_so)]


def table(seen: Seen) -> str:
    """The run as a table of markdown: what befell its archive, if it had one."""
    run, verdict, kills = seen.run, seen.verdict, seen.happened["kill worker"]
    took = f" ({seen.lost_bytes} bytes of the file were taken with its kills)" if run.loses_tail else ""
    server = ("server: killed / ended / paused", _counted(seen, "kill server", "term server", "pause server"))
    moved = ("clears / scope migrations in flight", f"{seen.clears} / {seen.migrations}")
    away = _counted(seen, "pause archive", "kill archive", "restore archive")
    partial = " / ".join(str(seen.partial[state]) for state in ("paused", "away", "old", ""))
    of_archive = [
        ("seconds of faults, seed", f"{run.seconds:.0f}, {run.seed}"),
        ("messages tried / acknowledged / erased", f"{seen.messages} / {seen.acknowledged} / {seen.erased}"),
        ("acknowledged and lost / held twice / erased and found", f"{verdict.lost} / {verdict.doubled} / 0"),
        ("things in the archive / messages in them", f"{seen.rows} / {seen.archived}"),
        ("archive: paused / away / an older copy for some seconds", away),
        ("kills of workers / of all at once as one had written to the archive", f"{kills} / {seen.struck}"),
        server,
        moved,
        ("looks at the past", seen.recalled),
        ("of these partial: archive paused / away / old / back", partial),
        ("things that verify named while the copy was old", seen.named),
    ]
    rows = [
        ("seconds of faults, seed, appendfsync", f"{run.seconds:.0f}, {run.seed}, {run.fsync}"),
        ("messages tried / acknowledged", f"{seen.messages} / {seen.acknowledged}"),
        ("acknowledged and lost", f"{verdict.lost}{took}"),
        ("held twice", verdict.doubled),
        ("taken by a clear / behind a placeholder", f"{verdict.cleared} / {seen.quarantined}"),
        ("kills of workers / of beats", f"{kills} / {seen.happened['kill beat']}"),
        ("hours that the server's clock was set ahead", f"{seen.hours:g}"),
        ("whole histories sent without ids, one of them by a new client in ten", seen.turns),
        server,
        ("broker emptied / connections dropped", f"{seen.happened['lose broker']} / {seen.dropped}"),
        moved,
        ("scopes by resource / by thread", f"{seen.scopes['resource']} / {seen.scopes['thread']}"),
        ("looks of the reader", seen.looks),
        ("generations", seen.generations),
        ("scopes due while there was no worker / model calls for each", f"{seen.due} / {seen.spent.late:.2f}"),
        ("seconds from the workers' return until they were observed", f"{seen.drained_s:.1f}"),
        ("tasks in the broker's queues, at most", seen.longest_queue),
        ("seconds from the last fault to quiet, the model failing on", f"{seen.quiet_s:.1f} of {run.quiet_limit:.0f}"),
        ("model calls in flight meanwhile, on average", f"{seen.in_flight:.1f} of {WORKERS * THREADS}"),
        ("model calls", _calls(seen.spent)),
        ("model calls of the undisturbed run", _calls(seen.calm)),
        ("spend ratio", f"{seen.spend:.2f}" if seen.calm else "not compared"),
    ]
    return reports.table(("what", "seen"), of_archive if run.archive else rows)


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
