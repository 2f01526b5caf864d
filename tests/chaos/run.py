"""One run from its first process to its verdict."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chaos import calm, judging, plan, quiet, report
from chaos.house import PREFIX, House
from chaos.journal import Journal
from chaos.storm import Storm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.judging import Held, Verdict
    from chaos.plan import Run
    from chaos.report import Seen, Spent
    from om_api.store.verify import Breach

_LONGEST_QUIET_S = 150
_FORCE_S = 90


class Result(NamedTuple):
    """What was seen, and why the run fails ([] when it passes)."""

    seen: Seen
    failures: list[str]


def chaos(run: Run) -> Result:
    """Run it. A failing run keeps its folder and says where it is; a passing one leaves nothing."""
    with _folder() as folder:
        journal = Journal(folder)
        try:
            result = _judged(folder, run, journal)
        finally:
            journal.close()
        if result.failures:
            return result._replace(failures=[*result.failures, f"everything is in {folder}"])
        shutil.rmtree(folder)
        return result


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="om-chaos-"))
    try:
        yield folder
    except BaseException:
        _tell(f"the run was cut short; its folder: {folder}")
        raise


def _tell(line: str) -> None:
    print(f"chaos: {line}", file=sys.stderr, flush=True)  # noqa: T201 - a long command says where it is


class _Aftermath(NamedTuple):
    """What the storm left: seconds to quiet, what never came to an end, and what plain looks and `om verify` found."""

    storm: Storm
    quiet_s: float
    unfinished: str
    held: Held
    breaches: list[Breach]
    spent: Spent


def _aftermath(folder: Path, run: Run, journal: Journal) -> _Aftermath:
    with House(folder, run) as house, house.server.client() as client:
        storm, om, names = Storm(house, run, journal), house.client(10), [member.name for member in plan.cast()]
        _tell(f"{run.seconds:.0f} s of faults")
        storm.rage()
        _tell("quiet: until all scopes are observed")
        quiet_s, unfinished = quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _LONGEST_QUIET_S)
        _tell(f"observed after {quiet_s:.0f} s; what is left by force")
        quiet.observe_all(om, client, PREFIX, names, house.crew.tend, _FORCE_S)
        _, stuck = quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _FORCE_S)
        house.crew.stop()
        held, spent = judging.look(client, PREFIX), calm.spent(client, house)
        return _Aftermath(storm, quiet_s, unfinished or stuck, held, om.verify(), spent)


def _judged(folder: Path, run: Run, journal: Journal) -> Result:
    left = _aftermath(folder, run, journal)
    verdict = judging.judge(left.held, journal, loses_tail=run.loses_tail, at_rest=True)
    seen = _seen(run, journal, left, verdict)
    if run.compares and not run.loses_tail:
        _tell("the same messages, undisturbed")
        seen = seen._replace(calm=calm.rehearse(folder / "calm", run, journal))
    failures = [*report.missed(seen), *report.broken(seen, verdict, left.breaches, left.unfinished)]
    failures += [f"{who}, without a kill of ours" for who in left.storm.deserted]
    return Result(seen, failures + report.told([*journal.wrong, *verdict.wrong], journal, left.held))


def _seen(run: Run, journal: Journal, left: _Aftermath, verdict: Verdict) -> Seen:
    storm, held = left.storm, left.held
    flown = [owner.what for owner in storm.owners if owner.done and owner.in_flight]
    return report.Seen(
        run=run,
        messages=len(journal.said),
        acknowledged=sum(said.acknowledged_at is not None for said in journal.said.values()),
        lost=verdict.lost,
        doubled=verdict.doubled,
        cleared=verdict.cleared,
        quarantined=len(held.quarantined),
        happened=storm.happened,
        dropped=storm.dropped,
        lost_bytes=storm.lost_bytes,
        looks=storm.reader.looks,
        scopes={kind: len(records) for kind, records in held.scopes.items()},
        generations=held.generations,
        clears=flown.count("clear"),
        migrations=flown.count("migration"),
        quiet_s=left.quiet_s,
        spent=left.spent,
    )
