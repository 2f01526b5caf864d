"""What runs on several topologies saw, as one table of docs/scale.md."""

from collections.abc import Sequence

import reports

from scale.topologies import TOPOLOGIES, Ran

_HEAD = (
    "topology",
    "seconds of faults",
    "messages acknowledged",
    "kills of workers",
    "servers or brokers killed / paused",
    "failovers",
    "slots moved",
    "lost",
    "twice",
    "`om verify`",
    "tasks in the queues, at most",
    "seconds to quiet",
)


def table(runs: Sequence[Ran], before: str = "") -> str:
    """A row for each topology: of a run, or as it stands in the table of before."""
    kept = [line.strip("| ").split(" | ") for line in before.splitlines() if line.startswith("| ")]
    rows: dict[object, list[object]] = {row[0]: row for row in [*kept, *map(_row, runs)]}
    return reports.table(_HEAD, [rows[each.name] for each in TOPOLOGIES if each.name in rows])


def _row(ran: Ran) -> list[object]:
    seen, happened = ran.result.seen, ran.result.seen.happened
    killed, paused = (sum(n for what, n in happened.items() if what.startswith(verb)) for verb in ("kill ", "pause "))
    killed -= happened["kill worker"] + happened["kill beat"]
    breaches = sum(each.startswith("om verify") for each in ran.result.failures)
    return [
        ran.topology.name,
        f"{seen.run.seconds:.0f}",
        seen.acknowledged,
        happened["kill worker"],
        f"{killed} / {paused}",
        ran.failovers,
        ran.moved,
        seen.lost,
        seen.doubled,
        f"{breaches} breaches" if breaches else "clean",
        f"{seen.longest_queue} of {seen.run.queue_limit}",
        f"{seen.quiet_s:.0f}",
    ]
