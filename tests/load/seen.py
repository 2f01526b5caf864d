"""What clients saw: how long each kind of request took, what was refused when, what should not have been."""

import time
from collections import Counter, defaultdict

_KEPT = 50


class Away:
    """When somebody was not there. Times are of the monotonic clock."""

    def __init__(self) -> None:
        self._times: list[tuple[float, float]] = []

    def begins(self) -> None:
        """It may be gone from now on."""
        self._times.append((time.monotonic(), float("inf")))

    def ends(self) -> None:
        """It is back."""
        self._times[-1] = (self._times[-1][0], time.monotonic())

    def during(self, began: float, ended: float) -> bool:
        """Whether it was away at any time between the two."""
        return any(gone <= ended and back >= began for gone, back in self._times)

    def seconds(self) -> float:
        """For how long in all."""
        return sum(back - gone for gone, back in self._times)


class Tally:
    """Counts of one run: `took` has the seconds of every answer that was as it should be, by kind of request.

    `waited`: how long (s) small agents waited beside noisy ones; `due`: beside how many scopes that were due.
    """

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = defaultdict(list)
        self.store, self.api = Away(), Away()
        self.hostile = Away()  # a hostile tenant, who is away most of all
        self.calm: list[float] = []  # seconds of answers that wait for nobody, without him and beside him
        self.beside: list[float] = []
        self.away: Counter[str] = Counter()  # 503 by kind, while the store was away
        self.cut: Counter[str] = Counter()  # no answer, by kind of error, while the API was being restarted
        self.wrong = 0
        self.examples: list[str] = []
        self.waited: list[float] = []
        self.due: list[int] = []

    @property
    def answered(self) -> int:
        """Requests that were answered as they should be."""
        return sum(map(len, self.took.values()))

    def good(self, kind: str, began: float, ended: float) -> None:
        """An answer as it should be."""
        self.took[kind].append(ended - began)
        if "waiting" not in kind:  # for workers
            (self.beside if self.hostile.during(began, ended) else self.calm).append(ended - began)

    def fault(self, what: str) -> None:
        """An answer that should not have been."""
        self.wrong += 1
        if len(self.examples) < _KEPT:
            self.examples.append(what)


def percentile(values: list[float], share: float) -> float:
    """The value that a share of all do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
