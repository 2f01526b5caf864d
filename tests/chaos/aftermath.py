"""What a run left: a house brought to rest, and what is found in it then. And the folder that a failed run keeps."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from model_server import Behaviour

from chaos import judging, quiet
from chaos.house import PREFIX
from chaos.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from model_server import Call

    from chaos.house import House
    from chaos.judging import Held
    from om_api.store.verify import Breach

T = TypeVar("T", bound=Any)  # a result with `failures`
_LONGEST_QUIET_S = 150
_FORCE_S = 90


class Rest(NamedTuple):
    """Seconds to quiet, what never came to an end, and what plain looks and `om verify` found.

    `in_flight`: calls that the model worked on until then, on average.
    """

    quiet_s: float
    unfinished: str
    held: Held
    breaches: list[Breach]
    in_flight: float = 0.0


def settle(house: House, names: Iterable[str]) -> Rest:
    """Wait until all scopes are observed, have what is left observed by force, end the processes, and look.

    The model goes on as it did until all are observed; what is forced is to show what is there, and nothing fails then.
    """
    with house.server.client() as client:
        om, tend = house.client(10), house.crew.tend
        tell("quiet: until all scopes are observed")
        quiet_s, unfinished = quiet.wait_for_quiet(client, PREFIX, tend, _LONGEST_QUIET_S)
        in_flight = _in_flight(house, quiet_s)
        tell(f"observed after {quiet_s:.0f} s, {in_flight:.1f} calls in flight; what is left by force")
        house.moods.well = True
        quiet.observe_all(om, client, PREFIX, names, tend, _FORCE_S)
        _, stuck = quiet.wait_for_quiet(client, PREFIX, tend, _FORCE_S)
        house.crew.stop()
        return Rest(quiet_s, unfinished or stuck, judging.look(client, PREFIX), om.verify(), in_flight)


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
