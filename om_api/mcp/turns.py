"""Messages as a tool's result shows them: when, who, under which id, and what they said, none able to pass for another."""

from collections.abc import Iterable
from zoneinfo import ZoneInfo

from om_api.context.parts import plain
from om_api.context.view import local_time
from om_api.domain.folding import folded
from om_api.domain.messages import Message


def when(at: int, zone: ZoneInfo) -> str:
    """A time as its reader's clocks show it."""
    return f"{local_time(at, zone):%a %Y-%m-%d %H:%M}"


def turn_of(message: Message, zone: ZoneInfo, mark: str = "") -> str:
    """A message; its further lines stand behind a tab."""
    return f"{mark}[{when(message.at, zone)}] {message.role} ({message.id}): {folded(plain(message))}"


def turns_of(messages: Iterable[Message], zone: ZoneInfo) -> Iterable[tuple[str, str]]:
    """Messages with the names under which a list has them."""
    return ((message.id, turn_of(message, zone)) for message in messages)
