"""One run from its first process to its verdict."""

import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from chaos import aftermath, judging
from chaos import report as chaos_report
from chaos.crew import celery
from chaos.house import House
from chaos.journal import Journal
from chaos.run import Result
from ports import reserve_port

from load import report, waiting
from load.faults import Enduring, Restarting
from load.plan import API, Run, cast
from load.report import Seen
from load.seen import Tally
from load.traffic import Traffic

_OM = "import sys; from om_api.cli import main; sys.exit(main())"
_TRACEBACK = b"Traceback (most recent call last)"


def load(run: Run) -> Result:
    """Run it. A failing run keeps its folder and says where it is; a passing one leaves nothing."""
    return aftermath.played("load", lambda folder, journal: _judged(folder, run, journal))


def _judged(folder: Path, run: Run, journal: Journal) -> Result:
    tally, port, failures = Tally(), reserve_port(), list[str]()
    commands = {**celery(workers=2, beats=2), API: [sys.executable, "-c", _OM, "api", "--port", str(port)]}
    with ExitStack() as held:
        served = waiting.models(held)
        urls = {name: server.url for name, server in served.items()}
        house = held.enter_context(House(folder, run, commands, models=urls, agents=waiting.AGENTS))
        restarting = Restarting(house, run, journal, tally)
        enduring = Enduring(house, port, run.hostile_turn, tally.hostile)
        traffic = Traffic(f"http://127.0.0.1:{port}", run, journal, house, tally)
        aftermath.tell(f"{run.seconds:.0f} s of {run.rate:.0f} requests a second")
        began = time.monotonic()
        traffic.start()
        enduring.start()
        try:
            restarting.restart_all()
        finally:
            enduring.halt()
            traffic.halt()
            lasted_s = time.monotonic() - began
        if traffic.is_alive():
            failures.append("somebody did not come to an end")
        elif traffic.error:
            failures.append(f"an agent met {type(traffic.error).__name__}: {traffic.error}"[:300])
        house.well = True
        restarting.restart(API, signal.SIGTERM)  # no request of the tenant's is under way any more
        enduring.forget()
        if run.noise:
            aftermath.tell(f"{run.noise:.0f} s of noisy agents beside small ones")
            waiting.play(house, served, tally, journal, run.noise)
        rest = aftermath.settle(house, [member.name for member in cast()])
    failures += [*restarting.disorderly, *(f"{who}, without a kill of ours" for who in house.crew.deserted)]
    if _TRACEBACK in (folder / f"{API}.log").read_bytes():
        failures.append("the API's log holds a traceback")
    verdict = judging.judge(rest.held, journal, at_rest=True)
    acknowledged = sum(said.acknowledged_at is not None for said in journal.said.values())
    asked = (run, tally, restarting.names, restarting.done, enduring.seen)
    seen = Seen(*asked, len(journal.said), acknowledged, verdict, rest, lasted_s)
    told = chaos_report.told([*journal.wrong, *verdict.wrong], journal, rest.held)
    return Result(seen, [*report.missed(seen), *report.broken(seen), *failures, *told])
