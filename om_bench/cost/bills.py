"""Bills: tokens by what they cost, in dollars by the table of prices that the whole project uses."""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from om_api.billing import prices
from om_api.billing.prices import TokenPrices
from om_api.domain.errors import InvalidInputError
from om_bench.cost.cache import Cache, Split, rules_of
from om_bench.cost.wire import Sent, size

PRICED = datetime(2026, 11, 1, 12, tzinfo=UTC)  # some providers have prices by date, some by the hour


class Bill(msgspec.Struct):
    """What calls took: tokens by what they cost, and dollars. `written` tokens entered a cache at a price of their own."""

    calls: int = 0
    fresh: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    dollars: float = 0.0


class Account:
    """Calls of one model, in the order they are made; with `caching` its provider caches as its rules say."""

    def __init__(self, model: str, *, caching: bool = True) -> None:
        self.bill = Bill()
        self._rules, self._rates = rules_of(model), rates_of(model)
        self._cache = Cache(self._rules) if caching else None

    def call(self, sent: Sent) -> float:
        """Make one call; what it costs in dollars."""
        split = self._cache.take(sent.at, sent.pieces) if self._cache else Split(size(sent.pieces))
        fresh = split.fresh + self._rules.write * split.written
        dollars = self._rates.dollars(fresh, split.cached, sent.output)
        self.bill.calls += 1
        self.bill.fresh += split.fresh
        self.bill.cached += split.cached
        self.bill.written += split.written
        self.bill.output += sent.output
        self.bill.dollars += dollars
        return dollars

    def calls(self, sent: Iterable[Sent]) -> list[float]:
        """Make several calls; what each costs in dollars."""
        return [self.call(each) for each in sent]


def rates_of(model: str) -> TokenPrices:
    """A model's prices on the day that the figures are of; raises InvalidInputError where nobody knows them."""
    found = prices.rates(model, {}, PRICED)
    if found is None:
        raise InvalidInputError(f"what {model} costs is not known: name a model that genai-prices lists")
    return found
