"""Committing a reflection that was thought before: it counts with every line that is pinned by then."""

from collections.abc import Callable
from typing import NamedTuple

from om_api.domain.values import Generation, Outcome
from om_api.store.driver.steps import Steps
from om_api.store.memory import reflect
from om_api.store.memory.keys import Keys
from om_api.store.reviews.drafts import Draft, ReflectionInput, reflection_input

_PINNED_MEANWHILE = 4  # times, within one commit


class Committed(NamedTuple):
    """What became of a draft, and the generation that it made or would have made."""

    outcome: Outcome
    generation: Generation


def commit(
    keys: Keys, read: ReflectionInput, draft: Draft, count: Callable[[str], int], keep: int, ttl_s: int
) -> Steps[Committed]:
    """Make a draft the next generation, with what was pinned since it was thought: no model is asked again for that.

    `superseded` where the memory or the review of it is no longer the one that was read. `keep` and `ttl_s` are as for
    reflect.reflect.
    """
    scope = read.state.scope
    for _ in range(_PINNED_MEANWHILE):
        made = read.counting(draft, count)
        done = yield from reflect.reflect(keys, scope, read.state.record, made, read.covered(draft), keep, ttl_s)
        if done is not Outcome.SUPERSEDED:
            break
        now = yield from reflection_input(keys, scope)
        if now.state.record.pins == read.state.record.pins or not now.bears(draft, read):
            break
        read = now
    return Committed(done, made)
