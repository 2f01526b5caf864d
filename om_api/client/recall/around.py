"""What stands beside a message in its thread, across the chunks that the thread is kept in."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from om_api.domain.messages import Message
from om_api.domain.tool_calls import Exchange, exchanges
from om_api.store.index.segments import Stretch

# turns read beyond those that are asked for: where one is a call, its results are shown too; if need be, more
PAD, WIDE = 2, 100


class Window(NamedTuple):
    """The stretches around a message, oldest first, its place among their messages, and whether there are more of these."""

    stretches: tuple[Stretch, ...]
    place: int
    earlier: bool
    later: bool


class Surroundings(NamedTuple):
    """A message, the turns before and after it, and whether there are more of either; not `whole` asks to be read wider.

    That is where the message's own call or result was not read, or a side is empty because of such a one.
    """

    message: Message
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    earlier: bool
    later: bool
    whole: bool


class _Exchanged(NamedTuple):
    """A call and its results, from the first of these messages to the last; not `whole` where some of them were not read."""

    first: int
    last: int
    whole: bool

    def touches(self, first: int, last: int) -> bool:
        """Whether any of it is between two places."""
        return self.first <= last and self.last >= first


def window(order: Sequence[Stretch], chunk: str, place: int, before: int, after: int) -> Window:
    """The stretches with up to so many messages before and after one; `order` are all of its thread, whole, oldest first."""
    at = next(n for n, each in enumerate(order) if each.chunk == chunk)
    whole = order[at]
    own = whole._replace(first=max(place - before, 0), last=min(place + after, whole.last))
    left, right = before - (place - own.first), after - (own.last - place)
    earlier, later = list[Stretch](), list[Stretch]()
    for each in reversed(order[:at]):
        if left <= 0:
            break
        earlier.insert(0, each._replace(first=max(each.last - left + 1, 0)))
        left -= earlier[0].size
    for each in order[at + 1 :]:
        if right <= 0:
            break
        later.append(each._replace(last=min(each.last, right - 1)))
        right -= later[-1].size
    found = (*earlier, own, *later)
    begins, ends = found[0]._replace(last=0), found[-1]
    return Window(
        found,
        sum(each.size for each in earlier) + place - own.first,
        begins != order[0]._replace(last=0),
        ends.chunk != order[-1].chunk or ends.last != order[-1].last,
    )


def surroundings(read: Sequence[Message | None], place: int, before: int, after: int) -> Surroundings:
    """A message with so many turns on either side; more or fewer where a call would be without its result, or it without that.

    Raises LookupError where there is no message at this place.
    """
    if read[place] is None:
        raise LookupError(place)
    messages = [message for message in read if message is not None]
    place -= read[:place].count(None)
    first, last = max(place - before, 0), min(place + after, len(messages) - 1)
    exchanged = _joined(_exchanged(messages))
    first, last = _whole(exchanged, place, first, last)
    empty = (before and first == place > 0) or (after and last == place < len(messages) - 1)
    return Surroundings(
        messages[place],
        tuple(messages[first:place]),
        tuple(messages[place + 1 : last + 1]),
        earlier=first > 0,
        later=last < len(messages) - 1,
        whole=not empty and all(each.whole for each in exchanged if each.touches(place, place)),
    )


def _exchanged(messages: Sequence[Message]) -> Iterator[_Exchanged]:
    """Calls with their results. What is not answered, or answers nothing, is whole where somebody spoke behind, or before, it."""
    said, called = exchanges(messages), set[str]()
    spoke = [n for n, each in enumerate(said) if messages[n].role in {"user", "system"} and each == Exchange()]
    first, last = (spoke[0], spoke[-1]) if spoke else (len(said), -1)
    for n, (each, found) in enumerate(zip(said, _answered(said), strict=True)):
        if each.calls:
            yield _Exchanged(n, max([n, *filter(None, found)]), None not in found or last > n)
        if each.answers - called or (not each.answers and _has_result(messages[n])):
            yield _Exchanged(n, n, first < n)
        called |= each.calls


def _has_result(message: Message) -> bool:
    return any(part["type"] == "tool-result" for part in message.parts)


def _answered(said: Sequence[Exchange]) -> list[list[int | None]]:
    """For each message the places where its calls are answered; None for a call without an answer."""
    found, later = list[list[int | None]](), dict[str, int]()
    for n in reversed(range(len(said))):
        found.append([later.get(name) for name in said[n].calls])
        later.update(dict.fromkeys(said[n].answers, n))
    return found[::-1]


def _joined(exchanged: Iterable[_Exchanged]) -> list[_Exchanged]:
    """Those that overlap as one, in order."""
    found = list[_Exchanged]()
    for each in exchanged:
        if found and each.first <= found[-1].last:
            before = found.pop()
            found.append(_Exchanged(before.first, max(before.last, each.last), before.whole and each.whole))
        else:
            found.append(each)
    return found


def _whole(exchanged: Sequence[_Exchanged], place: int, first: int, last: int) -> tuple[int, int]:
    """From where to where no exchange is cut: the message's own is shown in any case, others where they were read whole."""
    for each in sorted(exchanged, key=lambda each: not each.touches(place, place)):
        if not each.touches(first, last):
            continue
        if each.whole or each.touches(place, place):
            first, last = min(first, each.first), max(last, each.last)
        elif each.last < place:
            first = each.last + 1
        else:
            last = each.first - 1
    return first, last
