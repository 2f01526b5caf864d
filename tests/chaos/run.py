"""One run from its first process to its verdict."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from chaos import aftermath, judging, past, plan, report
from chaos.house import House
from chaos.journal import Journal
from chaos.plan import ERASABLE, Run
from chaos.report import Seen
from chaos.storm import Storm


class Result(NamedTuple):
    """What was seen, and why the run fails ([] when it passes)."""

    seen: Any  # a Seen of this harness, or of load's
    failures: list[str]


def chaos(run: Run, place: Callable[[Path, Run], Any] | None = None) -> Result:
    """Run it, on servers that `place` makes. A failing run keeps its folder and says where; a passing one leaves nothing."""
    return aftermath.played("chaos", lambda folder, journal: _judged(folder, run, journal, place))


def _judged(folder: Path, run: Run, journal: Journal, place: Any) -> Result:
    seen = Seen(run)
    with House(folder, run, place=place) as house, house.server.client() as client:
        storm = Storm(house, run, journal, seen)
        aftermath.tell(f"{run.seconds:.0f} s of faults")
        calmed = aftermath.quieten(house, storm.rage())
        storm.hear_out()
        storm.lose_all_workers()
        names = [member.name for member in (*plan.cast(), *(ERASABLE if run.archive else ()))]
        rest = aftermath.settle(house, names)
        storm.rest()
        seen.spent = aftermath.spent(client, house)
        if house.archive:
            aftermath.tell("everything by its own words, and in exports")
            seen.rows, seen.archived = house.archive.count(), house.archive.messages()
            for name, what in (
                *past.wrong(house.client(10), journal, names),
                *past.remains(client, house.archive, journal, folder),
            ):
                journal.breach(what, name)
    seen.verdict = judging.judge(rest.held, journal, loses_tail=run.loses_tail, at_rest=True)
    seen.messages = len(journal.said)
    seen.acknowledged = sum(said.acknowledged_at is not None for said in journal.said.values())
    seen.erased = len(journal.erased)
    seen.quarantined, seen.generations = len(rest.held.quarantined), rest.held.generations
    seen.scopes = {kind: len(records) for kind, records in rest.held.scopes.items()}
    seen.quiet_s, seen.in_flight, seen.drained_s = calmed.seconds, calmed.in_flight, rest.quiet_s
    seen.unfinished, seen.breaches = calmed.unfinished or rest.unfinished, rest.breaches
    if run.compares and not run.loses_tail:
        aftermath.tell("the same messages, undisturbed")
        seen.calm = aftermath.rehearse(folder / "calm", run, journal)
    failures = [*report.missed(seen), *report.broken(seen)]
    failures += [f"{who}, without a kill of ours" for who in house.crew.deserted]
    return Result(seen, failures + report.told([*journal.wrong, *seen.verdict.wrong], journal, rest.held))
