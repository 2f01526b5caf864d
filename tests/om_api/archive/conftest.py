"""An archive in a file of SQLite's, and again in a database of Postgres'."""

import pytest
from sqlalchemy import create_engine, make_url, text

from om_api.archive.opening import open_archive


@pytest.fixture
def url(archive_url):
    """The address of an archive that nobody has laid out."""
    return archive_url


@pytest.fixture
def archive(url):
    """One that is laid out."""
    opened = open_archive(url)
    opened.prepare()
    yield opened
    opened.close()


@pytest.fixture
def sql(url):
    """What somebody does with SQL of his own; returns the rows of a question."""
    address = make_url(url)
    own = create_engine(address.set(drivername=address.drivername.replace("postgresql", "postgresql+psycopg")))

    def run(statement):
        with own.begin() as connection:
            done = connection.execute(text(statement))
            return [tuple(row) for row in done] if done.returns_rows else []

    yield run
    own.dispose()
