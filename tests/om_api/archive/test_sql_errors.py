"""Faults: each is an ArchiveError that says what to do, without a password and without anything that is kept."""

import contextlib
import os
import re
import sqlite3
import subprocess
import sys
import threading

import psycopg
import pytest
from archived import messages
from postgres import Postgres
from sqlalchemy import event

from om_api.archive.opening import open_archive
from om_api.archive.sql_errors import told
from om_api.domain.errors import ArchiveError

SECRET = "a very blue passport"


@pytest.fixture
def opened():
    """Opens archives that are closed behind the test."""
    with contextlib.ExitStack() as stack:

        def make(url, timeout_s=1.0):
            archive = open_archive(url, timeout_s)
            stack.callback(archive.close)
            return archive

        yield make


def refusal(call, *args):
    with pytest.raises(ArchiveError) as refused:
        call(*args)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
    return str(refused.value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "archive.db"


@pytest.fixture
def file(path, opened):
    archive = opened(f"sqlite:///{path}")
    archive.prepare()
    return archive


def test_a_full_disk_is_told_and_what_was_there_is_still_there(file):
    file.write([messages("c1", "kept")], {})
    pages = file.figures().bytes // 4_096

    @event.listens_for(file._engine(), "checkout")
    def no_more(connection, *_):
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")

    said = refusal(file.write, [messages("c2", *[f"{SECRET} {n}" * 50 for n in range(200)])], {})

    assert re.search("its disk is full: make room; .* Redis keeps what is due", said)
    assert SECRET not in said
    assert file.names("harold") == {("source:c1", 1)}
    assert file.search("harold", ["passport"], []) == set()


def test_writers_wait_for_a_lock_only_so_long_and_readers_not_at_all(file, path, opened):
    file.write([messages()], {})
    other = opened(f"sqlite:///{path}", 0.3)
    other.check()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert "it is locked by others" in refusal(other.write, [messages("c2")], {})
        assert opened(f"sqlite:///{path}", 0.1).names("harold") == {("source:c1", 1)}
    assert other.write([messages("c2")], {}) == {("harold", "source:c2"): 1}


def test_a_file_that_is_no_database_or_is_not_there(tmp_path, path, opened):
    refusal(opened(f"sqlite:///{path}").check)
    assert not path.exists()  # reading makes no file
    path.write_bytes(SECRET.encode() * 1_000)
    archive = opened(f"sqlite:///{path}")
    for call in (archive.check, archive.prepare, archive.upgrade):
        said = refusal(call)
        assert "it is no database of this archive: correct the address, or restore a backup (SQLITE_NOTADB)" in said
        assert str(path) in said
    assert path.read_bytes() == SECRET.encode() * 1_000
    assert "the archive in" in refusal(opened(f"sqlite:///{path}/archive.db").prepare)


def test_its_file_is_synced_and_readable_by_its_owner_only(file, path):
    file.write([messages()], {})
    names = ("archive.db", "archive.db-wal", "archive.db-shm")
    assert {each.name: oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()} == dict.fromkeys(
        names, "0o600"
    )
    with file._engine().connect() as connection:
        for setting, value in (("synchronous", 2), ("journal_mode", "wal"), ("secure_delete", 1)):
            assert connection.exec_driver_sql(f"PRAGMA {setting}").scalar() == value, setting


WRITER = """
import sys
from archived import messages
from om_api.archive.opening import open_archive
archive = open_archive(sys.argv[1], 20.0)
n = 0
while True:
    archive.write([messages(f"c{n}", "passport")], {})
    print(n, flush=True)
    n += 1
"""


@pytest.mark.nightly
def test_what_was_acknowledged_outlives_a_kill(file, path):
    own = subprocess.Popen(
        [sys.executable, "-c", WRITER, f"sqlite:///{path}"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    said = [int(own.stdout.readline()) for _ in range(20)]
    own.kill()
    own.communicate()
    names = {name for name, _ in file.names("harold")}

    assert {f"source:c{n}" for n in said} <= names
    assert file.search("harold", ["passport"], []) == names


@pytest.mark.nightly
def test_an_address_that_is_not_let_in(postgres, opened):
    unknown = "it does not know this user or password"
    for part, instead, why in (
        ("om:loopback", "om:geheim", unknown),
        ("om:loopback", "nobody:geheim", unknown),
        ("/postgres", "/nowhere", "there is no such database: create it"),
    ):
        said = refusal(opened(postgres.url.replace(part, instead)).check)
        assert why in said
        assert "geheim" not in said
        assert "loopback" not in said


def test_a_server_that_is_not_there(opened):
    said = refusal(opened("postgresql://om:geheim@127.0.0.1:1/db").prepare)
    assert said.startswith("the archive at 127.0.0.1:1/db: it cannot be reached: start the server")
    assert "geheim" not in said


@pytest.mark.nightly
def test_a_user_or_a_server_that_may_not_write_is_told(postgres, opened):
    url = postgres.empty_database()
    opened(url).prepare()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'loopback'")
        connection.execute("GRANT SELECT ON om_version, om_entries, om_fences TO guest")
    guest = opened(url.replace("om:", "guest:"))
    standby = opened(f"{url}?options=-c%20default_transaction_read_only%3Don")

    assert guest.names("harold") == set()
    grant = "it does not let this user do that: grant what docs/archive.md lists"
    assert grant in refusal(guest.write, [messages()], {})
    assert "it is a standby, or set to read only" in refusal(standby.write, [messages()], {})


@pytest.mark.nightly
def test_a_lock_of_postgres_is_waited_for_only_so_long(postgres, opened):
    url = postgres.empty_database()
    archive = opened(url, 0.3)
    archive.prepare()
    with psycopg.connect(url) as holder:
        holder.execute("LOCK om_entries")
        for call in ((archive.names, "harold"), (archive.write, [messages("c1", SECRET)], {})):
            assert "it is locked by others, or too slow" in refusal(*call)
    assert archive.names("harold") == set()


@pytest.mark.nightly
def test_a_database_of_another_encoding(postgres, opened):
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS latin")
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    said = refusal(opened(postgres.url.replace("/postgres", "/latin")).prepare)

    assert "its encoding is LATIN1: create a database with ENCODING 'UTF8'" in said


@pytest.mark.nightly
def test_a_server_that_is_paused_or_crashes_loses_nothing_that_was_acknowledged(tmp_path, opened):
    with Postgres(tmp_path) as server:
        archive = opened(server.empty_database(), 0.5)
        archive.prepare()
        archive.write([messages("c1", "passport")], {})
        server.pause()
        try:
            assert "it cannot be reached" in refusal(archive.names, "harold")  # after the timeout
        finally:
            server.go_on()
        assert archive.write([messages("c2", "bag")], {}) == {("harold", "source:c2"): 1}
        server.kill()
        assert "it cannot be reached" in refusal(archive.names, "harold")
        server.start()
        assert archive.names("harold") == {("source:c1", 1), ("source:c2", 1)}
        assert archive.search("harold", ["passport"], []) == {"source:c1"}


def test_more_calls_than_connections_wait_and_are_told(archive, url, opened):
    few = opened(url, 0.3)
    few.check()
    entered, leave = threading.Barrier(6), threading.Event()

    def hold():
        with few._begun():
            entered.wait(10)
            leave.wait(10)

    holders = [threading.Thread(target=hold) for _ in range(5)]
    for each in holders:
        each.start()
    entered.wait(10)
    said = refusal(few.names, "harold")
    leave.set()
    for each in holders:
        each.join(10)

    assert "all connections of this process are in use: try again" in said


def test_nothing_of_what_a_driver_says_is_repeated():
    for error in (sqlite3.ProgrammingError(SECRET), psycopg.DataError(SECRET), OSError(5, SECRET)):
        with pytest.raises(ArchiveError) as refused, told("here"):
            raise error
        assert SECRET not in str(refused.value)
    with pytest.raises(ZeroDivisionError), told("here"):  # no fault of the database
        raise ZeroDivisionError
