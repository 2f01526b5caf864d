"""Addresses, what is loaded for them, and how long a server may take."""

import contextlib
import subprocess
import sys

import archived
import psycopg
import pytest

from om_api.archive import databases
from om_api.archive.bounded_connection import BinaryCursor, BoundedConnection
from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError


def test_an_address_is_shown_without_user_password_and_options():
    for url, shown in {
        "sqlite:////var/lib/om/archive.db": "in /var/lib/om/archive.db",
        "postgresql://om:geheim@db.example:5433/om?sslmode=require": "at db.example:5433/om",
        "postgresql://om:ge%40heim@db/om": "at db:5432/om",
        "postgresql:///om?host=/run/postgresql": "at /run/postgresql:5432/om",
    }.items():
        assert databases.shown(databases.address(url)) == shown


def test_what_is_written_to_a_file_that_was_taken_away_is_an_error_and_another_in_its_place_is_read_at_once(tmp_path):
    """Breaks when a connection that was open before goes on: what leaves Redis then is gone with it."""
    with contextlib.closing(open_archive(f"sqlite:///{tmp_path}/other.db")) as other:
        other.prepare()
        other.write([archived.messages("c2")], {"harold": 0})
    with contextlib.closing(open_archive(f"sqlite:///{tmp_path}/archive.db")) as archive:
        archive.prepare()
        archive.write([archived.messages("c1")], {"harold": 0})
        for left in tmp_path.glob("archive.db*"):
            left.unlink()

        with pytest.raises(ArchiveError, match="bring it back"):
            archive.write([archived.messages("c2")], {"harold": 0})
        with pytest.raises(ArchiveError, match="bring it back"):
            archive.read("harold", {"source:c1": 1})
        (tmp_path / "other.db").rename(tmp_path / "archive.db")
        assert archive.names("harold") == {("source:c2", 1)}


LIGHT = """
import sys, om_api, om_api.client
from om_api.archive import body, entries, opening, protocol, words
print(sorted({"sqlalchemy", "alembic", "psycopg"} & sys.modules.keys()))
"""
OPEN = "from om_api.archive.opening import open_archive; open_archive('sqlite:///nowhere/archive.db')"


@pytest.mark.nightly
def test_nothing_of_sql_is_loaded_before_an_archive_is_opened():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "[]\n"
    for package in ("sqlalchemy", "alembic", "psycopg"):
        code = f"import sys; sys.modules['{package}'] = None; " + OPEN
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert done.stderr.endswith(
            f"MissingExtraError: {package} is not installed: pip install 'cortex-om[archive]' brings it\n"
        )


@pytest.fixture
def connection(postgres):
    made = BoundedConnection.connect(postgres.url, autocommit=True, cursor_factory=BinaryCursor)
    yield made
    made.close()


@pytest.mark.nightly
def test_what_is_in_time_is_answered_and_bytes_come_as_they_are(connection):
    connection.answers_within(10)

    assert connection.execute("SELECT pg_sleep(0.3), '\\xff00'::bytea, 'a', 1").fetchone()[1:] == (b"\xff\x00", "a", 1)
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 1 / 0")
    assert not connection.closed
