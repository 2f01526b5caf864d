"""Addresses: what is shown of them, and what a server is told of how long anything may take."""

import contextlib

import archived
import pytest
from sqlalchemy import make_url

from om_api.archive import databases
from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:////var/lib/om/archive.db", "in /var/lib/om/archive.db"),
        ("sqlite:///archive.db", "in archive.db"),
        ("postgresql://om:geheim@db.example:5433/om?sslmode=require", "at db.example:5433/om"),
        ("postgresql://om:ge%40heim@db/om", "at db:5432/om"),
        ("postgresql:///om?host=/run/postgresql", "at /run/postgresql:5432/om"),
    ],
)
def test_an_address_is_shown_without_user_password_and_options(url, shown):
    assert databases.shown(databases.address(url)) == shown


def test_a_path_may_have_any_sign(tmp_path):
    url = make_url("sqlite://").set(database=f"{tmp_path}/a b?c#d%41/archive.db")
    databases.make_file(url, 1.0)
    databases.make_file(url, 1.0)
    own = databases.engine(url, 1.0)
    with own.begin() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    own.dispose()

    assert (tmp_path / "a b?c#d%41" / "archive.db").exists()


def test_what_is_written_to_a_file_that_was_taken_away_is_an_error(tmp_path):
    """Breaks when a connection that was open before goes on: what leaves Redis then is gone with it."""
    path = tmp_path / "archive.db"
    with contextlib.closing(open_archive(f"sqlite:///{path}")) as archive:
        archive.prepare()
        archive.write([archived.messages("c1")], {"harold": 0})
        for left in tmp_path.glob("archive.db*"):
            left.unlink()

        with pytest.raises(ArchiveError, match="bring it back"):
            archive.write([archived.messages("c2")], {"harold": 0})
        with pytest.raises(ArchiveError, match="bring it back"):
            archive.read("harold", {"source:c1": 1})


def test_another_file_in_its_place_is_read_at_once(tmp_path):
    with contextlib.closing(open_archive(f"sqlite:///{tmp_path}/archive.db")) as archive:
        archive.prepare()
        with contextlib.closing(open_archive(f"sqlite:///{tmp_path}/other.db")) as other:
            other.prepare()
            other.write([archived.messages("c2")], {"harold": 0})
        for left in tmp_path.glob("archive.db*"):
            left.unlink()
        (tmp_path / "other.db").rename(tmp_path / "archive.db")

        assert archive.names("harold") == {("source:c2", 1)}


def test_a_server_is_told_how_long_to_wait_and_options_of_the_address_stay(postgres):
    own = databases.engine(make_url(f"{postgres.url}?options=-c%20work_mem%3D5MB&application_name=om"), 2.5)
    with own.begin() as connection:
        found = {
            name: connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("statement_timeout", "lock_timeout", "work_mem", "application_name")
        }
    own.dispose()

    assert found == {
        "statement_timeout": "2500ms",
        "lock_timeout": "2500ms",
        "work_mem": "5MB",
        "application_name": "om",
    }
