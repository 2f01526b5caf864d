"""Two races, played with their guard and without it: without it each of them must fail, else it proves nothing."""

import pytest
from fuzz.guards import GUARDS
from world import World, contents

_TAKE_OUT = {guard.name: guard.take_out for guard in GUARDS}
_NOON = 1_790_000_000_000


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def _observed(world):
    world.om.force_observe("t-1", "harold")
    world.settle()


def _two_clients(world):
    """Time 0: a client whose clock is ahead pushes; it is observed. Time 1: a client whose clock is right pushes."""
    world.say("from the clock ahead", id="ahead", timestamp=_NOON + 5_000)
    _observed(world)
    world.say("from the clock that is right", id="right", timestamp=_NOON)
    _observed(world)

    covering = [name for observation in world.om.observations("harold") for name in observation.message_ids]
    assert covering == ["ahead", "right"]


def _a_model_call_outlives_its_lock(world):
    """Time 0: A observes a chunk. Time 30: its lock expires. Time 31: B observes it too and stores. Time 40: A stores."""
    world.say("one", "two")  # as much as a chunk takes
    world.claim()
    world.perform(*_next(world))
    task, echo, said = _next(world), world.model.complete, {}

    def overtaken(request):
        if not said:
            said["once"] = True
            world.client.delete(*world.client.scan_iter(f"{world.prefix}:*lock*"))
            world.perform(*task)
            said["by B"] = contents(world.client, f"{world.prefix}:{{harold}}:chunk:*")
        return echo(request)

    world.model.complete = overtaken
    world.perform(*task)

    assert contents(world.client, f"{world.prefix}:{{harold}}:chunk:*") == said["by B"]


def _next(world):
    verb, ids = world.dispatch.queue.popleft()
    return verb, *ids


@pytest.mark.parametrize("race", [_two_clients, _a_model_call_outlives_its_lock])
def test_with_its_guard_nothing_is_lost_or_changed(race, world):
    race(world)


@pytest.mark.parametrize(
    ("race", "guard"),
    [
        (_two_clients, "unobserved is what is newer than a cursor"),
        (_a_model_call_outlives_its_lock, "buffer stores over what is ready"),
    ],
)
def test_without_its_guard_the_race_is_lost(race, guard, world, monkeypatch):
    _TAKE_OUT[guard](monkeypatch)

    with pytest.raises(AssertionError):
        race(world)
