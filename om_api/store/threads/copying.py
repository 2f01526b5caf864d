"""What a copy of a thread holds, and its beginning."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.histories.retraction import standing
from om_api.domain.identity import whole_with
from om_api.domain.messages import Message
from om_api.domain.values import CopiedFrom, Scope
from om_api.store.driver.replies import as_hash, word
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.decoding import as_thread
from om_api.store.memory.kept import kept, living
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import retracted

TAIL = 20  # messages of what is observed, that a copy within the same memory begins with
_KEPT = ("title", "title_by", "title_at", "title_from", "metadata")


class Copied(msgspec.Struct, frozen=True):
    """A thread that was copied: how many messages it has, and the last of them."""

    thread_id: str
    resource_id: str
    messages: int
    message_id: str


def to_copy(keys: Keys, scope: Scope, thread: str, until: str | None, *, apart: bool) -> Steps[list[Message]]:
    """The messages that a copy holds, oldest first, up to one of them or the last.

    `apart`: it is of another memory, and holds all that are kept. In the same memory those that are observed stand in the notes
    already: it holds those that are not, or where it ends before these the last 20 up to there. What is retracted is left out.
    """
    marks = (yield from retracted(keys, scope.resource, [thread]))[thread]
    if apart:
        found = standing((yield from kept(keys, scope, thread, lambda _: False)), marks)
    else:
        found = standing((yield from living(keys, scope, thread)), marks)
        if not found or (until and all(each.id != until for each in found)):
            found = yield from kept(keys, scope, thread, lambda some: _reaches(standing(some, marks), until))
            found = _up_to(standing(found, marks), until)[-TAIL:]
    found = _up_to(found, until)
    if not found:
        which = (
            f"message {until} of thread {thread} of {scope.resource}"
            if until
            else f"thread {thread} of {scope.resource}"
        )
        raise NotFoundError(
            f"{which} is not kept, so there is nothing to copy: om browse lists what is kept of a thread"
        )
    return _whole(found)


def _reaches(some: Sequence[Message], until: str | None) -> bool:
    """Whether enough was read: what comes last, or the message with some before it."""
    place = next((at for at, each in enumerate(some) if each.id == until), len(some) if until is None else 0)
    return place >= TAIL


def _up_to(messages: list[Message], until: str | None) -> list[Message]:
    if until is None:
        return messages
    return messages[: next((at + 1 for at, each in enumerate(messages) if each.id == until), 0)]


def _whole(messages: Sequence[Message]) -> list[Message]:
    """The messages, those that grew after they were sealed in one piece again."""
    found = dict[str, Message]()
    for each in messages:
        joined = whole_with(found, each)
        found[joined.id] = joined
    return [*found.values()]


def begin(keys: Keys, source: CopiedFrom, resource: str, thread: str, last_ms: int) -> Steps[None]:
    """Begin a copy, with what is known of the original; raises InvalidInputError for a thread that there is."""
    of = keys.of(resource)
    was = yield from as_hash("HGETALL", keys.of(source.resource_id).thread(source.thread_id))
    names = [of.thread(thread), of.known(thread), of.messages(thread)]
    args = [msgspec.json.encode(source), *(part for pair in _said(was, last_ms).items() for part in pair)]
    if (yield from Verb("copy", names, args, word)) == "occupied":
        raise InvalidInputError(
            f"{resource} has a thread {thread} already, which is no copy of the same: copy into a new one, or clear it first"
        )


def abandon(keys: Keys, source: CopiedFrom, resource: str, thread: str) -> Steps[None]:
    """Remove the beginning of a copy that has no message."""
    of = keys.of(resource)
    yield from Verb(
        "uncopy", [of.thread(thread), of.known(thread), of.messages(thread)], [msgspec.json.encode(source)], word
    )


def _said(was: Mapping[bytes, bytes], last_ms: int) -> dict[str, Any]:
    """Title and metadata, and the task if it was noted of what the copy has."""
    state, said = as_thread("-", was, {}), {name: was[name.encode()] for name in _KEPT if was.get(name.encode())}
    if state.current_task and state.current_task_at <= last_ms:
        said |= {name: was[name.encode()] for name in ("current_task", "current_task_at") if name.encode() in was}
    return said
