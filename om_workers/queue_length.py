"""How many tasks wait in a queue of ours, as a broker of any make says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kombu.exceptions import OperationalError

if TYPE_CHECKING:
    from celery import Celery


def queue_length(app: Celery, queue: str) -> int:
    """How many tasks wait that no worker has taken; 0 while the broker cannot be asked: whoever sends one says what is wrong.

    Each time over a connection of its own: a channel that lived through an outage of the broker may stay broken until
    something is published on it.
    """
    with app.connection_for_write() as connection:
        try:
            return int(app.amqp.queues[queue].bind(connection.channel()).queue_declare().message_count)
        except (OperationalError, *connection.connection_errors, *connection.channel_errors):
            return 0
