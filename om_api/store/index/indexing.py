"""What recall indexes of a chunk: its messages, one for each member, in the order of the sorted set."""

from collections.abc import Iterable, Sequence

from om_api.domain.messages import Message
from om_api.domain.tool_calls import OwnCalls
from om_api.recall.said import said
from om_api.recall.segment import Findable
from om_api.store.driver.replies import Pair
from om_api.store.memory.decoding import message_of

_NO_MESSAGE = Findable("", "", 0, "")


def findable(pairs: Sequence[Pair], thread: str, resource: str, own_calls: Iterable[str] = ()) -> list[Findable]:
    """Members as they are indexed; one that is no message has no words, so that every other one keeps its place."""
    return of_messages((message_of(pair, thread, resource) for pair in pairs), own_calls)


def of_messages(messages: Iterable[Message | None], own_calls: Iterable[str] = ()) -> list[Findable]:
    """Messages as they are indexed; None is a member that is no message.

    Calls of this memory's own tools and their results have no words; `own_calls` as in OwnCalls.
    """
    own = OwnCalls(own_calls)
    return [_NO_MESSAGE if message is None else _as_findable(message, own.without(message)) for message in messages]


def _as_findable(message: Message, indexed: Message) -> Findable:
    return Findable(message.id, message.role, message.at, said(indexed) if indexed.content else "")
