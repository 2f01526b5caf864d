"""What a run left: a house brought to rest, and what is found in it then. And the folder that a failed run keeps."""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import redis
from model_server import Behaviour, Call

from chaos import judging, quiet
from chaos.house import PREFIX, House
from chaos.journal import Journal
from chaos.judging import Held
from om_api.store.audit.invariants import Breach

T = TypeVar("T", bound=Any)  # a result with `failures`
_LONGEST_QUIET_S = 150
_FORCE_S = 90
_TIDY_S = 60


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
        om, tend = house.client(10), house.crew.tend
        tell("what is left by force")
        house.moods.well = True
        quiet.observe_all(om, client, PREFIX, names, tend, _FORCE_S)
        _, stuck = quiet.wait_for_quiet(client, PREFIX, tend, _FORCE_S)
        stuck = stuck or _tidied(house, client)
        house.crew.stop()
        return Rest(quiet_s, unfinished or stuck, judging.look(house.whole(client), PREFIX), om.verify())


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
    spans = [(max(call.started, now - seconds), call.ended or now) for call in house.models.calls if not _stalls(call)]
    return sum(max(0.0, ended - started) for started, ended in spans) / max(seconds, 1e-3)


def _stalls(call: Call) -> bool:
    return call.behaviour is Behaviour.stall


@contextmanager
def folder(what: str) -> Iterator[Path]:
    """A new folder for a run; it is there afterwards, and named where the run was cut short."""
    made = Path(tempfile.mkdtemp(prefix=f"om-{what}-"))
    try:
        yield made
    except BaseException:
        tell(f"the run was cut short; its folder: {made}")
        raise


def played(what: str, judged: Callable[[Path, Journal], T]) -> T:
    """Have a run judged in a folder of its own. A failing run keeps it and says where it is; a passing one leaves nothing."""
    with folder(what) as made:
        journal = Journal(made)
        try:
            result = judged(made, journal)
        finally:
            journal.close()
        if result.failures:
            return result._replace(failures=[*result.failures, f"everything is in {made}"])
        shutil.rmtree(made)
        return result


def tell(line: str) -> None:
    """Say where a long command is."""
    print(f"run: {line}", file=sys.stderr, flush=True)  # noqa: T201 - that is what it is for
