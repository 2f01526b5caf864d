"""A look at the agents most worth one costs the same however many there are."""

import pytest
from world import World

from om_api.ops.top import look
from om_api.store.fleet import resource_summaries


@pytest.fixture
def world(server_client, prefix):
    return World(server_client, prefix)


def test_a_look_asks_for_a_bounded_number_of_agents_however_many_there_are(world, monkeypatch):
    """Breaks when a look walks over all of them: 100,000 agents would keep the server busy for seconds."""
    monkeypatch.setattr("om_api.ops.top.AMONG", 10)
    world.client.zadd(f"{world.prefix}:resources", {f"agent-{n:03}": n for n in range(500)})
    asked, ask = [], resource_summaries._summary
    monkeypatch.setattr(resource_summaries, "_summary", lambda *args: asked.append(args[-1]) or ask(*args))
    found = world.services.run(look(world.settings, "pressure", 5))

    assert (found.known, found.among, len(found.agents)) == (500, 10, 5)
    assert asked == [f"agent-{n}" for n in range(499, 489, -1)]
