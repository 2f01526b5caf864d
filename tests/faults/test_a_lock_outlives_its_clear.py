"""What stands of the work on a chunk goes with the memory: a day of notes about chunks that are gone helps nobody."""

import pytest
from world import World

from om_api.domain.errors import ModelError
from om_api.store.memory import model_cooldown


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
def house(client, prefix):
    world = World(client, prefix)
    world.model = Choking(world.model)
    world.say("good", "bad", "fine", "well")
    return world


def observe(world, rounds=12):
    world.om.force_observe(None, "harold")
    for _ in range(rounds):
        for name in world.client.zrange(f"{world.prefix}:due:observe", 0, -1):
            world.client.zadd(f"{world.prefix}:due:observe", {name: 1})
        world.tick_forgiving()


def left(world):
    return [key.decode() for key in world.client.scan_iter(f"{world.prefix}:{{harold}}:*")]


def notes(world):
    return [key for key in left(world) if ":lock:observed:" in key]


@pytest.mark.parametrize("thread", [None, "t-1"])
def test_a_clear_takes_the_notes_of_what_was_observed_of_halves(house, thread):
    observe(house)
    assert len(notes(house)) == 1

    house.om.clear("harold", thread)

    assert notes(house) == []


def test_a_note_that_comes_after_the_clear_is_not_made(house):
    """Time 0: a half is observed. Time 1: its owner clears the memory. Time 2: the worker notes that it was observed."""
    house.om.force_observe(None, "harold")
    house.claim()
    house.perform("observe", *house.dispatch.queue.popleft()[1])
    (chunk, *_) = (key.rpartition(":")[2] for key in left(house) if ":sealed:" in key)
    house.om.clear("harold")
    house.services.run(model_cooldown.observed(house.services.keys, "harold", chunk))

    assert notes(house) == []


def test_a_clear_in_the_middle_of_a_models_call_leaves_nothing_once_the_call_has_ended(house):
    house.model.meanwhile = lambda: house.om.clear("harold")
    observe(house, rounds=1)

    assert [key for key in left(house) if ":lock:" in key] == []
