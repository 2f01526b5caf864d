"""A turn: what a framework is about to send to a model, and what it should send of a memory instead."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

import msgspec

from om_api.context import Context
from om_api.context.assemble import Around
from om_api.context.recall_tool import NAME as RECALL
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.naming.ids import escape_id
from om_api.domain.tags import escape
from om_api.domain.tool_calls import exchanges, named
from om_api.domain.values import check_id, is_id
from om_api.domain.wire import Given, message_of

_RECALLED = "(what the memory held then; ask again)"
_EMPTIED: dict[str, dict[str, Any]] = {"tool-call": {"args": {}}, "tool-result": {"result": _RECALLED}}


class HeldItems(NamedTuple):
    """What a framework holds and sends as one: its own objects, and as what messages they are kept.

    None of what is no part of the conversation, such as the agent's own instructions.
    """

    items: tuple[Any, ...]
    messages: tuple[Message, ...] = ()


class AgentTurn(NamedTuple):
    """Whose conversation it is, and what the framework holds of it, oldest first."""

    resource_id: str
    thread_id: str
    held: Sequence[HeldItems]

    @property
    def messages(self) -> list[Message]:
        """All of it, as messages."""
        return [message for each in self.held for message in each.messages]


class ModelView(NamedTuple):
    """What a model reads: notes, which go behind the agent's own system prompt, and the framework's items, ours among them."""

    system: str
    items: list[Any]

    def behind(self, instructions: str | None) -> str:
        """The system prompt: the agent's own instructions, unchanged, and then the notes."""
        return "\n\n".join(filter(None, (instructions, self.system)))


Render: TypeAlias = Callable[
    [Context], list[Any]
]  # what a context holds, without a system prompt, as a framework's items


def kept_as(given: Given, name: str | None = None) -> Message:
    """A vendor's message with the id that a framework knows it by, if it has one. Raises InvalidInputError."""
    message = message_of(given)
    message.id = id_of(name) if name else ""
    return message


def id_of(name: str) -> str:
    """A framework's name of something, as an id that may name a key: itself, or its hash."""
    return name if is_id(name) else "h-" + sha256(name.encode(errors="replace")).hexdigest()[:32]


def place_of(resource_id: object, thread_id: object, *, resource_from: str, thread_from: str) -> tuple[str, str]:
    """Resource and thread of a turn; raises InvalidInputError, which says where a framework's user names what is missing.

    Both are names, which users of the application may have chosen: each is escaped, so that no two of them are one id.
    """
    for value, what, where in (
        (resource_id, "resource_id, whose memory it is", resource_from),
        (thread_id, "thread_id, which conversation it is", thread_from),
    ):
        if value in (None, ""):
            raise InvalidInputError(f"{what}, is missing: {where}")
    return named_id(resource_id, "resource_id"), named_id(thread_id, "thread_id")


def named_id(name: object, what: str) -> str:
    """The id of a resource or thread by the name that an application gives it; raises InvalidInputError."""
    return check_id(escape_id(name) if isinstance(name, str) and name not in {".", ".."} else name, what)


def said_in(context: Any, name: str) -> Any:
    """What a run's context says under a name, as an entry of it or as an attribute; None if nothing."""
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


def without_recalled(messages: Iterable[Message], tools: Collection[str] = (RECALL,)) -> Iterator[Message]:
    """Messages as they are kept: of a call of tools that recall only that it was made, or recall would find itself.

    Neither the words that were asked for, nor what they found: both stand where they were said.
    """
    names: dict[str, str] = {}
    for message in messages:
        known = named(message, names)
        if any(part.get("name") in tools for part in known.parts):
            content = [
                {**part, **_EMPTIED.get(part["type"], {})} if part.get("name") in tools else part
                for part in known.parts
            ]
            yield msgspec.structs.replace(known, content=content)
        else:
            yield message


def view_of(
    turn: AgentTurn, names: Sequence[str | None], context: Context, render: Render, *, is_whole: bool = False
) -> ModelView:
    """What a model reads of a turn whose messages are kept under these names (None: not kept yet, the store being away).

    What the framework holds stands as it holds it, if it is raw in the memory; what is behind notes is left out, but for the
    user's newest words, which a run is about until it ends. A call and its results are shown or left out as one. What could
    be read as a tag of ours is shown as we write it. Raw messages that the framework does not hold, such as those of a run
    that failed, stand where they were said, unless it holds what nobody could compare with them. Where the framework always
    holds the whole conversation (`is_whole`), another branch of the run said what is newer: that is left out.
    """
    context = _with_asked(turn, names, context)
    raw = {message.id: n for n, message in enumerate(context.made.tail.messages)}
    lead = [*takewhile(lambda each: not each.messages, turn.held)]
    groups = [*_groups(turn.held[len(lead) :], names, raw.keys())] or [_Group([], ())]
    strange = context.unavailable and None in names
    items = [item for each in lead for item in each.items]
    unheld = _unheld(groups, {} if strange else raw, is_whole=is_whole)
    for n, (ours, group) in enumerate(zip(unheld, groups, strict=True)):
        kinds: tuple[Around, ...] = () if n else ("continuation",)
        items += render(context.only(ours, *kinds, days=not n)) if ours or kinds else []
        items += render(context.only(group.names, days=False)) if group.is_forged else group.items
    return ModelView(context.system, items + render(context.only((), "volatile")))


def _with_asked(turn: AgentTurn, names: Sequence[str | None], context: Context) -> Context:
    """A context in which the user's newest words are raw, though a note may stand for them."""
    said = [*zip(turn.messages, names, strict=True)]
    asked, name = next((pair for pair in reversed(said) if _is_asked(pair[0])), (None, None))
    tail = context.made.tail
    if asked is None or name is None or any(message.id == name for message in tail.messages):
        return context
    tail = tail.led_by(msgspec.structs.replace(asked, id=name))
    return msgspec.structs.replace(context, made=context.made._replace(tail=tail))


def _is_asked(message: Message) -> bool:
    """Whether a user says something: in some frameworks results of tools are his too."""
    return message.role == "user" and any(part["type"] != "tool-result" for part in message.parts)


class _Group(NamedTuple):
    """What is shown at a place: items, or what is kept under these names, where it would be read as what it is not.

    `is_free` where no call before it waits for a result that comes later.
    """

    items: list[Any]
    names: Collection[str]
    is_forged: bool = False
    is_free: bool = True


def _unheld(groups: Sequence[_Group], raw: Mapping[str, int], *, is_whole: bool) -> Iterator[list[str]]:
    """For each group the raw messages before it that are not held: older ones; before the newest all, unless `is_whole`."""
    known = {name for group in groups for name in group.names}
    left = [name for name in raw if name not in known]
    last = max(n for n, group in enumerate(groups) if group.is_free)
    for n, group in enumerate(groups):
        end = len(raw) if n == last else 0
        places = [raw[name] for name in group.names if name in raw]
        place = min(places, default=end) if is_whole or not end else end
        ours = [name for name in left if raw[name] < place] if left and group.is_free else []
        left = left[len(ours) :]
        yield ours


def _groups(held: Sequence[HeldItems], names: Sequence[str | None], raw: AbstractSet[str]) -> Iterator[_Group]:
    """What is shown of what is held, in its order, and what is not with its names alone."""
    own_names = [*_by_held(held, names)]
    exchange = _exchanges(held)
    members: dict[int, list[int]] = {}
    for place, group in enumerate(exchange):
        members.setdefault(group, []).append(place)
    answered = -1  # the place where the last of the calls so far is answered
    for place, group in enumerate(exchange):
        own = {name for n in members[group] for name in own_names[n] if name}
        shown = any(not own_names[n] or None in own_names[n] or raw & {*own_names[n]} for n in members[group])
        forged = bool(own) and shown and own <= {*raw} and any(_is_forged(held[n]) for n in members[group])
        items = [] if forged or not shown else [*held[place].items]
        yield _Group(items, own if place == group or not forged else (), forged, place > answered)
        answered = max(answered, members[group][-1])


def _by_held(held: Sequence[HeldItems], names: Sequence[str | None]) -> Iterator[Sequence[str | None]]:
    start = 0
    for each in held:
        yield names[start : start + len(each.messages)]
        start += len(each.messages)


def _exchanges(held: Sequence[HeldItems]) -> list[int]:
    """For each place the first one of its exchange: that of the calls which it answers."""
    messages = [message for each in held for message in each.messages]
    places = [place for place, each in enumerate(held) for _ in each.messages]
    asked: dict[str, int] = {}
    group = [*range(len(held))]
    for place, each in zip(places, exchanges(messages), strict=True):
        for call in each.answers:
            group[place] = min(group[place], group[asked.get(call, place)])
        asked |= dict.fromkeys(each.calls, place)
    return group


def _is_forged(held: HeldItems) -> bool:
    return bool(held.items) and any(
        escape(text) != text for message in held.messages for text in _texts(message.content)
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
