"""The raw messages that a seal reads: the oldest of the threads that waited longest, and no more than it may take."""

from typing import NamedTuple

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.policy import Move
from om_api.store.memory import scope_state
from om_api.store.memory.scope_state import RawSet, ScopeState
from om_workers.work.services import Services

_SPARE = 8  # messages read beyond those that are expected to be needed
_DEEPER = 4  # times as many are read where these were too few


class Oldest(NamedTuple):
    """Raw members by thread with their messages, oldest first; `unread` is how many newer ones were not read."""

    raw: dict[str, list[tuple[bytes, Message]]]
    unread: dict[str, int]


def oldest(services: Services, state: ScopeState, move: Move) -> Oldest:
    """Read the oldest raw messages of a scope, as many as a seal may take and a chunk of each thread more.

    That chunk is not sealed while a call in it waits for a result that was not read, so that no call is separated from its
    result. A small memory is read whole, possibly by the look before.
    """
    keys, resource = services.keys, state.scope.resource
    sets = state.raw or services.run(scope_state.raw_sets(keys, resource, scope_state.threads_to_read(state)))
    sets = {thread: each for thread, each in sets.items() if thread in state.unsealed}
    if all(len(each.pairs) == each.members for each in sets.values()):
        return Oldest(services.run(scope_state.raw_messages(keys, resource, sorted(sets), sets)), {})
    needs = _needs(services, state, move, sets)
    most = {thread: _expected(*state.unsealed[thread], need) for thread, need in needs.items()}
    found = Oldest({}, {})
    while most:
        raw = services.run(scope_state.raw_messages(keys, resource, sorted(most), sets, most))
        found.raw.update(raw)
        found.unread.update({thread: max(0, sets[thread].members - n) for thread, n in most.items()})
        held = {thread: sum(count_message(message, services.count) for _, message in raw[thread]) for thread in most}
        most = {
            thread: _DEEPER * n
            for thread, n in most.items()
            if found.unread[thread] and held[thread] < needs[thread]
        }  # fmt: skip
    return found


def _needs(services: Services, state: ScopeState, move: Move, sets: dict[str, RawSet]) -> dict[str, int]:
    """The tokens to read of each thread that a seal may reach, the thread of the oldest message first."""
    size = services.in_force(state.scope).limits.buffer_tokens
    left = (move.most * size if move.threads else move.tokens) + size
    named = [thread for thread in sets if not move.threads or thread in move.threads]
    begun = services.run(scope_state.firsts(services.keys, state.scope.resource, named))
    needs: dict[str, int] = {}
    for thread in sorted(named, key=lambda thread: (begun[thread], thread)):
        if left <= 0:
            break
        needs[thread] = left + size
        left -= state.unsealed[thread][0]
    return needs


def _expected(tokens: int, messages: int, need: int) -> int:
    """How many of a thread's messages hold so many tokens, if all are of one size."""
    return messages if tokens <= need else need * messages // tokens + _SPARE
