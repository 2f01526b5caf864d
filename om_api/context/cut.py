"""Which raw messages a capped context still shows: the newest, and no tool result without its call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from om_api.domain.messages import Message


def first_shown(messages: Sequence[Message], tokens: Sequence[int], room: int | None) -> int:
    """The index of the oldest message that fits into `room` tokens with all newer ones; None is room for everything.

    The newest message is always shown. A result at the head whose call is left out is left out as well.
    """
    if room is None or sum(tokens) <= room or not messages:
        return 0
    fitting = sum(total <= room for total in accumulate(reversed(tokens)))
    last = len(messages) - 1
    start = min(len(messages) - fitting, last)
    left_out = {name for message in messages[:start] for name in message.call_ids("tool-call")}
    while start < last and left_out & messages[start].call_ids("tool-result"):
        left_out |= messages[start].call_ids("tool-call")
        start += 1
    return start
