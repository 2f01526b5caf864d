"""`om queues`: what waits in the broker and in the indexes, and who works it off."""

import time

import pytest
import redis

from om_api.store.fleet import presence
from om_api.store.fleet.presence import Ticked
from om_workers.process.presence import Presence


@pytest.fixture
def broker(server_url, prefix, monkeypatch):
    """A broker's database of the test's own."""
    url = server_url.rsplit("/", 1)[0] + f"/{1 + abs(hash(prefix)) % 15}"
    monkeypatch.setenv("OM_BROKER_URL", url)
    with redis.Redis.from_url(url) as queues:
        queues.delete("ticks", "observe", "reflect", "maintenance", "unacked")
        yield queues
        queues.delete("observe", "unacked")


def test_queues_indexes_ticks_and_workers_are_shown_together(om, om_json, world, broker):
    now, run = int(time.time() * 1000), world.services.run
    broker.lpush("observe", "task", "task")
    broker.hset("unacked", "tag", "task")
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": now - 9_000, "albert": now + 60_000})
    run(presence.ticked(world.services.keys, "observer", Ticked(at=now - 4_000, interval=10)))
    worker = Presence(world.services.connection, world.services.keys)
    worker.serve(["reflect", "observe"], 32)
    worker.renew(30)
    found = om_json("queues")

    assert {queue["name"]: (queue["tasks"], queue["workers"]) for queue in found["queues"]} == {
        "ticks": (0, 0),
        "observe": (2, 1),
        "reflect": (0, 1),
        "maintenance": (0, 0),
    }
    assert found["unacked"] == 1
    observe = found["due"][0]
    assert (observe["name"], observe["due"], observe["waiting"]) == ("observe", 1, 1)
    assert 9 <= observe["oldest"] < 600
    assert {tick["name"]: tick["interval"] for tick in found["ticks"]} == {
        "observer": 10,
        "reflector": None,
        "webhooks": None,
        "sweep": None,
    }
    assert found["workers"][0]["queues"] == ["observe", "reflect"]
    assert "observe, reflect" in om("queues").stdout


def test_a_broker_that_cannot_be_asked_is_said_and_the_rest_is_shown(om, world, monkeypatch):
    for broker, says in (("sqs://", "neither Redis nor RabbitMQ"), ("amqp://om:s3cret@127.0.0.1:1//", "OM_BROKER_URL")):
        monkeypatch.setenv("OM_BROKER_URL", broker)
        result = om("queues")

        assert result.exit_code == 0
        assert says in result.stderr
        assert "s3cret" not in result.stderr
        assert "observer" in result.stdout
