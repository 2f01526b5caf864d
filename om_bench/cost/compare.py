"""The same calls with and without a memory, for one actor after the other, held against the cached full history."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import msgspec

from om_api.domain.message_tokens import Count
from om_bench.cost.bills import Account, Bill
from om_bench.cost.cache import rules_of
from om_bench.cost.calls import AgentCall, with_breaks
from om_bench.cost.histories import alone, by_halves, sliding, whole
from om_bench.cost.memory import Replayed, replay
from om_bench.cost.wire import Piece, Sent

FULL, CACHED = "full history, uncached", "full history, cached"
SLIDING, HALVES, NOTHING = "sliding window", "window dropped by halves", "no history at all"
MEMORY, EXTRACTIVE, OWN = "memory", "extractive", "the actor's own model"
_BREAK = (50, 3600.0)  # after so many calls the user is away for so many seconds


class CostPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared: models, and sizes in tokens.

    `settings` are memories by name, each with its settings ("name=value"). `ratio` is how many tokens of messages a
    model makes one token of notes of; the extractive observer decides that itself.
    """

    actors: tuple[str, ...]
    observers: tuple[str, ...]
    settings: dict[str, tuple[str, ...]]
    system: int = 2_000
    window: int = 30_000
    ratio: float = 10.0


class StrategyLine(msgspec.Struct, frozen=True, kw_only=True):
    """One way of sending all calls to one actor, `observer` and `settings` for a memory only.

    `answering` is the bill of the actor's calls, `remembering` that of the memory's own. `factor` is how many times
    cheaper all of it is than the cached full history, `with_breaks` the same where the user is away for an hour after
    every fifty calls. `series` are dollars from the first call to each one.
    """

    actor: str
    strategy: str
    settings: str = ""
    observer: str = ""
    answering: Bill
    remembering: Bill
    dollars: float
    factor: float
    with_breaks: float
    series: list[float]


class Replays(msgspec.Struct, frozen=True):
    """What came of the calls one after the other, and of the same with breaks in between: a memory may use them."""

    steady: Replayed
    broken: Replayed


class Memories(msgspec.Struct, frozen=True):
    """One memory's replays: as the extractive observer notes, and as a model is taken to."""

    extractive: Replays
    model: Replays


def replays(calls: Sequence[AgentCall], plan: CostPlan, count: Count, url: str | None) -> dict[str, Memories]:
    """Every memory of a plan."""
    return {
        name: Memories(*(twice(calls, changed, ratio, count, url) for ratio in (None, plan.ratio)))
        for name, changed in plan.settings.items()
    }


def twice(
    calls: Sequence[AgentCall], settings: Sequence[str], ratio: float | None, count: Count, url: str | None
) -> Replays:
    """A memory's calls without and with the user's breaks."""
    return Replays(*(replay(calls, settings, ratio, count, url, every) for every in (None, _BREAK[0])))


class Comparison:
    """One actor's lines: the cached full history is billed first, because all others are held against it."""

    def __init__(
        self, actor: str, calls: Sequence[AgentCall], plan: CostPlan, system: Piece, added: Sequence[Sequence[Piece]]
    ) -> None:
        self._actor, self._calls, self._plan, self._system, self._added = actor, calls, plan, system, added
        self._times = ([call.at for call in calls], with_breaks(calls, *_BREAK))
        self._steady, self._broken = (sum(self._answered(whole(system, added), at)[1]) for at in self._times)

    def lines(self, memories: Mapping[str, Memories]) -> Iterator[StrategyLine]:
        """Histories and windows, then each memory with each observer."""
        system, added, most = self._system, self._added, self._plan.window
        yield self._line(FULL, list(whole(system, added)), caching=False)
        yield self._line(CACHED, list(whole(system, added)))
        yield self._line(SLIDING, list(sliding(system, added, most)))
        yield self._line(HALVES, list(by_halves(system, added, most)))
        yield self._line(NOTHING, list(alone(system, added)))
        for name, memory in memories.items():
            yield self.remembered(name, EXTRACTIVE, memory.extractive)
            for observer in (*self._plan.observers, OWN):
                yield self.remembered(name, observer, memory.model)

    def remembered(self, settings: str, observer: str, found: Replays) -> StrategyLine:
        """One memory with one observer."""
        marked, system = rules_of(self._actor).lookback, self._system._replace(mark=False)
        both = (found.steady, found.broken)
        requests = [[[system, *pieces] for pieces in (each.marked if marked else each.plain)] for each in both]
        return self._line(MEMORY, requests[0], settings, observer, found, requests[1])

    def _line(
        self,
        strategy: str,
        requests: list[list[Piece]],
        settings: str = "",
        observer: str = "",
        found: Replays | None = None,
        broken: list[list[Piece]] | None = None,
        *,
        caching: bool = True,
    ) -> StrategyLine:
        sent = zip((requests, broken or requests), self._times, strict=True)
        (answering, spent), (_, spent_broken) = (self._answered(each, at, caching=caching) for each, at in sent)
        replayed = (found.steady, found.broken) if found else (None, None)
        noting = [self._noted(each, observer, at) for each, at in zip(replayed, self._times, strict=True)]
        series = list(accumulate(one + other for one, other in zip(spent, noting[0][1], strict=True)))
        return StrategyLine(
            actor=self._actor, strategy=strategy, settings=settings, observer=observer,
            answering=answering, remembering=noting[0][0], dollars=series[-1],
            factor=self._steady / series[-1],
            with_breaks=self._broken / (sum(spent_broken) + sum(noting[1][1])),
            series=[round(each, 6) for each in series],
        )  # fmt: skip

    def _answered(
        self, requests: Iterable[list[Piece]], times: Sequence[float], *, caching: bool = True
    ) -> tuple[Bill, list[float]]:
        account = Account(self._actor, caching=caching)
        sent = zip(times, requests, self._calls, strict=True)
        return account.bill, account.calls(Sent(at, pieces, call.output) for at, pieces, call in sent)

    def _noted(self, found: Replayed | None, observer: str, times: Sequence[float]) -> tuple[Bill, list[float]]:
        """The memory's own calls, each before the call that it was due by; the extractive ones cost nothing."""
        if found is None or observer == EXTRACTIVE:
            return Bill(), [0.0 for _ in times]
        account = Account(self._actor if observer == OWN else observer)
        return account.bill, [
            sum(account.calls(Sent(at, each.pieces, each.output) for each in asked))
            for at, asked in zip(times, found.asked, strict=True)
        ]
