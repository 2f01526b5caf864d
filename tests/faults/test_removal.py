"""What an owner removes is gone with everything that stood for it, whatever happens meanwhile, and nothing else is."""

import pytest
from scene import at_step, interrupted
from world import World

from om_api import InvalidInputError, Outcome
from om_api.client.core import Core
from om_api.domain.errors import ModelError
from om_api.store.memory import clear


@pytest.mark.parametrize("word", ["resource", "thread"])
def test_a_message_sealed_while_a_clear_is_planned_is_cleared_or_observed(client, prefix, word):
    """Time 0: a clear is planned. Time 1: a new thread's message is pushed and sealed. Time 2: the clear commits. It removed the
    index of threads, so nobody found the new thread's chunk any more: never observed, never cleared."""
    world = World(client, prefix, scope=word)
    world.say("old")
    world.observe_now(None)
    sent = []

    def meanwhile():
        world.say("new", thread="t-new")
        world.om.force_observe("t-new", "harold")
        world.claim()
        world.perform(*world.next_task())

    clearing = clear.clear(world.services.keys, "harold")
    world.services.run(interrupted(clearing, "clear", lambda: sent.append(meanwhile())))
    assert sent
    assert world.covering() == []


def test_a_task_that_comes_after_a_clear_lists_no_resource_that_is_gone(world):
    world.say("a")
    world.settle()
    world.om.clear("harold")
    world.perform("observe", "harold", "")
    assert world.om.stats() == []


class Choking:
    """Notes what it is asked as an echo does, and refuses whatever holds `bad`."""

    name = "choking"

    def __init__(self, echo):
        self._echo, self.meanwhile = echo, None

    def complete(self, request):
        if self.meanwhile:
            self.meanwhile()
        if any(message.content == "bad" for message in request.messages):
            raise ModelError("blocked by the provider", retryable=False)
        return self._echo.complete(request)


@pytest.fixture
def choking(world):
    world.model = Choking(world.model)
    world.say("good", "bad", "fine", "well")
    return world


def observe(world, rounds=12):
    world.om.force_observe(None, "harold")
    for _ in range(rounds):
        for name in world.client.zrange(f"{world.prefix}:due:observe", 0, -1):
            world.client.zadd(f"{world.prefix}:due:observe", {name: 1})
        world.tick_forgiving()


def left(world, what):
    keys = [key.decode() for key in world.client.scan_iter(f"{world.prefix}:{{harold}}:*")]
    return [key for key in keys if what in key]


@pytest.mark.parametrize("thread", [None, "t-1"])
def test_a_clear_takes_the_notes_of_what_was_observed_of_halves(choking, thread):
    observe(choking)
    assert len(left(choking, ":lock:observed:")) == 1
    choking.om.clear("harold", thread)
    assert left(choking, ":lock:observed:") == []


def test_a_clear_in_the_middle_of_a_models_call_leaves_nothing_once_the_call_has_ended(choking):
    choking.model.meanwhile = lambda: choking.om.clear("harold")
    observe(choking, rounds=1)
    assert left(choking, ":lock:") == []


def test_a_move_during_a_forget_removes_nothing_but_what_was_named(world):
    """Time 0: o5 is found, at seq 5. Time 1: there and back, o6 is at seq 5. Time 2: what is at seq 5 is removed."""
    for n in range(24):
        world.say(f"message {n}", thread=f"t-{n % 2}")
        world.settle()
    world.om.forget(world.om.observations("harold")[0].id, "harold")  # a move numbers the others anew
    for n in range(5):
        before = {each.id for each in world.om.observations("harold")}
        named = world.om.observations("harold")[1].id
        forgetting = at_step(Core(world.settings, len).owning.forget(named, "harold"), n,
            lambda: [world.om.migrate_scope("harold", to) for to in ("thread", "resource")])  # fmt: skip
        try:
            done = world.services.run(forgetting)
        except InvalidInputError:
            done = Outcome.SUPERSEDED
        after = {each.id for each in world.om.observations("harold")}
        assert before - after == ({named} if done == "cleared" else set()), n
        assert world.om.verify() == [], n
