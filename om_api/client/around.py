"""What stands beside a message in its thread, across the chunks that the thread is kept in."""

from collections.abc import Sequence
from typing import NamedTuple

from om_api.domain.messages import Message
from om_api.domain.tool_calls import exchanges

PAD = 4  # turns read beyond those that are asked for: where one is a call, its result is shown too


class ThreadSlice(NamedTuple):
    """Messages of a thread that stand side by side in a chunk ("" is what is raw), from one place to another, both included."""

    thread: str
    chunk: str
    first: int
    last: int

    @property
    def size(self) -> int:
        """How many they are."""
        return self.last - self.first + 1


class Window(NamedTuple):
    """The slices around a message, oldest first, and its place among all of their messages."""

    slices: tuple[ThreadSlice, ...]
    place: int


class Surroundings(NamedTuple):
    """A message, the turns before and after it, and whether there are more of either."""

    message: Message
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    earlier: bool
    later: bool


def window(order: Sequence[ThreadSlice], chunk: str, place: int, before: int, after: int) -> Window:
    """The slices with up to so many messages before and after one; `order` are all of its thread, whole, oldest first."""
    at = next(n for n, each in enumerate(order) if each.chunk == chunk)
    whole = order[at]
    own = whole._replace(first=max(place - before, 0), last=min(place + after, whole.last))
    left, right = before - (place - own.first), after - (own.last - place)
    earlier, later = list[ThreadSlice](), list[ThreadSlice]()
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
    return Window((*earlier, own, *later), sum(each.size for each in earlier) + place - own.first)


def surroundings(read: Sequence[Message | None], place: int, before: int, after: int) -> Surroundings:
    """A message with its turns: so many on either side, and more where a call would be without its result.

    Raises LookupError where there is no message at this place.
    """
    messages = [message for message in read if message is not None]
    if read[place] is None:
        raise LookupError(place)
    place -= read[:place].count(None)
    first, last = max(place - before, 0), min(place + after, len(messages) - 1)
    said = exchanges(messages)
    while first > 0 and any(said[n].answers & said[first - 1].calls for n in range(first, last + 1)):
        first -= 1
    while last < len(messages) - 1 and any(said[n].calls & said[last + 1].answers for n in range(first, last + 1)):
        last += 1
    while first < place and _parted(said[first].answers, [each.calls for each in said[first : last + 1]]):
        first += 1
    while last > place and _parted(said[last].calls, [each.answers for each in said[first : last + 1]]):
        last -= 1
    return Surroundings(
        messages[place],
        tuple(messages[first:place]),
        tuple(messages[place + 1 : last + 1]),
        earlier=first > 0,
        later=last < len(messages) - 1,
    )


def _parted(names: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Whether what answers these names, or what they answer, is not there."""
    return not names <= frozenset().union(*others)
