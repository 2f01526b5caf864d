"""How many tasks wait in RabbitMQ: asked of a real one where it is installed, and what is said where none answers."""

import pytest
from rabbitmq import RabbitMQ, binary

from om_api.broker import rabbitmq
from om_api.domain.errors import StoreError

needs_rabbitmq = pytest.mark.skipif(not binary(), reason="RabbitMQ is not installed: apt-get install rabbitmq-server")


def test_an_address_is_read_as_celery_reads_it():
    for url, address in {
        "amqp://h": ("h:5672", "guest", "guest", "/", False),
        "amqp://u:p%40ss@h:1//": ("h:1", "u", "p@ss", "/", False),
        "amqps://u:p@h/shop": ("h:5671", "u", "p", "shop", True),
        "pyamqp://": ("127.0.0.1:5672", "guest", "guest", "/", False),
    }.items():
        assert rabbitmq.is_rabbitmq_url(url), url
        assert rabbitmq._address(url) == address
    for url in ("redis://h/0", "redis+sentinel://h/shop", "sqs://", ""):
        assert not rabbitmq.is_rabbitmq_url(url), url


def test_where_none_answers_it_is_told_where_and_no_password():
    with pytest.raises(StoreError, match="OM_BROKER_URL") as refused:
        rabbitmq.waiting("amqp://om:s3cret@127.0.0.1:1//;amqp://om:s3cret@127.0.0.1:2//", ["observe"])

    assert "127.0.0.1:2" in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.nightly
@needs_rabbitmq
@pytest.mark.timeout(180)
def test_what_waits_is_counted_and_a_queue_that_is_not_there_is_empty(tmp_path):
    with RabbitMQ(tmp_path) as broker:
        with rabbitmq.amqp.Connection(f"127.0.0.1:{broker.port}", "om", "loopback", confirm_publish=True) as connection:
            channel = connection.channel()
            channel.queue_declare("observe", durable=True, auto_delete=False, arguments={"x-queue-type": "quorum"})
            for _ in range(3):
                channel.basic_publish(rabbitmq.amqp.Message(b"task"), routing_key="observe")

        assert rabbitmq.waiting(broker.url, ["observe", "reflect"]) == {"observe": 3, "reflect": 0}
        assert rabbitmq.waiting(f"amqp://127.0.0.1:1//;{broker.url}", []) == {}
        with pytest.raises(StoreError, match="ACCESS_REFUSED"):
            rabbitmq.waiting(broker.url.replace("loopback", "guessed"), [])
