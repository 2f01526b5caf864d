"""What of the raw messages has room in a context: the newest ones, no result without its call, and both ends of large texts."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import msgspec

from om_api.domain.media import named, split
from om_api.domain.message_tokens import TURN, Count, count_message, count_part
from om_api.domain.messages import Message
from om_api.domain.tool_calls import beginnings, whole_from

_STEPS = 4  # the room in steps: a cut stays where it is until one more of them is full
_TOKENS_OF_CHARACTER = 3  # at most
_TRIES = 6
_TEXTS = {"text", "tool-result"}


def with_short_results(message: Message, most: int | None, count: Count) -> Message:
    """The message with both ends of each tool result of more than `most` tokens; itself if it has none."""
    if most is None or (isinstance(message.content, str) and message.role != "tool"):
        return message
    parts = [
        shortened(part, most, message.id, count)
        if part["type"] == "tool-result" or (part["type"] == "text" and message.role == "tool")
        else part
        for part in message.parts
    ]
    return _with_parts(message, parts)


def within(message: Message, room: int, count: Count) -> Message:
    """The message with its longest texts and results cut in the middle, so that it takes `room` tokens if that is possible."""
    parts, sizes = [*message.parts], [count_part(part, count) for part in message.parts]
    over = count_message(msgspec.structs.replace(message, tokens=None), count) - room
    for place in sorted(range(len(parts)), key=lambda place: -sizes[place]):
        if over <= 0:
            break
        if parts[place]["type"] in _TEXTS:
            parts[place] = _part_within(parts[place], max(sizes[place] - over, 0), message.id, count)
            over -= sizes[place] - count_part(parts[place], count)
    return _with_parts(message, parts)


def _part_within(part: dict[str, Any], most: int, name: str, count: Count) -> dict[str, Any]:
    """The part cut until it takes `most` tokens as JSON, whose fields and escapes take some as well."""
    room = most
    for _ in range(_TRIES):
        cut = shortened(part, room, name, count)
        excess = count_part(cut, count) - most
        if excess <= 0 or not room:
            break
        room = max(room - excess, 0)
    return cut


def _with_parts(message: Message, parts: list[dict[str, Any]]) -> Message:
    if parts == message.parts:
        return message
    return msgspec.structs.replace(message, content=parts, tokens=None)


def shortened(part: dict[str, Any], most: int, name: str, count: Count) -> dict[str, Any]:
    """Both ends of a text or result in about `most` tokens, and a line on how to read the rest of the message `name`.

    A part that would not become shorter is returned unchanged.
    """
    if part["type"] == "text":
        return {**part, "text": _ends(part["text"], most, name, count)}
    result, media = split(part.get("result"))
    text = result if isinstance(result, str) else "" if result is None else msgspec.json.encode(named(result)).decode()
    if (cut := _ends(text, max(most - TURN, 0), name, count)) == text:
        return part
    return {**part, "result": [{"type": "text", "text": cut}, *media] if media else cut}


def _ends(text: str, most: int, name: str, count: Count) -> str:
    """Two thirds of the room for the beginning of a text, one for its end, and a line between them."""
    if len(text) * _TOKENS_OF_CHARACTER <= most or (total := count(text)) <= most:
        return text
    line = f"\n[… the middle of {total:,} tokens is left out here; recall finds all the words of message {name}]\n"
    room = max(most - count(line), 0)
    size = len(text) * room // total
    head, tail = _parted(text, size)
    for _ in range(_TRIES):
        if (cost := count(head) + count(tail)) <= room:
            break
        size = min(size * room // cost, size * 9 // 10)
        head, tail = _parted(text, size)
    made = f"{head}{line}{tail}"
    return made if count(made) < total else text


def _parted(text: str, size: int) -> tuple[str, str]:
    return text[: size - size // 3], text[len(text) - size // 3 :]


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
