"""Which memory answers for a name: the stored scope wins, and thread scope wants a thread."""

import pytest

from om_api.client.reading import Scopes
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Scope


@pytest.fixture
def scopes(world):
    return Scopes(world.settings, world.services.keys)


@pytest.fixture
def world(client, prefix):
    from world import World

    return World(client, prefix)


def test_a_resource_has_one_scope_until_it_is_stored_otherwise(world, scopes):
    world.say("hello")
    one = world.services.run(scopes.every("harold"))
    world.client.set(world.services.keys.of("harold").scope, "thread")
    world.client.zadd(world.services.keys.of("harold").threads, {"t-1": 1, "t-2": 2})
    many = world.services.run(scopes.every("harold"))

    assert one == [Scope("harold")]
    assert many == [Scope("harold", "t-1"), Scope("harold", "t-2")]
    assert world.services.run(scopes.holding("harold", "t-2")) == [Scope("harold", "t-2")]
    assert world.services.run(scopes.of("harold", "t-2")) == Scope("harold", "t-2")


def test_in_thread_scope_a_thread_must_be_named(world, scopes):
    world.client.set(world.services.keys.of("harold").scope, "thread")

    with pytest.raises(InvalidInputError, match="harold keeps one memory a thread: name a thread_id"):
        world.services.run(scopes.one("harold", None))


def test_what_waits_for_adoption_is_looked_for_only_where_it_is_asked_for(client, prefix):
    """Breaks when stats look through the hints of everybody: they take as long as all agents together write."""
    from world import World

    world = World(client, prefix, scope="thread")
    world.say("hello")
    keys, scopes = world.services.keys, Scopes(world.settings, world.services.keys)
    client.zadd(keys.adopt, {keys.of("harold").messages("t-9"): 0})
    asked = []

    def noted(steps):
        reply = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            asked.extend(command[0] for command in getattr(step, "commands", []))
            reply = yield step

    assert world.services.run(noted(world.om._core.watching.stats("harold"))).threads == 1
    assert "ZSCAN" not in asked
    assert world.services.run(noted(scopes.every("harold"))) == [Scope("harold", "t-1")]
    assert "ZSCAN" not in asked
    hinted = world.services.run(noted(scopes.every("harold", hinted=True)))
    assert (hinted, "ZSCAN" in asked) == ([Scope("harold", "t-1"), Scope("harold", "t-9")], True)


@pytest.mark.parametrize(("said", "shown"), [("2025-11-21T09:30:00Z", 1_763_717_400_000), ("2099-01-01", None)])
def test_a_thread_tells_of_its_last_message_before_any_worker_looked(world, said, shown):
    """Catches a last message of days ago in a thread that has gone on: the index of threads is the workers' to keep."""
    world.say("one", timestamp="2025-11-20T09:30:00Z")
    world.settle()
    before = world.om.ping()
    world.say("two", timestamp=said)
    (thread,) = world.om.threads("harold")

    assert thread.at == shown or before <= thread.at <= world.om.ping()


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_what_is_raw_of_a_thread_can_be_read_in_either_scope(client, prefix, scope):
    from world import World

    world = World(client, prefix, scope=scope)
    world.say("one", "two", thread="t-1")
    world.say("else", thread="t-2")

    assert [message.content for message in world.om.messages("harold", "t-1")] == ["one", "two"]
    assert world.om.messages("harold", "t-3") == []


def test_no_name_is_no_thread(world):
    with pytest.raises(InvalidInputError, match="thread_id"):
        world.om.messages("harold", "")
