"""All agents in pages: filled on the way, kept fresh by what changed, and read anew where they are shown."""

import pytest
from scene import trips
from world import World

from om_api.client.fleet import agents as module
from om_api.client.fleet.agent_table import COLUMNS
from om_api.domain.errors import InvalidInputError
from om_api.store.driver.partitions import learn
from om_api.store.fleet import resource_index


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


def only(world, name):
    (agent,) = world.om.agents(search=name).items
    return agent


def test_all_agents_are_told_as_their_stats_say(three):
    found = three.om.agents()

    assert [agent.resource for agent in found.items] == ["clara", "berta", "albert"]
    assert (found.known, found.read, found.matching, found.complete, found.left_out) == (3, 3, 3, True, 0)
    for agent in found.items:
        stats = three.om.stats(agent.resource)
        same = set(agent.__struct_fields__) & set(stats.__struct_fields__) - {"lag"}
        assert {name: getattr(agent, name) for name in same} == {name: getattr(stats, name) for name in same}


@pytest.mark.parametrize("column", COLUMNS)
def test_pages_follow_each_other_in_every_order(three, column):
    found, cursor = [], None
    while True:
        page = three.om.agents(sort=column, limit=1, cursor=cursor, descending=False)
        found += [agent.resource for agent in page.items]
        if (cursor := page.next) is None:
            break

    assert sorted(found) == ["albert", "berta", "clara"]
    assert found == shown(three, sort=column, descending=False)


def test_what_is_shown_is_as_it_is_now_whatever_the_table_holds(three, monkeypatch):
    shown(three)
    monkeypatch.setattr(module, "FRESH_S", 3_600)
    three.say("more", resource="albert", tokens=50)
    three.om.pause("berta")

    assert only(three, "albert").message_tokens == three.om.stats("albert").message_tokens
    assert (only(three, "berta").state, only(three, "berta").paused) == ("paused", True)


def test_the_last_message_is_told_before_any_worker_has_met_it(three):
    (before,) = three.om.agents(search="albert").items
    three.say("more", resource="albert", tokens=1, timestamp=before.at + 1)

    assert only(three, "albert").at == before.at + 1


def test_an_agent_that_was_removed_is_counted_no_more(three):
    shown(three)
    three.om.clear("berta")
    listed(three, three.services.keys.resources, berta=1)  # as whoever looks at what is left of it does
    found = three.om.agents()

    assert (found.matching, found.known, found.read) == (2, 2, 2)


def test_a_paused_agent_is_found_by_its_state(three):
    shown(three)
    three.om.pause("berta")
    shown(three)

    assert shown(three, state="paused") == ["berta"]
    assert three.om.agents(state="paused").states["paused"] == 1


def test_agents_that_come_later_are_found_by_what_changed(three, monkeypatch):
    shown(three)
    monkeypatch.setattr(module.AgentReader, "_go_on", lambda *_: iter(()))  # no walk finds them
    three.say("hello", resource="dora")
    three.settle()

    assert shown(three, search="dora") == ["dora"]


def test_a_cleared_agent_is_shown_no_more_although_its_name_is_still_in_the_index(three):
    shown(three)
    three.om.clear("berta")

    assert shown(three) == ["clara", "albert"]
    assert three.om.agents().matching == 2


def test_an_agent_whose_name_left_the_index_leaves_the_table_though_no_event_tells(three):
    shown(three)
    keys = three.services.keys
    three.client.unlink(*three.client.scan_iter(f"{keys.of('clara').base}:*"))
    three.services.run(resource_index.let_go(keys, "clara"))
    three.om.agents(state="stopped")  # shows nobody, so that nobody is read; the count says that one is gone

    assert three.om.agents(state="stopped").states["ok"] == 2


@pytest.mark.one_server  # several parts give more to begin with
def test_a_walk_goes_on_with_each_look_and_the_answer_says_how_far_it_is(world, monkeypatch):
    monkeypatch.setattr(module, "FIRST", 2)
    monkeypatch.setattr(module, "_SLICE", 2)
    listed(world, world.services.keys.resources, **{f"agent-{n:03}": n + 1 for n in range(40)})
    for n in range(40):
        world.say("x", resource=f"agent-{n:03}", tokens=n + 1)
    asked = iter([(7, ["agent-001", "agent-002"]), (0, [f"agent-{n:03}" for n in range(40)])])

    def slice_of(*_):
        yield from ()
        return next(asked)

    monkeypatch.setattr(module.keyspace_scan, "some_resources", slice_of)
    monkeypatch.setattr(module.resource_summaries, "changed", lambda *_: slice_of_nothing())
    first, second = world.om.agents(), world.om.agents()

    assert (first.known, first.read < 10, first.complete) == (40, True, False)
    assert (second.known, second.read, second.complete) == (40, 40, True)
    assert first.items[0].resource == "agent-039"


def slice_of_nothing():
    yield from ()
    return 40, []


def test_of_more_agents_than_a_table_holds_the_newest_are_told_and_how_many_are_left_out(world, monkeypatch):
    monkeypatch.setattr(module, "AGENTS", 3)
    for n in range(6):
        world.say("x", resource=f"agent-{n}", at=1_000 + n)
        world.client.zadd(world.services.keys.of(f"agent-{n}").threads, {"t-1": 1_000 + n})
    world.settle()
    for _ in range(2):
        found = world.om.agents(sort="activity")

    assert (found.known, found.read, found.left_out) == (6, 3, 3)
    assert all(agent.at >= 1_003 for agent in found.items)


def test_some_agents_are_told_without_a_word_of_the_others(three):
    found = three.om.agents(among=["albert", "clara", "nobody"])

    assert [agent.resource for agent in found.items] == ["clara", "albert"]
    assert (found.known, found.matching, found.read, sum(found.states.values())) == (2, 2, 2, 2)
    assert three.om.agents(among=[]).items == []
    assert (
        three.om.agents(
            among=["albert", "clara"], limit=1, cursor=three.om.agents(among=["albert", "clara"], limit=1).next
        )
        .items[0]
        .resource
        == "albert"
    )


def test_hostile_names_and_broken_keys_break_no_page(three):
    keys = three.services.keys
    listed(three, keys.resources, **{"a b|c": 9, "<script>": 9, "x" * 5_000: 9})
    listed(three, keys.due_observe, **{"a|b|c": 2, "berta": float("-inf")})
    three.client.zadd(keys.resources.parts()[0], {b"\xff\xfe": 9})
    three.client.zadd(keys.due_observe.parts()[0], {b"\xff x": 1})
    three.client.hset(three.services.keys.of("berta").tokens, "*", "lots")

    found = three.om.agents(sort="resource", descending=False)
    assert [(agent.resource, agent.state) for agent in found.items] == [
        ("albert", "ok"),
        ("berta", "broken"),
        ("clara", "ok"),
    ]


def test_a_budget_of_all_that_is_used_up_is_told(client, prefix):
    world = World(client, prefix, total_budget__calls_per_day="0")

    assert world.om.agents().budget_reached == "total_budget.calls_per_day"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sort": "size"}, "pressure"),
        ({"state": "asleep"}, "quarantine"),
        ({"limit": 0}, "1 to 200"),
        ({"cursor": "x"}, "first page"),
        ({"among": ["a b"]}, "resource_id"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(world, asked, said):
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


def test_reading_on_fills_the_table_only_for_whoever_asked(three):
    reader = three.om._core.agents
    assert three.services.run(reader.read_on()) is False
    assert len(reader._table) == 0

    shown(three)
    three.say("hello", resource="dora")
    three.settle()
    assert three.services.run(reader.read_on()) is False  # all is read
    assert "dora" in reader._table
