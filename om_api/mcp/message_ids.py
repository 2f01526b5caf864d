"""Ids for messages that were given none, so that a call which is repeated at once adds nothing.

A model that repeats a call whose answer was lost says the same again, and has no id to tell it by. So what is exactly the end
of the thread is taken for that, and is told; said again later, behind something else, it is another message.
"""

from collections.abc import Sequence

from om_api.domain.histories.history import named
from om_api.domain.identity import said_by
from om_api.domain.messages import Message


def names_of(given: Sequence[Message], there: Sequence[Message], before: str = "") -> list[str]:
    """The ids under which messages are to be kept behind those that are there, oldest first; `before` tells what preceded them.

    Time 0: two calls with one message read the same end of the thread. Time 1: both add it, under the same id, which follows
    from that end: the second adds nothing.
    """
    end = there[-len(given) :]
    if len(end) == len(given) and all(map(_is_the_same, given, end)):
        return [message.id for message in end]
    return named(given, [said_by(message) for message in given], there[-1].id if there else before)


def _is_the_same(given: Message, kept: Message) -> bool:
    return given.id in {"", kept.id} and said_by(given) == said_by(kept)
