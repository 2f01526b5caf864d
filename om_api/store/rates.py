"""How often a model may be called, for all workers together: calls and tokens a minute, and calls at the same time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from limits import RateLimitItemPerSecond
from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from om_api.store import due
from om_api.store.connection import explain
from om_api.store.keys import safe_name
from om_api.store.steps import Batch, Steps, Verb

if TYPE_CHECKING:
    from om_api.store.connection import Connection
    from om_api.store.keys import Keys

_MINUTE_S = 60
_WINDOW_S = 63  # a minute and 5 %: calls sent within it may still arrive within one minute, some late, some at once
_LEAST_WAIT_S = 0.05


class Rate(NamedTuple):
    """What a model's settings limit; None is no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrency: int | None = None


class Rates:
    """Counts calls and tokens in windows that every worker shares. Raises StoreError when they cannot be counted."""

    def __init__(self, connection: Connection, keys: Keys) -> None:
        self._storage = _Storage(connection, keys.rates)
        self._moving = MovingWindowRateLimiter(self._storage)
        self._sliding = SlidingWindowCounterRateLimiter(self._storage)

    def take(self, model: str, rate: Rate, tokens: int) -> float:
        """Count one call of so many tokens, and return 0.0; else the seconds until it is likely that one may be made."""
        try:
            return self._take(safe_name(model), rate, tokens)
        except RedisError as error:
            raise explain(error, Batch([], writes=True)) from error

    def _take(self, model: str, rate: Rate, tokens: int) -> float:
        requests, budget = _windows(rate.requests_per_minute), _budget(rate.tokens_per_minute)
        cost = min(tokens, budget.amount) if budget else 0  # what is larger than a minute's budget takes all of one
        for item in requests:  # all are looked at before one is taken: a call that another window stops must cost none
            if not self._moving.test(item, model):
                return self._until_free(item, model)
        if budget and not self._sliding.test(budget, model, cost=cost):
            return self._until_room(budget, model, cost)
        for item in requests:
            if not self._moving.hit(item, model):
                return self._until_free(item, model)
        if budget and not self._sliding.hit(budget, model, cost=cost):
            return self._until_room(budget, model, cost)
        return 0.0

    def _until_free(self, item: RateLimitItemPerSecond, model: str) -> float:
        oldest, _ = self._storage.get_moving_window(item.key_for(model), item.amount, item.get_expiry())
        return max(_LEAST_WAIT_S, oldest + item.get_expiry() - self._storage.now())

    def _until_room(self, budget: RateLimitItemPerSecond, model: str, cost: int) -> float:
        before, left, now, _ = self._storage.get_sliding_window(budget.key_for(model), _WINDOW_S)
        lacking = before * left / _WINDOW_S + now + cost - budget.amount
        return max(_LEAST_WAIT_S, _WINDOW_S * lacking / budget.amount)


def hold(keys: Keys, model: str, token: str, most: int, lease_s: float) -> Steps[bool]:
    """Take one of a model's `most` places for calls at the same time; False when none is free. It ends after `lease_s`."""
    reply = yield Verb("hold", [keys.holders(model)], [token, most, round(lease_s * 1000)])
    return bool(reply)


def free(keys: Keys, model: str, token: str) -> Steps[None]:
    """Give the place back."""
    yield Batch([("ZREM", keys.holders(model), token)], writes=True)


def _windows(per_minute: int | None) -> list[RateLimitItemPerSecond]:
    """A window of seconds that spreads a minute's calls, and a window of a little more than a minute.

    Without the first, all of them are made at once; those that arrive late, and those of the next minute that arrive early,
    would be counted together.
    """
    if per_minute is None:
        return []
    a_second, seconds = max(1, math.ceil(per_minute / _MINUTE_S)), max(1, _MINUTE_S // per_minute)
    return [
        RateLimitItemPerSecond(a_second, seconds, namespace="spread"),
        RateLimitItemPerSecond(per_minute, _WINDOW_S, namespace="requests"),
    ]


def _budget(per_minute: int | None) -> RateLimitItemPerSecond | None:
    return None if per_minute is None else RateLimitItemPerSecond(per_minute, _WINDOW_S, namespace="tokens")


class _Storage(RedisStorage):
    """The library's own windows on our connection, by the server's clock: workers' clocks differ."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        super().__init__("redis://", key_prefix=prefix)  # makes a client that never connects; ours takes its place
        self._connection = connection
        self.storage = connection.client
        self.initialize_storage("")

    def now(self) -> float:
        """The server's time in seconds."""
        return self._connection.run(due.server_ms()) / 1000

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count into a moving window, as the library does with the clock of whoever calls."""
        words = [self.now(), limit, expiry, amount]
        return bool(self.lua_acquire_moving_window([self.prefixed_key(key)], words))

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """When the oldest of a moving window's calls was counted, and how many they are."""
        now = self.now()
        window = self.lua_moving_window([self.prefixed_key(key)], [now - expiry, limit])
        return (float(window[0]), int(window[1])) if window else (now, 0)
