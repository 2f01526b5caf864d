"""What is sent without a memory: the whole history, a part of it, or nothing."""

from collections.abc import Iterator, Sequence
from itertools import chain

from om_api.context.openai import openai_messages
from om_api.context.turns import Turns
from om_api.domain.message_tokens import Count
from om_bench.cost.calls import AgentCall
from om_bench.cost.wire import Piece, marked, of_openai, size


def prompt(tokens: int) -> Piece:
    """The agent's own system prompt and the descriptions of its tools: never read here, so it is a size and no text."""
    return Piece("system prompt", tokens, mark=True)


def rendered(calls: Sequence[AgentCall], count: Count) -> list[list[Piece]]:
    """What each call brings, rendered once: a history only grows by it."""
    return [list(of_openai(openai_messages((), Turns()([*call.messages]), ""), count)) for call in calls]


def alone(system: Piece, added: Sequence[Sequence[Piece]]) -> Iterator[list[Piece]]:
    """Nothing of what was said before: what the calls cost by themselves, and what is left is the price of remembering."""
    return ([system, *pieces] for pieces in added)


def whole(system: Piece, added: Sequence[Sequence[Piece]]) -> Iterator[list[Piece]]:
    """All of the history with every call, a breakpoint at its end."""
    said: list[Piece] = []
    for pieces in added:
        said.extend(pieces)
        yield [system, *marked(said)]


def sliding(system: Piece, added: Sequence[Sequence[Piece]], most: int) -> Iterator[list[Piece]]:
    """The newest calls that fit into `most` tokens. No breakpoint at the end: once the window slides nobody reads it again."""
    for first, last in _windows(added, most, most):
        yield [system, *chain.from_iterable(added[first:last])]


def by_halves(system: Piece, added: Sequence[Sequence[Piece]], most: int) -> Iterator[list[Piece]]:
    """A window that grows to `most` tokens and is cut to half of that, a breakpoint at its end."""
    for first, last in _windows(added, most, most // 2):
        yield [system, *marked(list(chain.from_iterable(added[first:last])))]


def _windows(added: Sequence[Sequence[Piece]], most: int, keep: int) -> Iterator[tuple[int, int]]:
    """Where a window begins and ends at each call: above `most` tokens the oldest go until `keep` are left."""
    first = held = 0
    for last, pieces in enumerate(added):
        held += size(pieces)
        allowed = keep if held > most else most
        while held > allowed and first < last:
            held -= size(added[first])
            first += 1
        yield first, last + 1
