"""Cutting raw messages into chunks: where it may be done, and how evenly. Pure; the store seals what is planned here."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from om_api.domain.policy import Limits, Move


class RawMessage(NamedTuple):
    """What cutting needs to know of a raw message: its size, when it was, which tool calls it makes and answers."""

    tokens: int
    at: int
    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def sealable(turns: Sequence[RawMessage], limits: Limits, now: int, unread: int = 0) -> list[int]:
    """Where a thread's raw messages may be cut: positions (1..n) such that no tool call is parted from its result.

    Nothing from an unanswered call on may be sealed, unless the call counts as answered: it is older than
    observe_idle_after, or b newer tokens of its thread followed. If newer messages are `unread`, its age does not count,
    because its answer may be among them.
    """
    after, ends = 0, [0] * len(turns)  # ends: up to which turn the calls of a turn reach; -1 = not answered yet
    next_answer: dict[str, int] = {}
    for i in range(len(turns) - 1, -1, -1):
        turn = turns[i]
        next_answer.update(dict.fromkeys(turn.answers, i))
        open_ = (unread > 0 or now - turn.at < limits.observe_idle_ms) and after < limits.buffer_tokens
        reached = [next_answer.get(call, -1 if open_ else i) for call in turn.calls]
        ends[i] = -1 if -1 in reached else max(reached, default=i)
        after += turn.tokens
    cuts: list[int] = []
    reach = 0
    for i, end in enumerate(ends):
        if end < 0:
            return cuts
        reach = max(reach, end)
        if i >= reach:
            cuts.append(i + 1)
    return cuts


def cut(turns: Sequence[RawMessage], cuts: Sequence[int], take: int, size: int) -> list[tuple[int, int]]:
    """Cut the first `take` tokens of a thread into even chunks of about `size`, at permitted positions; (from, to) pairs."""
    sums = list(accumulate((turn.tokens for turn in turns), initial=0))
    end = min(cuts, key=lambda position: (abs(sums[position] - take), -position))  # what weighs nothing goes along
    pieces = round(sums[end] / size)
    earlier = [(sums[position], position) for position in cuts if position < end]
    return list(pairwise([0, *_even(earlier, sums[end], pieces), end]))


def _even(cuts: Sequence[tuple[int, int]], tokens: int, pieces: int) -> list[int]:
    """The positions nearest to where `tokens` would be cut into equal pieces, of which there may be more than positions."""
    found, piece = list[int](), 1
    cuts = [next(same) for _, same in groupby(cuts, key=itemgetter(0))]
    for (before, position), (following, _) in pairwise([*cuts, (tokens, 0)]):
        nearer = (before + following) / 2  # up to here this position is the nearest
        if piece < pieces and piece * tokens <= nearer * pieces:
            found.append(position)
            piece = int(nearer * pieces // tokens) + 1
    return found


def plan(
    threads: Mapping[str, Sequence[RawMessage]],
    move: Move,
    limits: Limits,
    now: int,
    unread: Mapping[str, int] = {},
) -> list[tuple[str, int, int]]:
    """Turn a seal move into chunks: (thread, from, to) over each thread's raw messages, oldest thread first.

    `unread` is how many newer messages of a thread are not given.
    """
    left = move.tokens
    chunks: list[tuple[str, int, int]] = []
    for _, thread, turns in sorted((turns[0].at, thread, turns) for thread, turns in threads.items() if turns):
        more = unread.get(thread, 0)
        last = len(turns) + more - move.keep
        cuts = [position for position in sealable(turns, limits, now, more) if position <= last]
        if not cuts:
            continue
        whole = sum(turn.tokens for turn in turns[: cuts[-1]])
        if move.threads:
            take = whole if thread in move.threads else 0
        else:
            # what is left of the budget is too little for a chunk of its own: the next look takes it with what follows
            take = min(left, whole) if left >= min(whole, limits.buffer_tokens / 2) else 0
        if take or thread in move.threads:
            ranges = cut(turns, cuts, take, limits.buffer_tokens)
            chunks += [(thread, start, stop) for start, stop in ranges]
            left -= sum(turn.tokens for start, stop in ranges for turn in turns[start:stop])
        if len(chunks) >= move.most:
            break
    return chunks[: move.most]
