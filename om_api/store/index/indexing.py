"""What recall indexes of a chunk: its messages, one for each member, in the order of the sorted set."""

from collections.abc import Iterable, Sequence

from om_api.domain.messages import Message
from om_api.recall.said import said
from om_api.recall.segment import Findable
from om_api.store.driver.replies import Pair
from om_api.store.memory.decoding import message_of


def findable(pairs: Sequence[Pair], thread: str, resource: str) -> list[Findable]:
    """Members as they are indexed; one that is no message has no words, so that every other one keeps its place."""
    return of_messages(message_of(pair, thread, resource) for pair in pairs)


def of_messages(messages: Iterable[Message | None]) -> list[Findable]:
    """Messages as they are indexed; None is a member that is no message."""
    return [*map(_as_findable, messages)]


def _as_findable(message: Message | None) -> Findable:
    if message is None:
        return Findable("", "", 0, "")
    return Findable(message.id, message.role, message.at, said(message))
