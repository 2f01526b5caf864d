"""What a message weighs in tokens. docs/tokens.md says the same in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from om_api.domain.folding import placeholder
from om_api.domain.media import may_hold_data, named, split
from om_api.domain.messages import Message, is_token_count
from om_api.domain.vendors.ours import THOUGHTS

Count: TypeAlias = Callable[[str], int]  # tokens of a text
TURN = 4  # what a turn, and each tool call or result in it, weighs besides what it says
IMAGE = 765  # 85 + 4 tiles of 170: an image of unknown size to an OpenAI-like model, and our guess at a file
IMAGE_IN_LOW_DETAIL = 85
_ATTACHED = {"image", "file"}
_OF_TOOLS = {"tool-call", "tool-result"}
_CHARACTERS = 16  # of text for each token at least: tokens that a writer states bound the work of a chunk


def count_message(message: Message, count: Count) -> int:
    """Tokens of a message: what its writer said, else 4 for the turn, its speaker's name and what its parts weigh.

    A message weighs at least a token for each 16 characters of its text.
    """
    return _at_least(message, _counted(message, count) if message.tokens is None else message.tokens)


def _at_least(message: Message, tokens: int) -> int:
    most = tokens * _CHARACTERS
    if isinstance(message.content, str):
        return max(tokens, len(message.content) // _CHARACTERS)
    parts = [part for part in message.content if part["type"] == "text" or part["type"] in _OF_TOOLS]
    if sum(len(msgspec.json.encode(part)) for part in parts) <= most:  # usual, and spares a search for data
        return tokens
    sizes = (len(part["text"] if part["type"] == "text" else _text_and_media(part)[0]) for part in parts)
    return max(tokens, sum(sizes) // _CHARACTERS)


def _counted(message: Message, count: Count) -> int:
    turn = TURN + (count(f"{speaker}: ") if (speaker := message.speaker) else 0)
    if isinstance(message.content, str):
        return turn + count(message.content)
    return turn + sum(count_part(part, count) for part in message.content)


def count_part(part: Mapping[str, Any], count: Count) -> int:
    """Tokens of a part: a text its text, an image or file a fixed number, a tool call or result 4 and its JSON.

    Images and files that a tool gave weigh as such.

    An image or file that says its own `tokens` is believed. Data in base64 never counts as text. A part whose type we do
    not know weighs 4 and the name it is shown by; a thought 4, with its words if it is signed and so can be sent again.
    """
    kind = part["type"]
    if kind == "text":
        return count(part["text"])
    if kind in _ATTACHED:
        return _count_attached(part)
    if kind in THOUGHTS:
        return TURN + (
            count(thought) if part.get("signature") and isinstance(thought := part.get("thinking"), str) else 0
        )
    if kind not in _OF_TOOLS:
        return TURN + count(placeholder(part))
    text, media = _text_and_media(part)
    return TURN + count(text) + sum(map(_count_attached, media))


def _text_and_media(part: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """A tool call or result as JSON, without data, and the images and files of a result."""
    left, media = split(part.get("result"))
    part = {**part, "result": left} if media else part
    written = msgspec.json.encode(part)
    return (msgspec.json.encode(named(part)) if may_hold_data(written) else written).decode(), media


def _count_attached(part: Mapping[str, Any]) -> int:
    if is_token_count(said := part.get("tokens")):
        return said
    return IMAGE_IN_LOW_DETAIL if (part["type"], part.get("detail")) == ("image", "low") else IMAGE
