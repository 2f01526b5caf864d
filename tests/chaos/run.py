"""One run from its first process to its verdict."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from chaos import aftermath, calm, finding, judging, plan, report
from chaos.aftermath import Quiet, Rest
from chaos.house import House
from chaos.journal import Journal
from chaos.judging import Verdict
from chaos.plan import ERASABLE, Run
from chaos.report import ArchiveSeen, Seen, Spent
from chaos.storm import Storm


class Result(NamedTuple):
    """What was seen, and why the run fails ([] when it passes)."""

    seen: Seen
    failures: list[str]


def chaos(run: Run, place: Callable[[Path, Run], Any] | None = None) -> Result:
    """Run it, on servers that `place` makes. A failing run keeps its folder and says where; a passing one leaves nothing."""
    return aftermath.played("chaos", lambda folder, journal: _judged(folder, run, journal, place))


class _Left(NamedTuple):
    """What a storm did, when it was quiet, what is left, what that cost; with an archive what was seen of it, and is wrong."""

    storm: Storm
    calmed: Quiet
    rest: Rest
    spent: Spent
    archive: ArchiveSeen | None = None
    wrong: tuple[tuple[str, str], ...] = ()


def _storm(folder: Path, run: Run, journal: Journal, place: Any) -> _Left:
    """Let it rage, and then nobody work for a while."""
    with House(folder, run, place=place) as house, house.server.client() as client:
        storm = Storm(house, run, journal)
        aftermath.tell(f"{run.seconds:.0f} s of faults")
        calmed = aftermath.quieten(house, storm.rage())
        storm.hear_out()
        storm.lose_all_workers()
        names = [member.name for member in (*plan.cast(), *(ERASABLE if run.archive else ()))]
        rest = aftermath.settle(house, names)
        storm.rest()
        left = _Left(storm, calmed, rest, calm.spent(client, house))
        if house.archive is None or storm.past is None:
            return left
        aftermath.tell("everything by its own words, and in exports")
        wrong = [*finding.wrong(house.client(10), journal, names), *finding.kept(client, house.archive, journal)]
        wrong += [("", line) for line in finding.raised(folder)]
        archive = finding.seen(house.archive, storm.past, storm.struck, len(journal.erased))
        return left._replace(archive=archive, wrong=tuple(wrong))


def _judged(folder: Path, run: Run, journal: Journal, place: Any) -> Result:
    storm, calmed, left, spent, archive, wrong = _storm(folder, run, journal, place)
    verdict = judging.judge(left.held, journal, loses_tail=run.loses_tail, at_rest=True)
    verdict = verdict._replace(wrong=[*verdict.wrong, *wrong])
    seen = _seen(run, journal, storm, calmed, left, verdict, spent)._replace(archive=archive)
    if run.compares and not run.loses_tail:
        aftermath.tell("the same messages, undisturbed")
        seen = seen._replace(calm=calm.rehearse(folder / "calm", run, journal))
    failures = [
        *report.missed(seen),
        *report.broken(seen, verdict, left.breaches, calmed.unfinished or left.unfinished),
    ]
    failures += [f"{who}, without a kill of ours" for who in storm.deserted]
    return Result(seen, failures + report.told([*journal.wrong, *verdict.wrong], journal, left.held))


def _seen(run: Run, journal: Journal, storm: Storm, calmed: Quiet, left: Rest, verdict: Verdict, spent: Spent) -> Seen:
    held = left.held
    flown = [owner.what for owner in storm.owners if owner.done and owner.in_flight]
    return report.Seen(
        run=run,
        messages=len(journal.said),
        acknowledged=sum(said.acknowledged_at is not None for said in journal.said.values()),
        lost=verdict.lost,
        doubled=verdict.doubled,
        cleared=verdict.cleared,
        quarantined=len(held.quarantined),
        turns=storm.historian.turns,
        hours=storm.hours,
        happened=storm.happened,
        dropped=storm.dropped,
        lost_bytes=storm.lost_bytes,
        looks=storm.reader.looks,
        scopes={kind: len(records) for kind, records in held.scopes.items()},
        generations=held.generations,
        clears=flown.count("clear"),
        migrations=flown.count("migration"),
        due=storm.due,
        longest_queue=storm.queues.longest,
        quiet_s=calmed.seconds,
        in_flight=calmed.in_flight,
        drained_s=left.quiet_s,
        spent=spent,
    )
