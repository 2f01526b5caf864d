"""Thread scope. Time 0: a clear is planned. Time 1: a new thread's message is pushed and sealed. Time 2: the clear commits.

It removed the index of threads, so nobody found the new thread's chunk any more: never observed, never cleared.
"""

import pytest
from world import World

from om_api.store.driver.steps import Verb
from om_api.store.memory import clear


@pytest.mark.parametrize("word", ["resource", "thread"])
def test_a_message_sealed_while_a_clear_is_planned_is_cleared_or_observed(client, prefix, word):
    house = World(client, prefix, scope=word)
    house.say("old")
    house.om.force_observe(None, "harold")
    house.settle()
    steps, sent = clear.clear(house.services.keys, "harold"), []

    def meanwhile():
        house.say("new", thread="t-new")
        house.om.force_observe("t-new", "harold")
        house.claim()
        house.perform(*_next(house))

    step = next(steps)
    while not sent:
        if isinstance(step, Verb) and step.name == "clear":
            meanwhile()
            sent.append(step)
        step = steps.send(house.services.run(_one(step)))
    with pytest.raises(StopIteration):
        while True:
            step = steps.send(house.services.run(_one(step)))

    assert house.covering() == []


def _one(step):
    return (yield step)


def _next(house):
    verb, ids = house.dispatch.queue.popleft()
    return verb, *ids
