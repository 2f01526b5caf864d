"""A client without the YAML believes in resource scope, the workers in thread scope: its request stands for ever.

And a migration drops a request with the old record: the asker reads that as `activated` while the messages are raw.
"""

from world import SMALL, World

from om_api import ObservationalMemory, load_settings
from om_api.domain.values import Outcome


def _hurry(house, client):
    for name in client.zrange(house.services.keys.due_observe, 0, -1):
        client.zadd(house.services.keys.due_observe, {name: 1})


def test_a_request_made_before_the_scope_is_settled_is_answered(client, prefix):
    house = World(client, prefix, scope="thread")
    house.say("a", "b")
    om = ObservationalMemory(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), client=client)
    om.force_observe("t-1", "harold")
    for _ in range(6):
        _hurry(house, client)
        house.tick()
        house.sweep()
    records = client.scan_iter(f"{prefix}:{{harold}}:record*")
    assert [name for key in records for name in client.hkeys(key) if name.startswith(b"force")] == []


def test_a_migration_answers_no_request_whose_messages_are_raw(client, prefix):
    house = World(client, prefix)
    house.say("a", "b", thread="t-2")
    house.om.force_observe(None, "harold")
    house.settle()
    house.say("c", tokens=10)
    house.om.force_observe("t-1", "harold")
    assert house.om.migrate_scope("harold", "thread") is Outcome.ACTIVATED
    _hurry(house, client)
    house.settle()
    assert client.zcard(f"{prefix}:{{harold}}:messages:t-1") == 0
