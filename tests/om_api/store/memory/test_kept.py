"""What is kept of a thread comes oldest first, from every tier, and no further back than asked for."""

import pytest
from scene import HAROLD, activate, ready

from om_api.store.memory.kept import kept


def test_a_chunk_that_is_activated_between_two_looks_is_not_missed(store):
    """Time 0: the chunk is listed. Time 1: it is activated. Time 2: its sealed set is gone, and its source not yet asked for."""
    ready(store, "c1", 1)
    steps = kept(store.keys, HAROLD, "t1", lambda _: False)
    asked = next(steps)
    replies = store.run(_one(asked))
    activate(store, "c1")
    step = steps.send(replies)
    with pytest.raises(StopIteration) as end:
        while True:
            step = steps.send(store.run(_one(step)))

    assert [message.id for message in end.value.value] == ["m1"]


def _one(step):
    return (yield step)
