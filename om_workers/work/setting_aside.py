"""Setting observations aside: the oldest leave contexts word for word, in groups that a catalogue names. No model is asked."""

import time
from collections.abc import Callable
from zoneinfo import ZoneInfo

from om_api.domain.notes.catalogue import Catalogued
from om_api.domain.notes.groups import grouped, oldest
from om_api.domain.values import Generation
from om_api.settings import MemorySettings
from om_api.store.reviews.drafts import Draft, ReflectionInput

_STAY = 5  # of max_observations such a share stays at most: else they would be too many at once again


def set_aside(
    read: ReflectionInput, agent: MemorySettings, count: Callable[[str], int], *, everything: bool
) -> Draft | None:
    """The generation whose text is the catalogue, and in which group each observation goes; None where all of them stay.

    What the generation in force says stands before the catalogue, line by line. `everything`: the newest go as well.
    """
    own, pooled = [stored.observation for stored in read.stored], read.state.scope.thread is None
    n = len(own) if everything else oldest(own, agent.keep_tokens, agent.max_observations // _STAY)
    if not n:
        return None
    groups = list(grouped(own[:n], agent.observation_threshold, ZoneInfo(agent.timezone)))
    before = read.generation.text if read.generation else ""
    after = Catalogued.of(before, pooled=pooled).and_also(groups, pooled=pooled)
    after = after.within(agent.reflection.archive.catalog_tokens, count)
    text, name_of = after.text(), {each.id: group.name for group in groups for each in group.observations}
    made = Generation(
        n=read.state.record.generation + 1,
        text=text,
        origin="archive",
        created_at=int(time.time() * 1000),
        tokens=count(text) if text else 0,
        input_tokens=sum(each.tokens for each in own[:n]) + (read.generation.tokens if read.generation else 0),
        observation_ids=tuple(each.id for each in own[:n]),
        cost=0.0,
        groups=after.groups,
    )
    seqs = tuple(stored.seq for stored in read.stored[:n])
    return Draft(made, seqs, groups=tuple(name_of[each.id] for each in own[:n]))
