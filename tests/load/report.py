"""What a run saw, as two tables; what it did not see but had to; what was broken."""

from collections import Counter
from dataclasses import dataclass

import reports
from chaos.aftermath import Rest
from chaos.judging import Verdict

from load.hostile import DOES
from load.plan import QUICK_S, Run
from load.seen import Tally, percentile

_SHARES = (0.5, 0.95, 0.99)
_LATE = 0.05  # of small agents' chunks, which may take twice as long: a tick of a starved process is late


@dataclass
class Seen:
    """Everything counted in one run; `restarts` by process and signal, `hostile` what the tenant was answered."""

    run: Run
    tally: Tally
    names: list[str]
    restarts: Counter[tuple[str, str]]
    hostile: Counter[str]
    messages: int
    acknowledged: int
    verdict: Verdict
    rest: Rest
    lasted_s: float

    @property
    def up_s(self) -> float:
        """How long it lasted without the times in which the API was restarted."""
        return self.lasted_s - self.tally.api.seconds()

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
    for did in DOES:
        answers = sum(times for what, times in seen.hostile.items() if what.startswith(did))
        asked.append((f"answers to his {did}", answers, least.hostile))
    asked += [("waits of small agents", len(seen.tally.waited), least.waits)]
    asked += [("scopes due beside a small agent", min(seen.tally.due, default=least.due), least.due)]
    asked += [(f"restarts of {name}", seen.restarted(name), least.restarts) for name in seen.names]
    return [f"saw {had} {what}, not the {wanted} it takes" for what, had, wanted in asked if had < wanted]


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
    late = sum(took > most for took in seen.tally.waited)
    if late > _LATE * len(seen.tally.waited) or max(seen.tally.waited, default=0) > 2 * most:
        found.append(f"{late} chunks of small agents were observed after more than {most:g} s: {_waited(seen)}")
    if seen.tally.wrong:
        found += [f"{seen.tally.wrong} answers should not have been:", *seen.tally.examples]
    return found


def tables(seen: Seen) -> str:
    """The run as two tables of markdown."""
    tally, held, verdict = seen.tally, seen.rest.held, seen.verdict
    unexpected = f"{tally.wrong} in all: see the failures" if tally.wrong else "0, 0, 0"
    scopes = " / ".join(str(len(held.scopes[kind])) for kind in ("resource", "thread"))
    restarts = [f"{name} {seen.restarted(name)} ({seen.restarts[name, 'SIGKILL']})" for name in seen.names]
    calm, beside = (p99 * 1_000 for p99 in seen.p99s)
    away = f"{tally.api.seconds():.0f} / {tally.store.seconds():.0f}"
    rows = [
        ("seconds, seed, appendfsync", f"{seen.lasted_s:.0f}, {seen.run.seed}, {seen.run.fsync}"),
        ("answers a second while the API was up", f"{seen.rate:.0f}"),
        ("requests answered as they should be", tally.answered),
        ("503 while the store was away, 503 else, other 5xx, other unexpected", f"{tally.away.total()}, {unexpected}"),
        ("requests without an answer, or with 503, while the API was restarted", _counted(tally.cut)),
        ("resources; scopes by resource / by thread", f"{seen.resources}; {scopes}"),
        ("messages tried / acknowledged", f"{seen.messages} / {seen.acknowledged}"),
        ("acknowledged and lost / held twice", f"{verdict.lost} / {verdict.doubled}"),
        ("taken by a clear / behind a placeholder", f"{verdict.cleared} / {len(held.quarantined)}"),
        ("generations", held.generations),
        ("restarts, of them by SIGKILL", ", ".join(restarts)),
        ("seconds that the API / the store was away", away),
        (
            "p99 of all, ms: without / beside the hostile tenant, times",
            f"{calm:.1f} / {beside:.1f}, {beside / calm if calm else 0:.2f}",
        ),
        ("what the hostile tenant was answered", _counted(seen.hostile)),
        (f"waits of small agents, ticks of {seen.run.tick:g} s: median / longest", _waited(seen)),
        ("scopes due beside them, at least", min(tally.due, default=0)),
        ("seconds to quiet", f"{seen.rest.quiet_s:.1f}"),
    ]
    asked = [
        (kind, len(took), *(f"{percentile(took, share) * 1_000:.1f}" for share in _SHARES))
        for kind, took in sorted(tally.took.items())
    ]
    head = ("request", "answers", *(f"p{share * 100:.0f}, ms" for share in _SHARES))
    return f"{reports.table(('what', 'seen'), rows)}\n\n{reports.table(head, asked)}"


def _waited(seen: Seen) -> str:
    waited, tick = seen.tally.waited, seen.run.tick
    return f"{len(waited)}: {percentile(waited, 0.5) / tick:.2f} / {percentile(waited, 1) / tick:.2f}"


def _counted(counts: Counter[str]) -> str:
    each = ", ".join(f"{name} {n}" for name, n in counts.most_common())
    return f"{counts.total()} ({each})" if each else "0"
