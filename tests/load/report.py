"""What a run saw, as two tables; what it did not see but had to; what was broken."""

from collections import Counter
from typing import NamedTuple

import reports
from chaos.aftermath import Rest
from chaos.judging import Verdict

from load.hostile import DOES
from load.plan import QUICK_S, Run
from load.seen import Tally, Waits, percentile

_SHARES = (0.5, 0.95, 0.99)


class Seen(NamedTuple):
    """Everything counted in one run: `up_s` is how long it lasted without the times in which the API was restarted."""

    run: Run
    tally: Tally
    lasted_s: float
    up_s: float
    away_s: float
    restarts: Counter[tuple[str, str]]
    names: list[str]
    messages: int
    acknowledged: int
    verdict: Verdict
    rest: Rest
    hostile: Counter[str]
    waits: Waits

    @property
    def rate(self) -> float:
        """Requests answered as they should be, in a second while the API was up."""
        return self.tally.answered / self.up_s

    @property
    def resources(self) -> int:
        """Resources with a memory at the end."""
        return len({record.partition("|")[0] for records in self.rest.held.scopes.values() for record in records})

    @property
    def p99s(self) -> tuple[float, float]:
        """The others' p99 (s) without the hostile tenant and beside him."""
        return percentile(self.tally.calm, 0.99), percentile(self.tally.beside, 0.99)

    def restarted(self, name: str) -> int:
        """How often a process was ended and started again."""
        return sum(times for (who, _), times in self.restarts.items() if who == name)


def missed(seen: Seen) -> list[str]:
    """What the run had to see and did not: it fails by itself then, whatever it found."""
    least = seen.run.least
    asked = [("answers a second", round(seen.rate, 1), least.rate), ("resources", seen.resources, least.resources)]
    asked += [("answers beside the hostile tenant", len(seen.tally.beside), least.beside)]
    asked += [(f"answers to his {what}", _answers(seen, what), least.hostile) for what in DOES]
    asked += [("waits of small agents", len(seen.waits.took), least.waits)]
    asked += [("scopes due beside a small agent", min(seen.waits.due, default=least.due), least.due)]
    asked += [(f"restarts of {name}", seen.restarted(name), least.restarts) for name in seen.names]
    return [f"saw {had} {what}, not the {wanted} it takes" for what, had, wanted in asked if had < wanted]


def _answers(seen: Seen, what: str) -> int:
    return sum(times for did, times in seen.hostile.items() if did.startswith(what))


def broken(seen: Seen) -> list[str]:
    """What of the promises was broken."""
    rest, found = seen.rest, [f"om verify: {breach}" for breach in seen.rest.breaches]
    if rest.quiet_s > seen.run.quiet_limit or rest.unfinished:
        late = f"{rest.quiet_s:.0f} s; {rest.unfinished or 'then they were'}"
        found.append(f"not all scopes were observed within {seen.run.quiet_limit:.0f} s of quiet ({late})")
    if seen.verdict.wrong:
        found.append(f"{len(seen.verdict.wrong)} messages are wrong")
    calm, beside = seen.p99s
    if beside > seen.run.hostile_limit * calm:
        found.append(
            f"the others' p99 was {beside * 1_000:.0f} ms beside the hostile tenant, more than {seen.run.hostile_limit:g}"
            f" times the {calm * 1_000:.0f} ms without him"
        )
    most = seen.run.wait_limit * seen.run.tick + QUICK_S
    if late := sum(took > most for took in seen.waits.took):
        found.append(f"{late} chunks of small agents were observed after more than {most:g} s: {_waited(seen)}")
    if seen.tally.wrong:
        found += [f"{seen.tally.wrong} answers should not have been:", *seen.tally.examples]
    return found


def tables(seen: Seen) -> str:
    """The run as two tables of markdown."""
    asked = reports.table(("request", "answers", *_MS), _kinds(seen.tally))
    return f"{reports.table(('what', 'seen'), _rows(seen))}\n\n{asked}"


_MS = tuple(f"p{share * 100:.0f}, ms" for share in _SHARES)


def _rows(seen: Seen) -> list[tuple[object, ...]]:
    tally, scopes = seen.tally, seen.rest.held.scopes
    return [
        ("seconds, seed, appendfsync", f"{seen.lasted_s:.0f}, {seen.run.seed}, {seen.run.fsync}"),
        ("answers a second while the API was up", f"{seen.rate:.0f}"),
        ("requests answered as they should be", tally.answered),
        (
            "503 while the store was away, 503 else, other 5xx, other unexpected",
            f"{tally.away.total()}, {_wrong(tally)}",
        ),
        ("requests without an answer while the API was restarted", _counted(tally.cut)),
        ("resources; scopes by resource / by thread", f"{seen.resources}; {_lengths(scopes)}"),
        ("messages tried / acknowledged", f"{seen.messages} / {seen.acknowledged}"),
        ("acknowledged and lost / held twice", f"{seen.verdict.lost} / {seen.verdict.doubled}"),
        ("taken by a clear / behind a placeholder", f"{seen.verdict.cleared} / {len(seen.rest.held.quarantined)}"),
        ("generations", seen.rest.held.generations),
        ("restarts, of them by SIGKILL", _restarts(seen)),
        ("seconds that the API / the store was away", f"{seen.lasted_s - seen.up_s:.0f} / {seen.away_s:.0f}"),
        ("p99 of all, ms: without / beside the hostile tenant, times", _compared(seen)),
        ("what the hostile tenant was answered", _counted(seen.hostile)),
        (f"waits of small agents, ticks of {seen.run.tick:g} s: median / longest", _waited(seen)),
        ("scopes due beside them, at least", min(seen.waits.due, default=0)),
        ("seconds to quiet", f"{seen.rest.quiet_s:.1f}"),
    ]


def _compared(seen: Seen) -> str:
    calm, beside = seen.p99s
    return f"{calm * 1_000:.1f} / {beside * 1_000:.1f}, {beside / calm if calm else 0:.2f}"


def _waited(seen: Seen) -> str:
    waits, tick = seen.waits, seen.run.tick
    median, longest = (percentile(waits.took, share) / tick for share in (0.5, 1))
    return f"{len(waits.took)}: {median:.2f} / {longest:.2f}"


def _wrong(tally: Tally) -> str:
    return "0, 0, 0" if not tally.wrong else f"{tally.wrong} in all: see the failures"


def _lengths(scopes: dict[str, list[str]]) -> str:
    return " / ".join(str(len(scopes[kind])) for kind in ("resource", "thread"))


def _counted(counts: Counter[str]) -> str:
    each = ", ".join(f"{name} {n}" for name, n in counts.most_common())
    return f"{counts.total()} ({each})" if each else "0"


def _restarts(seen: Seen) -> str:
    return ", ".join(f"{name} {seen.restarted(name)} ({seen.restarts[name, 'SIGKILL']})" for name in seen.names)


def _kinds(tally: Tally) -> list[tuple[object, ...]]:
    return [
        (kind, len(took), *(f"{percentile(took, share) * 1_000:.1f}" for share in _SHARES))
        for kind, took in sorted(tally.took.items())
    ]
