"""The broker's address, and a channel that keeps its client."""

import pytest

from om_api import load_settings
from om_workers.app import app, make_app
from om_workers.tasks import broker


def test_sentinels_are_written_as_the_broker_wants_them():
    url, options = broker.address("redis+sentinel://u:p@a:1,b:2/shop/3")

    assert url == "sentinel://u:p@a:1/3;sentinel://u:p@b:2/3"
    assert options == {**broker.address("redis://h:1/0")[1], "master_name": "shop"}


@pytest.mark.parametrize("url", ["amqp://om:p@h//", "amqps://h/shop", "pyamqp://h//;pyamqp://i//"])
def test_queues_of_rabbitmq_are_kept_by_a_quorum_and_what_is_sent_is_confirmed(url):
    made = make_app(load_settings(environ={"OM_BROKER_URL": url}))
    app.set_default()

    assert {queue.queue_arguments["x-queue-type"] for queue in made.conf.task_queues} == {"quorum"}
    assert made.conf.broker_transport_options["confirm_publish"]
    assert "visibility_timeout" not in made.conf.broker_transport_options


def test_queues_of_redis_are_what_they_were():
    assert broker.queue_arguments("redis://h/0") is None
    assert broker.address("redis://h:1/0") == (
        "redis://h:1/0",
        {"visibility_timeout": 3600, "socket_timeout": 30, "socket_keepalive": True},
    )


@pytest.fixture
def channel(server_url):
    """A channel of our application to a real broker."""
    made = make_app(load_settings(environ={"OM_BROKER_URL": server_url}))
    app.set_default()
    with made.connection_for_write() as connection:
        yield connection.channel()
    made.close()


def test_a_channel_makes_one_client_for_all_that_it_says(channel):
    """Catches kombu's own way, which makes one for each take and ack: a large part of what a busy worker did."""
    with channel.conn_or_acquire() as first, channel.conn_or_acquire() as second:
        assert first is second
        assert first.ping()


def test_a_channel_whose_connections_are_gone_makes_another_client(channel):
    """Catches a client that goes on with the pool of before an outage."""
    with channel.conn_or_acquire() as before:
        channel._disconnect_pools()
    with channel.conn_or_acquire() as after:
        assert after is not before
        assert after.ping()


@pytest.mark.parametrize("url", ["redis://:**@h:1/0", "rediss://:**@h:1/2", "redis+sentinel://:**@a:1,b:2/shop/3"])
def test_addresses_read_as_before(url):
    """Catches a transport that is named in the address: Flower could not tell what broker it looks at."""
    made = make_app(load_settings(environ={"OM_BROKER_URL": url.replace("**", "s3cret")}))
    app.set_default()

    connection = made.connection()

    assert connection.as_uri() == broker.address(url)[0].split(";")[0]
    assert isinstance(connection.transport, broker.Transport | broker.SentinelTransport)
    made.close()
