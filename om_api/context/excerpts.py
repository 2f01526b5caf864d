"""What goes on in the other threads of a resource: bounded excerpts of messages that no observation covers yet."""

from collections.abc import Callable, Mapping
from html import escape as attribute
from typing import NamedTuple
from zoneinfo import ZoneInfo

from om_api.context.parts import plain
from om_api.context.view import View, local_time
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.tool_calls import named, without_own

_LONGEST_TOKEN = 16  # characters; what is longer than that many a token cannot fit, and is never counted
_SHORTEST = 48  # characters of a line; cut below that it would say nothing
_CLOSE = "</unobserved-context>"


class Excerpts(NamedTuple):
    """The sections shown, newest thread first, and one line that counts the rest ("" when nothing is left out)."""

    sections: list[str]
    rest: str


def excerpts(
    others: Mapping[str, list[Message]], counts: Mapping[str, int], view: View, count: Callable[[str], int]
) -> Excerpts:
    """Show each other thread's newest messages within the view's budgets; the tags' tokens are part of them.

    `others` are the newest raw messages by thread, `counts` how many each thread holds in all.
    """
    hidden = {thread: len(messages) for thread, messages in others.items()} | dict(counts)
    sections, left = [], view.others_tokens
    for thread in sorted(others, key=lambda thread: _newest(others[thread]), reverse=True):
        room = _Room(min(view.excerpt_tokens, left), count)
        if section := _section(thread, others[thread], hidden[thread], room, view.zone):
            sections.append(section)
            hidden[thread], left = 0, left - room.used
    return Excerpts(sections, _rest([number for number in hidden.values() if number]))


class _Room:
    """A budget of tokens that lines are taken from."""

    def __init__(self, tokens: int, count: Callable[[str], int]) -> None:
        self.tokens, self.used = tokens, 0
        self._count = count

    def take(self, *lines: str) -> bool:
        """Take all the lines or none of them."""
        if sum(map(len, lines)) > max(0, self.tokens) * _LONGEST_TOKEN:
            return False
        cost = sum(self._count(f"{line}\n") for line in lines)
        if self.used + cost > self.tokens:
            return False
        self.used += cost
        return True

    def cut(self, line: str) -> str:
        """Take as much of the line as fits and return it; "" when that would say nothing."""
        line = line[: max(0, self.tokens) * _LONGEST_TOKEN]
        while len(line) >= _SHORTEST:
            line = f"{line[: len(line) * 4 // 5]}…"
            if self.take(line):
                return line
        return ""


def _newest(messages: list[Message]) -> int:
    return max((message.at for message in messages), default=0)


def _section(thread: str, messages: list[Message], total: int, room: _Room, zone: ZoneInfo) -> str:
    opening = f'<unobserved-context thread="{attribute(thread)}">'
    if not room.take(opening, _earlier(total), _CLOSE):
        return ""
    lines: list[str] = []
    names: dict[str, str] = {}
    by_time = sorted(messages, key=lambda message: message.at)
    spoken = [
        left for message, left in zip(by_time, without_own(by_time), strict=True) if left is message or left.content
    ]
    in_order = [named(message, names) for message in spoken]
    for message in reversed(in_order):
        line = _line(message, zone, room.tokens * _LONGEST_TOKEN)
        if not room.take(line):
            lines += filter(None, [room.cut(line) if not lines else ""])
            break
        lines.append(line)
    head = [opening, _earlier(total - len(lines))] if total > len(lines) else [opening]
    return "\n".join([*head, *reversed(lines), _CLOSE]) if lines else ""


def _line(message: Message, zone: ZoneInfo, longest: int) -> str:
    at = local_time(message.at, zone)
    text = " ".join(plain(message)[:longest].split())
    return f"[{at:%Y-%m-%d %H:%M}] {message.role}: {escape(text)}"


def _earlier(number: int) -> str:
    return f"({_messages(number)} before these not shown)"


def _rest(numbers: list[int]) -> str:
    threads = f"{len(numbers)} other thread{'' if len(numbers) == 1 else 's'}"
    return f"Not shown: {_messages(sum(numbers))} in {threads}." if numbers else ""


def _messages(number: int) -> str:
    return f"{number} message{'' if number == 1 else 's'}"
