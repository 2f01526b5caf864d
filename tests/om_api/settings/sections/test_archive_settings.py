"""Settings of the archive: its address without a secret, when things move there, how long they stay."""

import pytest
from configured import om

DAY = 86_400


def test_without_an_address_there_is_no_archive(folder):
    settings = folder.load()

    assert settings.archive_url is None
    assert settings.memory.retention_s == 90 * DAY


@pytest.mark.parametrize(
    ("keep", "seconds"),
    [("forever", 36_500 * DAY), ("2y", 730 * DAY), ("400d", 400 * DAY), ("36h", 1.5 * DAY)],
)
def test_keep_takes_the_place_of_ttl_days(folder, keep, seconds):
    settings = folder.load(OM_ARCHIVE__URL="sqlite:///a.db", OM_ARCHIVE__KEEP=keep, OM_TTL_DAYS="1")

    assert settings.memory.retention_s == seconds


def test_an_agent_keeps_its_past_for_less(folder):
    folder.settings("archive: {url: 'sqlite:///a.db', keep: forever}")
    folder.agent("harold", om("archive: {after: 1d, keep: 30d}"))
    own = folder.load().for_agent("harold")

    assert (own.archive.after, own.retention_s) == (DAY, 30 * DAY)


def test_an_agent_has_no_archive_of_its_own(folder):
    folder.agent("harold", om("archive: {url: 'sqlite:///b.db'}"))

    assert "archive.url holds for the whole system" in folder.load().problems[0].text


@pytest.mark.parametrize("url", ["sqlite://", "a.db", "mysql://h/db", "postgresql:///", "sqlite:///a b.db"])
def test_another_address_is_refused_with_what_is_permitted(folder, url):
    with pytest.raises(Exception, match=r"sqlite:///file\.db, sqlite:////a/whole/path\.db or postgresql://"):
        folder.load(OM_ARCHIVE__URL=url)


@pytest.mark.parametrize("keep", ["0d", "1h", "0y", "101y", "for ever", "-2y"])
def test_what_is_no_time_to_keep_is_refused(folder, keep):
    with pytest.raises(Exception, match="forever, years such as 2y, or a duration"):
        folder.load(OM_ARCHIVE__KEEP=keep)


def test_a_password_stands_in_no_file_and_is_shown_nowhere(folder):
    folder.settings("archive: {url: 'postgresql://om:hunter2@db/om'}")
    said = folder.refused()
    assert "archive.url holds a password, which no file may" in said
    assert "hunter2" not in said

    folder.settings("enabled: true")
    settings = folder.load(OM_ARCHIVE__URL="postgresql://om:hunter2@db/om")
    assert "hunter2" not in repr(settings.memory)
    assert "secret" not in settings.safe_url(settings.archive_url)


def test_the_password_comes_from_the_variable_that_is_named(folder):
    folder.settings("archive: {url: 'postgresql://om@db/om', password_env: DB_PASSWORD}")

    assert folder.load(DB_PASSWORD="s/1").archive_url == "postgresql://om:s%2F1@db/om"
    with pytest.raises(Exception, match="DB_PASSWORD, which is not set"):
        _ = folder.load().archive_url
