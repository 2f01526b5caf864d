"""What a run left: a house brought to rest, what is found in it then and what it cost; also of the same run without faults."""

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import redis
from model_server import Behaviour, Call

from chaos import judging, plan, quiet
from chaos.house import PREFIX, House
from chaos.journal import Journal
from chaos.judging import Held
from chaos.plan import Run
from chaos.report import Spent
from chaos.writers import message_of
from om_api import ObservationalMemory
from om_api.domain.errors import StoreError
from om_api.store.audit.invariants import Breach

T = TypeVar("T", bound=Any)  # a result with `failures`
_LONGEST_QUIET_S = 150
_FORCE_S, _AGAIN_S = 90, 15
_TIDY_S = 60
_FASTER = 2.5  # than the storm; what comes faster is cut into no smaller chunks
_BATCH = 3


class Quiet(NamedTuple):
    """Seconds to quiet, and what was not observed by then; `in_flight`: calls that the model worked on until then, on average."""

    seconds: float
    unfinished: str
    in_flight: float


class Rest(NamedTuple):
    """Seconds to quiet, what never came to an end, and what plain looks and `om verify` found."""

    quiet_s: float
    unfinished: str
    held: Held
    breaches: list[Breach]


def quieten(house: House, since: float) -> Quiet:
    """Wait until all scopes are observed, the model going on as it did; the seconds are those since a moment (monotonic s)."""
    tell("quiet: until all scopes are observed")
    with house.server.client() as client:
        _, unfinished = quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _LONGEST_QUIET_S)
    seconds = time.monotonic() - since
    seen = Quiet(seconds, unfinished, _in_flight(house, seconds))
    tell(f"observed after {seconds:.0f} s, {seen.in_flight:.1f} calls in flight")
    return seen


def settle(house: House, names: Iterable[str]) -> Rest:
    """Wait until all scopes are observed, have what is left observed by force, end the processes, and look.

    What is forced is to show what is there, and no model fails then.
    """
    quiet_s, unfinished, _ = quieten(house, time.monotonic())
    with house.server.client() as client:
        tell("what is left by force")
        stuck = _force(house, client, names) or _tidied(house, client)
        house.crew.stop()
        return Rest(quiet_s, unfinished or stuck, judging.look(house.whole(client), PREFIX), house.client(10).verify())


def _force(house: House, client: redis.Redis, names: Iterable[str]) -> str:
    """Have everything raw observed by force; '' or what was not."""
    om, until, left = house.client(10), time.monotonic() + _FORCE_S, list(_raw(client))
    house.well = True
    while left and time.monotonic() < until:
        for name in names:
            with suppress(StoreError):
                om.force_observe(None, name)
        # a request stands until it is answered: asking anew all the time would never let it be
        again = time.monotonic() + _AGAIN_S
        while left and time.monotonic() < again:
            house.crew.tend()
            time.sleep(0.25)
            left = list(_raw(client))
    return f"messages in {left} are raw" if left else quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _FORCE_S)[1]


def _raw(client: redis.Redis) -> Iterator[str]:
    for kind in ("messages", "sealed"):
        yield from (key.decode() for key in client.scan_iter(f"{PREFIX}:{{*}}:{kind}:*", 1000))


def _tidied(house: House, client: redis.Redis) -> str:
    """Wait until the archive holds nothing that Redis does not name; '' or what it still holds."""
    until, left = time.monotonic() + _TIDY_S, 0
    while house.archive and (left := house.whole(client).unnamed) and time.monotonic() < until:
        house.crew.tend()
        time.sleep(0.5)
    return f"{left} rows of the archive are named by nobody" if left else ""


def _in_flight(house: House, seconds: float) -> float:
    """How many calls the model worked on in the last seconds, on average; a stall is none."""
    now = time.monotonic()
    calls = [call for call in house.models.calls if call.behaviour is not Behaviour.stall]
    spans = [(max(call.started, now - seconds), call.ended or now) for call in calls]
    return sum(max(0.0, ended - started) for started, ended in spans) / max(seconds, 1e-3)


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
        house.well = True
        quiet.wait_for_quiet(client, PREFIX, house.crew.tend, _FORCE_S)
        if left := _force(house, client, [member.name for member in plan.cast()]):
            raise RuntimeError(f"the undisturbed run did not come to rest: {left}; its logs: {folder}")
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


def _say(om: ObservationalMemory, what: str, whom: Any) -> None:
    if what == "push":
        om.add_messages([message_of(said) for said in whom])
    elif what == "clear":
        om.clear(whom)
    else:
        fate = next(member.fate for member in plan.cast() if member.name == whom)
        until = time.monotonic() + 20
        while om.migrate_scope(whom, fate) in {"busy", "superseded"} and time.monotonic() < until:
            time.sleep(0.2)


def played(what: str, judged: Callable[[Path, Journal], T]) -> T:
    """Have a run judged in a folder of its own. A failing run keeps it and says where it is; a passing one leaves nothing."""
    made = Path(tempfile.mkdtemp(prefix=f"om-{what}-"))
    journal = Journal(made)
    try:
        result = judged(made, journal)
    except BaseException:
        tell(f"the run was cut short; its folder: {made}")
        raise
    finally:
        journal.close()
    if result.failures:
        return result._replace(failures=[*result.failures, f"everything is in {made}"])
    shutil.rmtree(made)
    return result


def tell(line: str) -> None:
    """Say where a long command is."""
    print(f"run: {line}", file=sys.stderr, flush=True)  # noqa: T201 - that is what it is for
