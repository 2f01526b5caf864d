"""One run from its first process to its verdict."""

import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from chaos import aftermath, judging
from chaos import report as chaos_report
from chaos.aftermath import Rest
from chaos.crew import celery
from chaos.house import House
from chaos.journal import Journal
from ports import reserve_port

from load import report, waiting
from load.enduring import Enduring
from load.plan import API, Run, cast
from load.report import Seen
from load.restarting import Restarting
from load.seen import Away, Tally, Waits
from load.traffic import Traffic, badges
from load.waiting import Crowd

_OM = "import sys; from om_api.cli import main; sys.exit(main())"
_TRACEBACK = b"Traceback (most recent call last)"


class Result(NamedTuple):
    """What was seen, and why the run fails ([] when it passes)."""

    seen: Seen
    failures: list[str]


class _Storm:
    """What everybody shares while the run lasts."""

    def __init__(self) -> None:
        self.tally, self.store, self.api, self.waits = Tally(), Away(), Away(), Waits()
        self.lasted_s = 0.0


def load(run: Run) -> Result:
    """Run it. A failing run keeps its folder and says where it is; a passing one leaves nothing."""
    return aftermath.played("load", lambda folder, journal: _judged(folder, run, journal))


def _judged(folder: Path, run: Run, journal: Journal) -> Result:
    storm, port = _Storm(), reserve_port()
    commands = {**celery(workers=2, beats=2), API: [sys.executable, "-c", _OM, "api", "--port", str(port)]}
    with ExitStack() as held:
        served = waiting.models(held)
        house = held.enter_context(House(folder, run, commands, models=served.urls, agents=waiting.AGENTS))
        restarting = Restarting(house, run, journal, storm.store, storm.api)
        enduring = Enduring(house, port, run.hostile_turn, storm.tally.hostile)
        failures = _rage(house, f"http://127.0.0.1:{port}", run, journal, storm, restarting, enduring)
        house.moods.well = True
        enduring.forget()
        if run.noise:
            aftermath.tell(f"{run.noise:.0f} s of noisy agents beside small ones")
            Crowd(house, served, storm.waits).play(run.noise)
        rest = aftermath.settle(house, [member.name for member in cast()])
    failures += [*restarting.disorderly, *(f"{who}, without a kill of ours" for who in house.crew.deserted)]
    if _TRACEBACK in (folder / f"{API}.log").read_bytes():
        failures.append("the API's log holds a traceback")
    seen = _seen(run, journal, storm, restarting, rest)._replace(hostile=enduring.seen)
    told = chaos_report.told([*journal.wrong, *seen.verdict.wrong], journal, rest.held)
    return Result(seen, [*report.missed(seen), *report.broken(seen), *failures, *told])


def _rage(
    house: House,
    base: str,
    run: Run,
    journal: Journal,
    storm: _Storm,
    restarting: Restarting,
    enduring: Enduring,
) -> list[str]:
    """Let everybody ask and every process come and go for the time planned; what went wrong with the asking."""
    traffic = Traffic(base, run, journal, badges(house), storm.tally, storm.store, storm.api, house.outside(timeout=5))
    aftermath.tell(f"{run.seconds:.0f} s of {run.rate:.0f} requests a second")
    began = time.monotonic()
    traffic.start()
    enduring.start()
    try:
        restarting.restart_all()
    finally:
        enduring.halt()
        traffic.halt()
        storm.lasted_s = time.monotonic() - began
    if traffic.is_alive():
        return ["somebody did not come to an end"]
    return [f"an agent met {type(traffic.error).__name__}: {traffic.error}"[:300]] if traffic.error else []


def _seen(run: Run, journal: Journal, storm: _Storm, restarting: Restarting, rest: Rest) -> Seen:
    return report.Seen(
        run=run,
        tally=storm.tally,
        lasted_s=storm.lasted_s,
        up_s=storm.lasted_s - storm.api.seconds(),
        away_s=storm.store.seconds(),
        restarts=restarting.done,
        names=restarting.names,
        messages=len(journal.said),
        acknowledged=sum(said.acknowledged_at is not None for said in journal.said.values()),
        verdict=judging.judge(rest.held, journal, at_rest=True),
        rest=rest,
        hostile=Counter(),
        waits=storm.waits,
    )
