"""A connection gives up on a server that says nothing, and is closed then; what answers in time is not disturbed."""

import time

import psycopg
import pytest

from om_api.archive.bounded_connection import BinaryCursor, BoundedConnection


@pytest.fixture
def connection(postgres):
    made = BoundedConnection.connect(postgres.url, autocommit=True, cursor_factory=BinaryCursor)
    yield made
    made.close()


def test_what_takes_too_long_ends_the_connection(connection, monkeypatch):
    monkeypatch.setattr("om_api.archive.bounded_connection._BESIDE_S", 0.2)
    connection.answers_within(0.1)
    began = time.monotonic()
    with pytest.raises(psycopg.OperationalError, match="the server does not answer"):
        connection.execute("SELECT pg_sleep(20)")

    assert time.monotonic() - began < 5
    assert connection.closed


def test_what_is_in_time_is_answered_and_bytes_come_as_they_are(connection):
    connection.answers_within(10)

    assert connection.execute("SELECT pg_sleep(0.3), '\\xff00'::bytea, 'a', 1").fetchone()[1:] == (b"\xff\x00", "a", 1)
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 1 / 0")
    assert not connection.closed
