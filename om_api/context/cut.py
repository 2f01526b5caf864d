"""Which raw messages have room in a context: the newest ones, and no tool's result without its call."""

from collections.abc import Sequence
from itertools import accumulate

from om_api.domain.messages import Message
from om_api.domain.tool_calls import beginnings, whole_from

_STEPS = 4  # the room in steps: a cut stays where it is until one more of them is full


def first_shown(messages: Sequence[Message], tokens: Sequence[int], room: int | None) -> int:
    """The index of the oldest message that fits into `room` tokens with all newer ones; None is room for everything.

    The newest message is always shown, and no call is parted from its result: see `whole_from`.
    """
    if room is None or sum(tokens) <= room or not messages:
        return 0
    fitting = sum(total <= room for total in accumulate(reversed(tokens)))
    return whole_from(messages, min(len(messages) - fitting, len(messages) - 1))


def first_turn(messages: Sequence[Message], tokens: Sequence[int], room: int | None, earlier: int = 0) -> int:
    """The index of the message from which on whole turns fit into `room` tokens: a turn is a user's message and what follows.

    The cut goes on in steps of a quarter of the room, counted from the oldest message: what is shown begins with the same
    message for many turns, as prompt caches want it. Where whole turns would leave less than a quarter, the oldest of them
    is cut into, before a message that answers no call made before it. The newest message is always shown. `earlier` are the
    tokens of older messages that are not given here.
    """
    before = [*accumulate(tokens, initial=earlier)]
    if room is None or before[-1] <= room:
        return 0
    step = max(1, room // _STEPS)
    least, most = before[-1] - room, before[-1] - step
    stepped = -(-least // step) * step
    able = beginnings(messages)
    some = [place for place in able if before[place] <= most]
    turns = [place for place in some if messages[place].role == "user"]
    found = (
        place
        for places in (turns, some, able)
        for much in (stepped, least)
        for place in places
        if before[place] >= much
    )
    return next(found, len(messages) - 1)
