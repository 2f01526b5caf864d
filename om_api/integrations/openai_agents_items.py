"""Items of OpenAI's Responses API, as messages are kept of them, and the other way round."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from om_api.context.openai_responses import openai_items
from om_api.context.turns import Turn, Turns, wire_name
from om_api.domain.errors import InvalidInputError
from om_api.domain.identity import said_by
from om_api.domain.messages import Message
from om_api.domain.tool_calls import call_id
from om_api.integrations.turn import HeldItems, kept_as

Item: TypeAlias = Any  # an entry of a request's `input`: a dict
_NOBODYS = {"reasoning", "item_reference", "compaction"}  # what has to be sent along, and says nothing
_INSTRUCT = {"system", "developer"}
_PLACEHOLDER = "__fake_id__"  # the SDK's id of an item whose model gives none


def units(items: Sequence[Item], told: tuple[str, str], name: Callable[[], str] | None = None) -> list[HeldItems]:
    """What a model said in one go is one message: its thoughts stay with the calls that they led to, and those together.

    A message has the id of its first item, or a `name`. What an assistant says between the marks `told` is an account of
    messages which are kept themselves; instructions are nobody's words.
    """
    groups: list[list[Item]] = []
    for item in items:
        if groups and _is_models(item) and _is_models(groups[-1][-1]):
            groups[-1].append(item)
        else:
            groups.append([item])
    return [_unit(group, told, name) for group in groups]


def _unit(group: Sequence[Item], told: tuple[str, str], name: Callable[[], str] | None) -> HeldItems:
    said = [item for item in group if not _is_nobodys(item) and not _tells(item, told)]
    if not said:
        return HeldItems(tuple(group))
    known = name() if name else next((given for item in said if (given := item.get("id")) != _PLACEHOLDER), None)
    if len(said) == 1:
        return HeldItems(tuple(group), (kept_as(said[0], known),))
    parts = [part for item in said for part in kept_as(item).parts]
    return HeldItems(tuple(group), (kept_as({"role": "assistant", "content": parts}, known),))


def _is_nobodys(item: Item) -> bool:
    return item.get("type") in _NOBODYS or item.get("role") in _INSTRUCT


def _tells(item: Item, told: tuple[str, str]) -> bool:
    said = item.get("content")
    return item.get("role") == "assistant" and isinstance(said, str) and all(mark in said for mark in told)


def _is_models(item: Item) -> bool:
    role, kind = item.get("role"), str(item.get("type"))
    return role == "assistant" or not (role or kind.endswith(("_output", "_response")))


def without(items: Sequence[Item], known: Sequence[Item]) -> list[Item]:
    """The items but those that are known, each of these once."""
    left = [*map(key_of, known)]
    return [item for item in items if not _taken(left, key_of(item))]


def _taken(left: list[bytes], key: bytes) -> bool:
    if key not in left:
        return False
    left.remove(key)
    return True


def key_of(item: Item) -> bytes:
    """What an item says, whoever wrote it down."""
    try:
        return said_by(kept_as(item))
    except InvalidInputError:
        return repr(item).encode()


def items_of(message: Message) -> tuple[Item, ...]:
    """A message as items, which have no ids: none is looked for at OpenAI's."""
    calls, results = (_of(message, kind) for kind in ("tool-call", "tool-result"))
    rest = [part for part in message.parts if part["type"] not in {"tool-call", "tool-result"}]
    said = Turns()([msgspec.structs.replace(message, content=rest)])
    asked = [Turn("assistant", calls=calls)] if calls else []
    answered = [Turn("tool", results=results)] if results else []
    return tuple(openai_items((), [*answered, *said, *asked], ""))


def _of(message: Message, kind: str) -> list[dict[str, Any]]:
    found: list[Mapping[str, Any]] = [part for part in message.parts if part["type"] == kind]
    return [{**part, "tool_call_id": call_id(part) or f"call_{wire_name(part)}"} for part in found]
