"""Halving a chunk that cannot be observed: where it is cut, so that the one message is found in log2(n) steps. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from om_api.domain import chunking
from om_api.domain.chunking import RawMessage
from om_api.domain.policy import Limits


def half(turns: Sequence[RawMessage], limits: Limits) -> int:
    """How many of n >= 2 messages go into the first half: as near to n/2 as no tool call is parted from its result.

    Neither half is larger than the power of two below n, so that n messages are single after log2(n) halvings, rounded
    up, whatever their calls; where no permitted cut is that near, a call is parted from its result.
    """
    n = len(turns)
    most = 1 << ((n - 1).bit_length() - 1)
    later = turns[-1].at + limits.observe_idle_ms  # a call without a result here will get none
    whole = [cut for cut in chunking.sealable(turns, limits, later) if n - most <= cut <= most]
    return min(whole or [n // 2], key=lambda cut: (abs(2 * cut - n), cut))
