"""A client's whole history beside what is kept of it: which message is which, what is new, and from where on it differs."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

from msgspec import structs

from om_api.domain.identity import chained, continues, form_of, goes_on, said_by, wholes
from om_api.domain.messages import Message
from om_api.domain.texts.matching import Effort, opcodes

_MANY = 2_000  # messages between a common beginning and a common end
_MOST_EQUAL = 2_000_000  # pairs of messages that say the same and are looked at
_Block: TypeAlias = tuple[str, int, int, int, int]  # as SequenceMatcher says it: what, from where to where in each list


class Aligned(NamedTuple):
    """The ids of a history's messages, and the position from which on it is not what was kept (None: it only goes on).

    `edited`: a kept message was found only by its place among others. `replaced` are the ids of kept messages that the history
    has others for.
    """

    ids: list[str]
    diverged_at: int | None
    edited: bool = False
    replaced: tuple[str, ...] = ()


class _Link(NamedTuple):
    """A position in both, and the next such."""

    a: int
    b: int
    then: "_Link | None"


def named(messages: Sequence[Message], said: Sequence[bytes], before: str = "") -> list[str]:
    """The ids of messages that follow the id `before`: their own, else by what precedes them and what they say."""
    ids: list[str] = []
    for message, says in zip(messages, said, strict=True):
        before = message.id or chained(before, says)
        ids.append(before)
    return ids


def align(
    there: Sequence[Message],
    messages: Sequence[Message],
    said: Sequence[bytes],
    names: Sequence[str],
    *,
    branches: bool = False,
) -> Aligned:
    """Find a history's messages, given with the ids that are certain, among those that are kept, oldest first.

    What stands in the place of a kept one, before others that are found again, was edited: it gets that one's id. At the
    end only one is that was cut, or is left of one; anything else is new, and gets its own of the `names`: by these a history
    that is sent again is known.

    With `branches` a message that replaces a kept one is another message. In the middle as many replace as many of the same
    roles, and none is a tool's result; at the end something but instructions replaces what follows the last common message.
    Messages that a history merely lacks are not replaced: a client may send its last messages only.
    """
    kept = not_rests(there)
    own, theirs = _told_apart(kept, wholes(there), messages, said)
    blocks = _blocks(own, theirs)
    found = _found(kept, own, theirs, blocks)
    settled = {*found.values()}
    diverged: list[int] = []
    replaced: list[str] = []
    moved = False
    for n, block in enumerate(blocks):
        word, i, i_end, j, j_end = block
        if word == "equal":
            continue
        edited = any(later[0] == "equal" for later in blocks[n + 1 :])
        swapped = _swapped(kept, messages, block, settled, found) if branches and edited else []
        if swapped:
            replaced += [kept[a].id for a, _ in swapped]
            diverged.append(swapped[0][1])
            moved = True
            continue
        pairs = _in_place_of(kept, messages, block) if edited else _cut(kept, messages, block)
        same = [(a, b) for a, b in pairs if kept[a].id not in settled and b not in found and not messages[b].id]
        found |= {b: kept[a].id for a, b in same}
        moved = moved or (edited and bool(same))
        grown = 0 if edited else len(same)
        if i_end - i > grown and j_end - j > grown:
            diverged.append(j + grown)
            if branches and not edited and i and _speaks(messages[j + grown : j_end]):
                replaced += [each.id for each in kept[i + grown : i_end] if each.id not in settled]
    ids = [found.get(n) or message.id or names[n] for n, message in enumerate(messages)]
    return Aligned(ids, min(diverged, default=None), moved, tuple(replaced))


def _found(
    kept: Sequence[Message], own: Sequence[str | bytes], theirs: Sequence[str | bytes], blocks: Iterable[_Block]
) -> dict[int, str]:
    """The ids of what both say, in the same order or in another."""
    equal = [(i, i_end, j) for word, i, i_end, j, _ in blocks if word == "equal"]
    found = {b: kept[a].id for i, i_end, j in equal for a, b in zip(range(i, i_end), count(j))}
    return found | _elsewhere(kept, own, theirs, found)


def _in_place_of(kept: Sequence[Message], messages: Sequence[Message], block: _Block) -> list[tuple[int, int]]:
    """Which message stands in the place of which kept one of the same role."""
    _, i, i_end, j, j_end = block
    pairs = zip(range(i, i_end), range(j, j_end), strict=False)
    return [(a, b) for a, b in pairs if kept[a].role == messages[b].role]


def _swapped(
    kept: Sequence[Message],
    messages: Sequence[Message],
    block: _Block,
    settled: Collection[str],
    found: Collection[int],
) -> list[tuple[int, int]]:
    """Which message replaces which kept one in the middle; none where they are not as many of the same roles.

    What says the same in other parts, or more or less of it, is no other message.
    """
    _, i, i_end, j, j_end = block
    pairs = [*zip(range(i, i_end), range(j, j_end), strict=False)]
    alike = i_end - i == j_end - j and all(
        kept[a].role == messages[b].role != "tool" and kept[a].id not in settled and b not in found for a, b in pairs
    )
    others = [pair for pair in pairs if alike and _says_otherwise(kept[pair[0]], messages[pair[1]])]
    return others if len(others) == len(pairs) else []


def _says_otherwise(kept: Message, message: Message) -> bool:
    return kept.text() != message.text() and not _is_cut(kept, message, alone=False)


def _speaks(messages: Iterable[Message]) -> bool:
    return any(message.role != "system" for message in messages)


def _cut(kept: Sequence[Message], messages: Sequence[Message], block: _Block) -> list[tuple[int, int]]:
    """The newest kept message that was cut, or is left, of the first one; the last of all where nothing stands before it."""
    _, i, i_end, j, j_end = block
    newest = reversed(range(i or max(0, i_end - 1), i_end)) if j < j_end else ()
    return [(a, j) for a in newest if _is_cut(kept[a], messages[j], alone=i == 0)][:1]


def not_rests(there: Iterable[Message]) -> list[Message]:
    """What is kept without the rests of messages that grew after they were sealed: a history has those whole."""
    return [message for message in there if continues(message) is None]


def _told_apart(
    kept: Sequence[Message], grown: Mapping[str, bytes], messages: Sequence[Message], said: Sequence[bytes]
) -> tuple[list[str | bytes], list[str | bytes]]:
    """What each message is compared by: the id that both have, else what it says, one that has grown in all."""
    certain, there, forms = {message.id for message in messages} - {""}, {each.id for each in kept}, {*grown.values()}
    own = [each.id if each.id in certain else grown.get(each.id) or said_by(each) for each in kept]
    return own, [
        each.id if each.id in there else form if forms and (form := form_of(each)) in forms else says
        for each, says in zip(messages, said, strict=True)
    ]


def _elsewhere(
    kept: Sequence[Message], own: Sequence[str | bytes], theirs: Sequence[str | bytes], found: Mapping[int, str]
) -> dict[int, str]:
    """What both say once, but in another order: a turn that was left out and comes again.

    Not what is older than all found, nor what stands behind all of them: that is said again, and new.
    """
    there, last = {*found.values()}, max(found, default=0)
    first = next((a for a, message in enumerate(kept) if message.id in there), len(kept))
    once = [{says for says, times in Counter(each).items() if times == 1} for each in (own[first:], theirs)]
    places = {own[a]: kept[a].id for a in range(first, len(kept)) if own[a] in once[0] and kept[a].id not in there}
    known = once[1] & places.keys()
    return {n: places[says] for n, says in enumerate(theirs[:last]) if n not in found and says in known}


def going_on(kept: Sequence[Message], messages: Sequence[Message], said: Sequence[bytes]) -> Aligned | None:
    """A history that begins with the end of what is kept, and says more: all of that is new. None where it does not.

    Where one can be read as edited, too, this reading is the safe one: what is new is never taken for an edit and left out.
    Not where something of that is certain to be kept, by an id among its `messages`, which was said just once.
    """
    times = Counter(map(said_by, kept))
    own = [said_by(message) for message in kept[-len(said) :]]
    for start, says in enumerate(own):
        length = len(own) - start
        if says == said[0] and own[start:] == list(said[:length]):
            more = zip(messages[length:], said[length:], strict=True)
            if any(message.id and times[each] == 1 for message, each in more):
                return None
            ids = [message.id for message in kept[len(kept) - length :]]
            for each in said[length:]:
                ids.append(chained(ids[-1], each))
            return Aligned(ids, None)
    return None


def _is_cut(kept: Message, message: Message, *, alone: bool) -> bool:
    """Whether one of both, which says something, is the beginning of the other; up to a word's end, where it stands `alone`."""
    first, second = (kept, message) if goes_on(kept, message) else (message, kept)
    if not (first.content and goes_on(first, second)):
        return False
    texts = isinstance(first.content, str) and isinstance(second.content, str)
    return not (alone and texts and second.content[len(first.content)].isalnum())  # type: ignore[union-attr]


def _blocks(own: Sequence[str | bytes], theirs: Sequence[str | bytes]) -> list[_Block]:
    """What both have in common and what not, as difflib says it, held fast where both say once what nobody says again.

    A window of "fine, done" and "ok" is the end of a history, although an earlier "ok" of it stands before that.
    """
    blocks, i, j, effort = list[_Block](), 0, 0, Effort(_MOST_EQUAL)
    for a, b in [*_anchors(own, theirs), (len(own), len(theirs))]:
        blocks += _differences(own[i:a], theirs[j:b], i, j, effort)
        blocks += [("equal", a, a + 1, b, b + 1)] if a < len(own) else []
        i, j = a + 1, b + 1
    return blocks


def _anchors(own: Sequence[str | bytes], theirs: Sequence[str | bytes]) -> list[tuple[int, int]]:
    """Where what both have once stands in both, as much of it as is in the same order (patience sorting), rather the newest."""
    once = [{key for key, times in Counter(each).items() if times == 1} for each in (own, theirs)]
    at = {key: i for i, key in enumerate(own)}
    ends, chains = list[int](), list[_Link]()
    for b, key in reversed([*enumerate(theirs)]):
        if key in once[0] and key in once[1]:
            n = bisect_left(ends, -at[key])
            link = _Link(at[key], b, chains[n - 1] if n else None)
            ends[n : n + 1], chains[n : n + 1] = [-at[key]], [link]
    found, link_ = list[tuple[int, int]](), chains[-1] if chains else None
    while link_:
        found.append((link_.a, link_.b))
        link_ = link_.then
    return found


def in_place(kept: Sequence[Message], ids: Sequence[str], messages: Sequence[Message]) -> list[Message]:
    """The messages of a history, of which those without a time that stand before a kept one are dated before that one.

    Else they would be ordered behind it, and the next time their history would not be found as it is.
    """
    at, dated, next_at = {message.id: message.at for message in kept}, list(messages), 0
    for n in reversed(range(len(messages))):
        next_at = at.get(ids[n], next_at - 1)
        if ids[n] not in at and next_at > 0 and messages[n].timestamp is None:
            dated[n] = structs.replace(messages[n], timestamp=next_at)
    return dated


def _differences(
    own: Sequence[str | bytes], theirs: Sequence[str | bytes], i: int, j: int, effort: Effort
) -> list[_Block]:
    """What makes one part of a list of the other, which begin at i and j.

    The time of SequenceMatcher grows with the square of what is said over and over: it is not asked for a common beginning
    and end, and where much lies between, what is said often is found by its neighbours alone.
    """
    most = min(len(own), len(theirs))
    start = next((n for n in range(most) if own[n] != theirs[n]), most)
    end = next((n for n in range(most - start) if own[-1 - n] != theirs[-1 - n]), most - start)
    between = own[start : len(own) - end], theirs[start : len(theirs) - end]
    found = opcodes(*between, effort, autojunk=max(map(len, between)) > _MANY)
    blocks = [("equal", 0, start, 0, start)] if start else []
    blocks += [(word, a + start, a_end + start, b + start, b_end + start) for word, a, a_end, b, b_end in found]
    blocks += [("equal", len(own) - end, len(own), len(theirs) - end, len(theirs))] if end else []
    return [(word, i + a, i + a_end, j + b, j + b_end) for word, a, a_end, b, b_end in blocks]
