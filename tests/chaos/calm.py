"""The undisturbed run: the same messages in the same order, the same owners, the same model plan, and no faults."""

import time
from collections import Counter
from itertools import groupby
from pathlib import Path

import redis
from model_server import Call

from chaos import judging, plan, quiet
from chaos.house import PREFIX, House
from chaos.journal import Journal
from chaos.plan import Run
from chaos.report import Spent
from chaos.writers import message_of
from om_api import ObservationalMemory

_FASTER = 2.5  # than the storm; what comes faster is cut into no smaller chunks
_BATCH = 3
_PATIENCE_S = 90


def rehearse(folder: Path, run: Run, journal: Journal) -> Spent:
    """Say again what was acknowledged until everything is observed; what it cost.

    Fair to the storm: the messages, their order, the clears and moves between them, the settings, the forced end and the
    model's seeded misbehaviour are the same. Only the pace is higher.
    """
    with House(folder, run) as house, house.server.client() as client:
        om = house.client(10)
        steps, seconds = _steps(journal), run.seconds / _FASTER
        began = time.monotonic()
        for n, (what, whom) in enumerate(steps):
            _say(om, what, whom)
            time.sleep(max(0.0, began + n * seconds / len(steps) - time.monotonic()))
        house.moods.well = True
        names = [member.name for member in plan.cast()]
        quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _PATIENCE_S)
        left = quiet.observe_all(om, client, PREFIX, names, house.crew.tend, _PATIENCE_S)
        if left:
            raise RuntimeError(f"the undisturbed run left {left} messages raw; its logs: {folder}")
        quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _PATIENCE_S)
        return spent(client, house)


def spent(client: redis.Redis, house: House) -> Spent:
    """What a house at rest has cost so far, and what there is of it; what came late is told apart."""
    held = judging.look(house.whole(client), PREFIX)
    late = [call for call in house.models.calls if _is_late(call)]
    calls = Counter(f"{call.purpose} {call.behaviour.name}" for call in house.models.calls if not _is_late(call))
    return Spent(calls, held.observations + held.generations - held.late, len(late) / max(1, held.late))


def _is_late(call: Call) -> bool:
    return bool(call.marks) and call.marks[0].startswith(f"[[{plan.LATE}-")


def _steps(journal: Journal) -> list:
    """What happened to the cast, in order: pushes joined to batches of a few, clears and moves on their own."""
    steps: list = []
    cast = {member.name for member in plan.cast()}
    spoken = [entry for entry in journal.order if entry[0] != "push" or entry[1][0].resource in cast]
    for what, entries in groupby(spoken, key=lambda entry: entry[0]):
        if what != "push":
            steps += [(what, resource) for _, resource in entries if resource != "*"]
            continue
        said = [one for _, batch in entries for one in batch]
        steps += [("push", said[n : n + _BATCH]) for n in range(0, len(said), _BATCH)]
    return steps


def _say(om: ObservationalMemory, what: str, whom: object) -> None:
    if what == "push":
        om.add_messages([message_of(said) for said in whom])
    elif what == "clear":
        om.clear(whom)
    else:
        fate = next(member.fate for member in plan.cast() if member.name == whom)
        until = time.monotonic() + 20
        while om.migrate_scope(whom, fate) in {"busy", "superseded"} and time.monotonic() < until:
            time.sleep(0.2)
