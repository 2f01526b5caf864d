"""A provider's prompt cache in numbers: how long it keeps what it was sent, and the raw window that costs least with it."""

from math import sqrt

import msgspec


class PromptCache(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept: prefixes of at least `minimum` tokens, for `lifetime_ms` after their last use; 0: nothing is.

    `write` and `read` are what a token costs that enters the cache, and one that is served from it, as multiples of a fresh one.
    """

    lifetime_ms: int = 0
    minimum: int = 0
    write: float = 1.0
    read: float = 1.0

    @property
    def rewriting(self) -> float:
        """What it costs to have a token enter again that was served from the cache, in tokens that are served."""
        return max(0.0, self.write - self.read) / self.read if self.read else 0.0


def cheapest_step(cache: PromptCache, floor: int, tokens_a_call: float) -> float:
    """How many tokens a window is to grow by before an activation leaves `floor` of them, so that calls cost least.

    A call adds r tokens, a step D takes D / r calls. It is read D / 2 above the floor on average, and costs floor x rewriting
    once: D / 2 + r x floor x rewriting / D is least at sqrt(2 x r x floor x rewriting).
    """
    return sqrt(2 * tokens_a_call * floor * cache.rewriting)
