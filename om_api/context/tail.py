"""The tail of a context: a thread's raw messages, as blocks and with the lines between their days."""

from collections.abc import Collection
from itertools import compress
from operator import is_
from typing import NamedTuple

from om_api.context.cut import first_shown, with_short_results, within
from om_api.context.days import Day, DayLines, Parted
from om_api.context.parts import plain
from om_api.context.signature import Signer
from om_api.context.view import Block, View
from om_api.domain.caching import Memoized
from om_api.domain.message_tokens import Count, count_message
from om_api.domain.messages import Message
from om_api.domain.tool_calls import named


class Tail(NamedTuple):
    """Messages, oldest first: as they are, as they are shown, and as blocks with their tokens; and their days."""

    messages: list[Message]
    shown: list[Message]
    raw: list[Block]
    sizes: list[int]
    parted: Parted

    def since(self, start: int) -> "Tail":
        """All from a place on."""
        if not start:
            return self
        parted = self.parted._replace(days=self.parted.days[start:])
        return Tail(self.messages[start:], self.shown[start:], self.raw[start:], self.sizes[start:], parted)

    def dated(self, *, first: bool) -> "Tail":
        """The same; `first` as in `Parted`."""
        return self._replace(parted=self.parted._replace(first=first))

    def of(self, ids: Collection[str]) -> "Tail":
        """The messages of these ids alone."""
        chosen = [message.id in ids for message in self.messages]
        parted = self.parted._replace(days=[*compress(self.parted.days, chosen)])
        messages, shown = [*compress(self.messages, chosen)], [*compress(self.shown, chosen)]
        return Tail(messages, shown, [*compress(self.raw, chosen)], [*compress(self.sizes, chosen)], parted)

    def led_by(self, message: Message) -> "Tail":
        """The same behind a message that is raw no longer."""
        block = Block(kind="message", role=message.role, text=plain(message), stable=False, tokens=0)
        parted = self.parted._replace(days=[None, *self.parted.days])
        return Tail([message, *self.messages], [message, *self.shown], [block, *self.raw], [0, *self.sizes], parted)

    def cut(self, room: int) -> int:
        """The place from which all fits into so many tokens, with the lines between its days."""
        sizes = [*self.sizes]
        for place, line in self.parted.lines(self.shown):
            sizes[place] += line.tokens
        if not first_shown(self.messages, sizes, room):
            return 0
        lines = (self.parted.crossed(None, day) for day in {*self.parted.days})
        return first_shown(self.messages, sizes, room - max((line.tokens for line in lines if line), default=0))

    def parts(self) -> tuple[list[Block], int]:
        """Messages and lines, in order, and their tokens."""
        blocks, tokens, done = list[Block](), sum(self.sizes), 0
        for place, line in self.parted.lines(self.shown):
            blocks += (*self.raw[done:place], line)
            tokens, done = tokens + line.tokens, place
        return [*blocks, *self.raw[done:]], tokens


def squeezed(tail: Tail, room: int, count: Count) -> Tail:
    """A tail with its longest messages cut in the middle, so that it takes `room` tokens if that is possible."""
    over = tail.parts()[1] - room
    if over <= 0:
        return tail
    shown, raw, sizes = [*tail.shown], [*tail.raw], [*tail.sizes]
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        cut = within(shown[place], max(sizes[place] - over, 0), count) if over > 0 else shown[place]
        if cut is not shown[place]:
            shown[place], raw[place] = cut, _block(cut, count)
            over -= sizes[place] - raw[place].tokens
            sizes[place] = raw[place].tokens
    return tail._replace(shown=shown, raw=raw, sizes=sizes)


class Tails:
    """The tails of one thread, one after the other: what stands where it stood is what it was."""

    def __init__(self, count: Count) -> None:
        self._count, self._named = count, _ShownMessages(count)
        self._lines = Memoized(lambda signer, zone: DayLines(signer, zone, count))
        self._last: tuple[DayLines | None, list[Message], list[Block], list[int], list[Day]] = None, [], [], [], []

    def __call__(self, messages: list[Message], signer: Signer, view: View, *, first: bool) -> Tail:
        """The tail of these messages; `first` as in `Parted`."""
        lines, shown = self._lines(signer, view.zone), self._named(messages, view.tool_tokens)
        last, before, raw, sizes, days = self._last
        same = [*map(is_, before, shown), False].index(False) if lines is last else 0
        added = [_block(message, self._count) for message in shown[same:]]
        raw, sizes = [*raw[:same], *added], [*sizes[:same], *(block.tokens for block in added)]
        days = [*days[:same], *map(lines.day, shown[same:])]
        self._last = lines, shown, raw, sizes, days
        return Tail(messages, shown, raw, sizes, Parted(days, first, lines.line))


class _ShownMessages:
    """Messages as they are shown: results say the name of their tool, and are not too long.

    Those that stand where they stood are what they were.
    """

    def __init__(self, count: Count) -> None:
        self._count = count
        self._last: tuple[list[Message], list[Message], int | None] = [], [], None

    def __call__(self, messages: list[Message], most: int | None) -> list[Message]:
        before, made, last = self._last
        same = [*map(is_, before, messages), False].index(False) if most == last else 0
        names: dict[str, str] = {}
        for message in made[:same] if same < len(messages) else ():
            named(message, names)
        added = (with_short_results(named(message, names), most, self._count) for message in messages[same:])
        made = [*made[:same], *added]
        self._last = messages, made, most
        return made


def _block(message: Message, count: Count) -> Block:
    text, tokens = plain(message), count_message(message, count)
    return Block(kind="message", role=message.role, text=text, stable=False, tokens=tokens)
