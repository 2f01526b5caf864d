"""A full store or a replica refuses the activation (or the urgent mark) that a read makes on the way: the read fails too."""

import pytest
import redis
from world import World

from om_api.store.driver.connection import Connection
from om_api.store.driver.step_driver import Endpoint


class Full(Endpoint):
    """One that answers every read and refuses every write."""

    def ask(self, step):
        if getattr(step, "writes", True) and not hasattr(step, "seconds"):
            raise redis.exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'.")
        return super().ask(step)


def full(client):
    connection = Connection(client)
    connection._endpoint = Full(**vars(connection._endpoint))
    return connection


@pytest.fixture
def house(client, prefix):
    house = World(client, prefix)
    house.say(*(f"m{n}" for n in range(8)))
    house.settle()
    return house


def test_a_context_is_served_though_its_activation_is_refused(house, client):
    house.say("m8", "m9", "m10", tokens=90)  # the window is full, four chunks are ready
    house.om._connection = full(client)
    assert len(house.context().messages) == 11


def test_a_context_is_served_though_its_urgent_mark_is_refused(house, client):
    house.om._connection = full(client)
    assert house.context(max_tokens=1).omitted
