"""How often a model may be called, for all workers together: calls and tokens a minute."""

import math
from typing import NamedTuple

from limits import RateLimitItemPerSecond
from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from om_api.store.driver.connection import Connection
from om_api.store.driver.step_driver import explain
from om_api.store.driver.steps import Batch
from om_api.store.memory import due
from om_api.store.memory.keys import Keys, safe_name

_MINUTE_S = 60
_LONGER = 1.03  # our seconds: some calls take longer to arrive, and no minute of the provider's may hold one too many
_LEAST_WAIT_S = 0.05


class Rate(NamedTuple):
    """What a model's settings limit; None is no limit. `concurrency`, calls at the same time, is the breaker's to hold to."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrency: int | None = None


class RateLimiter:
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
        # All of them are looked at before one is taken: a call that another window stops must cost none.
        wait = max([self._until_free(item, model) for item in requests], default=0.0)
        if budget and not self._sliding.test(budget, model, cost=cost):
            wait = max(wait, self._until_room(budget, model, cost))
        taken = not wait and all(self._moving.hit(item, model) for item in requests)
        if taken and budget:
            taken = self._sliding.hit(budget, model, cost=cost)
        return 0.0 if taken else max(_LEAST_WAIT_S, wait)

    def _until_free(self, item: RateLimitItemPerSecond, model: str) -> float:
        free, remaining = self._moving.get_window_stats(item, model)
        return 0.0 if remaining > 0 else max(_LEAST_WAIT_S, (free - self._storage.now()) * _LONGER)

    def _until_room(self, budget: RateLimitItemPerSecond, model: str, cost: int) -> float:
        before, left, now, _ = self._storage.get_sliding_window(budget.key_for(model), _MINUTE_S)
        lacking = before * left / _MINUTE_S + now + cost - budget.amount
        return max(_LEAST_WAIT_S, _MINUTE_S * lacking / budget.amount)


def _windows(per_minute: int | None) -> list[RateLimitItemPerSecond]:
    """A minute, and a window of one or some seconds that spreads its calls.

    Without the second, all of them are made at once; those that arrive late, and those of the next minute that arrive early,
    would be counted together.
    """
    if per_minute is None:
        return []
    a_second, seconds = max(1, math.ceil(per_minute / _MINUTE_S)), max(1, _MINUTE_S // per_minute)
    return [
        RateLimitItemPerSecond(a_second, seconds, namespace="spread"),
        RateLimitItemPerSecond(per_minute, _MINUTE_S, namespace="requests"),
    ]


def _budget(per_minute: int | None) -> RateLimitItemPerSecond | None:
    if per_minute is None:
        return None
    return RateLimitItemPerSecond(max(1, math.floor(per_minute / _LONGER)), _MINUTE_S, namespace="tokens")


class _Storage(RedisStorage):
    """The library's own windows on our connection, by the server's clock, for workers' clocks differ; slowed down a little."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        super().__init__("redis://", key_prefix=prefix)  # makes a client that never connects; ours takes its place
        self._connection = connection
        self.storage = connection.client
        self.initialize_storage("")

    def now(self) -> float:
        """The server's time in seconds that are a little too long."""
        return self._connection.run(due.server_ms()) / 1000 / _LONGER

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count into a moving window, as the library does with the clock of whoever calls."""
        name = self.prefixed_key(key)
        taken = bool(self.lua_acquire_moving_window([name], [self.now(), limit, expiry, amount]))
        if taken:
            self.storage.expire(name, 2 * expiry)  # the script's own end comes before that of a longer second
        return taken

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """When the oldest of a moving window's calls was counted, and how many they are."""
        now = self.now()
        window = self.lua_moving_window([self.prefixed_key(key)], [now - expiry, limit])
        return (float(window[0]), int(window[1])) if window else (now, 0)
