"""All agents in pages: filled on the way, kept fresh by what changed, and read anew where they are shown."""

import pytest
from scene import trips
from world import World

from om_api.client.fleet import agents as module
from om_api.client.fleet.agent_table import COLUMNS
from om_api.domain.errors import InvalidInputError
from om_api.store.driver.partitions import learn


@pytest.fixture
def world(client, prefix, monkeypatch):
    monkeypatch.setattr(module, "FRESH_S", 0)
    return World(client, prefix)


@pytest.fixture
def three(world):
    for n, name in enumerate(("albert", "berta", "clara")):
        world.say(*["x"] * (n + 1), resource=name, tokens=100)
    world.settle()
    return world


def listed(world, index, **scores):
    """Write into an index, whatever parts it has."""
    world.services.run(learn(index.layout))
    for name, score in scores.items():
        world.client.zadd(index.of(name), {name: score})


def shown(world, **asked):
    return [agent.resource for agent in world.om.agents(**asked).items]


def test_all_agents_are_told_as_their_stats_say(three):
    found = three.om.agents()

    assert [agent.resource for agent in found.items] == ["clara", "berta", "albert"]
    assert (found.known, found.read, found.matching, found.complete, found.left_out) == (3, 3, 3, True, 0)
    for agent in found.items:
        stats = three.om.stats(agent.resource)
        same = set(agent.__struct_fields__) & set(stats.__struct_fields__) - {"lag"}
        assert {name: getattr(agent, name) for name in same} == {name: getattr(stats, name) for name in same}


def test_pages_follow_each_other_in_every_order(three):
    for column in COLUMNS:
        found, cursor = [], None
        while len(found) < 3:
            page = three.om.agents(sort=column, limit=1, cursor=cursor, descending=False)
            found += [agent.resource for agent in page.items]
            cursor = page.next
        assert (sorted(found), cursor) == (["albert", "berta", "clara"], None), column
        assert found == shown(three, sort=column, descending=False), column


def test_some_agents_are_told_without_a_word_of_the_others(three):
    three.om.pause("clara")
    found = three.om.agents(among=["albert", "clara", "nobody"])

    assert [agent.resource for agent in found.items] == ["clara", "albert"]
    assert (found.known, found.matching, found.read, sum(found.states.values())) == (2, 2, 2, 2)
    assert three.om.agents(among=[]).items == []
    assert shown(three, state="paused") == shown(three, search="cla") == ["clara"]


def test_hostile_names_and_broken_keys_break_no_page(three):
    keys = three.services.keys
    listed(three, keys.resources, **{"a b|c": 9, "<script>": 9, "x" * 5_000: 9})
    listed(three, keys.due_observe, **{"a|b|c": 2, "berta": float("-inf")})
    three.client.zadd(keys.resources.parts()[0], {b"\xff\xfe": 9})
    three.client.zadd(keys.due_observe.parts()[0], {b"\xff x": 1})
    three.client.hset(three.services.keys.of("berta").tokens, "*", "lots")
    three.client.hset(f"{three.prefix}:{{clara}}:record", "limits", '{"limits":{"message_threshold":%s}}' % ("9" * 400))

    found = three.om.agents(sort="resource", descending=False)
    assert [(agent.resource, agent.state) for agent in found.items] == [
        ("albert", "ok"), ("berta", "broken"), ("clara", "ok"),
    ]  # fmt: skip


def test_what_cannot_be_asked_is_refused_with_what_can(world):
    for asked, said in [
        ({"sort": "size"}, "pressure"), ({"state": "asleep"}, "quarantine"), ({"limit": 0}, "1 to 200"),
        ({"cursor": "x"}, "first page"), ({"among": ["x" * 201]}, "maximum 200"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match=said):
            world.om.agents(**asked)


def test_a_page_costs_the_same_few_round_trips_however_many_agents_there_are(world, monkeypatch):
    """Breaks when a page reads agent by agent, or all of them."""
    reader, counts = world.om._core.agents, []
    for agents in (60, 240):
        listed(world, world.services.keys.resources, **{f"agent-{n:03}": 1 for n in range(agents)})
        listed(world, world.services.keys.due_observe, **{"agent-000": 1})
        for n in range(agents):
            world.client.hset(world.services.keys.of(f"agent-{n:03}").tokens, "*", 5)
        world.services.run(reader.page(module.agent_query("pressure", None, "", None, 50, None, descending=True)))
        monkeypatch.setattr(module, "FRESH_S", 3_600)
        query = module.agent_query("pressure", None, "", None, 50, None, descending=True)
        found, made = world.services.run(trips(reader.page(query)))
        counts.append(made)
        assert len(found.items) == 50
        monkeypatch.setattr(module, "FRESH_S", 0)

    assert counts[0] == counts[1] <= 6
