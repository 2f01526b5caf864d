"""P8: cost is proportional to work due. Activation costs O(chunks), not O(messages)."""

import pytest
import redis
from world import World

from om_api import ObservationalMemory
from om_api.client import recalling
from om_api.domain.values import Scope
from om_api.store.driver.scripts import load_all
from om_api.store.memory import decoding, scope_state
from om_workers.process.heartbeat import Heartbeat


def _commands(world):
    return {name: stat["calls"] for name, stat in world.client.info("commandstats").items()}


def _spent(before, after):
    return sum(calls - before.get(name, 0) for name, calls in after.items() if "info" not in name)


class Still(Heartbeat):
    """Never beats: its beats are commands too."""

    def _start(self):
        pass


@pytest.fixture
def world(private_server_url, prefix):
    """A house on a server that runs no command but ours, and has every script loaded: the first call of one costs more."""
    with redis.Redis.from_url(private_server_url) as client:
        for script in load_all().values():
            client.script_load(script.source)
        house = World(client, prefix, message_threshold="30000", observation_threshold="10000000")
        house.services = house.services._replace(heartbeat=Still(house.services.connection))
        yield house


def test_a_tick_with_nothing_due_runs_the_same_commands_for_one_agent_and_for_many(world):
    spent = []
    for agents in (1, 40):
        for n in range(agents):
            world.say("hello", resource=f"agent-{agents}-{n}")
        world.settle()
        before = _commands(world)
        world.claim()
        spent.append(_spent(before, _commands(world)))
    assert spent[0] == spent[1]


def test_activation_runs_as_many_commands_for_hundreds_of_messages_as_for_ten(world):
    spent = []
    for resource, messages in (("few", 10), ("many", 400)):
        world.say(*["x"] * messages, resource=resource, tokens=1)
        world.om.force_observe("t-1", resource)
        world.claim()
        world.perform(*world.next_task())
        world.observer()._observe_locked(Scope(resource), world.next_task()[2:])
        before = _commands(world)
        world.scope_worker().observe(resource)
        spent.append(_spent(before, _commands(world)))
        assert len(world.om.observations(resource)) == 1
    assert spent[0] == spent[1]


def _cost_of_a_backlog(world, resource, messages, threads, decoded):
    """(commands, decoded messages) of a look, a chunk and a context that a client reads for the first time."""
    for thread in range(threads):
        texts = [f"step {n} of thread {thread}" for n in range(messages // threads)]
        world.say(*texts, resource=resource, thread=f"t-{thread}", tokens=2_000)
    reader = ObservationalMemory(world.settings, client=world.client)

    def cost(step):
        before, already = _commands(world), len(decoded)
        came = step()
        return (_spent(before, _commands(world)), len(decoded) - already), came

    look, looked = cost(lambda: world.scope_worker().observe(resource, until=float("inf")))
    chunk, _ = cost(lambda: world.observer().observe_chunks(resource, *looked.chunks))
    context, came = cost(lambda: reader.get_context(resource_id=resource, thread_id="t-0"))
    assert 32 < len(world.om.chunks(resource)) <= 64
    assert threads > 1 or came.omitted > messages // 2
    return {"look": look, "chunk": chunk, "context": context}


@pytest.mark.parametrize("threads", [1, 30])
def test_a_backlog_of_twice_the_size_costs_a_look_a_chunk_and_a_context_no_more(world, monkeypatch, threads):
    """Catches reading or sealing a whole backlog: of what is decoded and asked, nothing grows with it."""
    parse, decoded = decoding.parse_member, []
    monkeypatch.setattr(decoding, "parse_member", lambda *args: decoded.append(1) or parse(*args))
    monkeypatch.setattr(scope_state, "_READ_WHOLE", 300)
    monkeypatch.setattr(recalling, "_MOST_RAW", 300)
    large = _cost_of_a_backlog(world, "large", 600, threads, decoded)
    larger = _cost_of_a_backlog(world, "larger", 1_200, threads, decoded)
    for name, cost in large.items():
        assert all(more <= 1.25 * less for more, less in zip(larger[name], cost, strict=True)), (name, large, larger)
