"""What runs on several topologies saw, as one table of docs/scale.md."""

from collections.abc import Sequence

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
    rows = {_name(line): line for line in before.splitlines() if line.startswith("| ")}
    rows |= {ran.topology.name: _line(_row(ran)) for ran in runs}
    known = [rows[each.name] for each in TOPOLOGIES if each.name in rows]
    return "\n".join([_line(_HEAD), _line(["---"] * len(_HEAD)), *known])


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _name(line: str) -> str:
    return line.split(" | ", maxsplit=1)[0].removeprefix("| ")


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
