"""`om archive`: how the archive is, a copy of it that can be gone on with, and rows of which nobody else knows."""

import json

import pytest
from world import World

from om_api.archive.opening import open_archive
from om_api.store.archiving import archivable
from om_workers.work.archiver import Archiver


@pytest.fixture
def url(here, monkeypatch):
    address = f"sqlite:///{here}/past.db"
    monkeypatch.setenv("OM_ARCHIVE__URL", address)
    return address


@pytest.fixture
def archived(client, prefix, url):
    house = World(client, prefix, archive__url=url, archive__after="0s")
    house.say(*[f"message {n}" for n in range(12)])
    house.settle()
    house.sweep()
    assert Archiver(house.services).round(10).archived
    yield house
    house.om.close()


@pytest.fixture
def own(archived, url):
    opened = open_archive(url)
    yield opened
    opened.close()


def told(om):
    last = json.loads(om("audit", "--json").stdout.splitlines()[-1])
    return last["did"], last.get("of", "")


def test_without_an_archive_it_says_how_to_have_one(om):
    for words in ("status", "upgrade", "discard harold --yes", "copy sqlite:///other.db"):
        result = om("archive", *words.split())
        assert (result.exit_code, "set archive.url (OM_ARCHIVE__URL)" in result.stderr) == (1, True), words


def test_the_status_says_since_when_and_why_it_fails_and_an_upgrade_lays_it_out(world, om, url):
    world.services.run(archivable.failed(world.services.keys, "the disk is full"))
    shown, as_json = om("archive", "status"), om("archive", "status", "--json")
    found = json.loads(as_json.stdout)
    assert (found["why"], found["answers"], found["entries"]) == ("the disk is full", False, None)
    assert found["failing_since"] > 1_600_000_000_000
    assert ("the disk is full" in shown.stdout, "om doctor says what to do" in shown.stderr) == (True, True)
    assert as_json.exit_code == shown.exit_code == 3
    for _ in range(2):
        assert om("archive", "upgrade").stdout == "rest\n"
    assert json.loads(om("archive", "status", "--json").stdout)["answers"]
    assert told(om) == ("archive_upgraded", url)
    for words, code, says in (("copy sqlite:///a.db sqlite:///a.db", 2, "the same archive"),
                              ("copy mysql://somewhere/db", 2, "sqlite:///"),
                              ("copy postgresql://om:hunter2@127.0.0.1:1/archive", 3, "OM_ARCHIVE__URL")):  # fmt: skip
        refused = om("archive", *words.split())
        assert (refused.exit_code, says in refused.stderr, "hunter2" in refused.output) == (code, True, False), words


def test_a_copy_holds_all_that_was_archived_and_a_second_one_copies_nothing(archived, om, om_json, own, here):
    other = f"sqlite:///{here}/other.db"
    first, again = om("archive", "copy", other), om_json("archive", "copy", other)
    copied = open_archive(other)
    assert first.exit_code == 0
    assert f"{own.figures().entries} entr" in first.stdout
    assert "3. Copy once more" in first.stderr
    assert again["copied"] == 0
    assert copied.names("harold") == own.names("harold") != set()
    assert told(om) == ("archive_copied", other)


def test_what_a_killed_clear_left_is_discarded(archived, om, own):
    for key in archived.client.scan_iter(f"{archived.prefix}:{{harold}}:*"):
        archived.client.delete(key)
    declined = om("archive", "discard", "harold", stdin="n\n")
    before = len(own.names("harold"))
    done = om("archive", "discard", "harold", "--yes")
    assert declined.exit_code == 2
    assert before > 0
    assert (done.stdout, own.names("harold")) == ("cleared\n", set())
    assert told(om) == ("archive_discarded", "")
    assert om("archive", "discard", "harold", "--yes").exit_code == 1


def test_what_the_archive_lost_is_given_up_and_the_rest_can_be_cleared_again(archived, om, own):
    """An archive of an older backup: until its owner gives up what it lacks, nothing there can be changed."""
    own.discard("harold", [max(own.names("harold"))])
    assert om("clear", "harold", "t-1", "--yes").exit_code == 3
    done = om("archive", "discard", "harold", "--yes")
    assert done.exit_code == 0
    assert om("clear", "harold", "--yes").exit_code == 0
    assert archived.om.verify() == []
    assert own.names("harold") == set()


def test_commands_that_read_the_past_say_that_the_archive_is_away_and_show_what_there_is(
    archived, om, monkeypatch, here
):
    (name, *_) = [each.id for each in archived.om.observations("harold")]
    whole = {words: om(*words).stderr for words in (("recall", "harold", "message"), ("sources", "harold", name))}
    monkeypatch.setenv("OM_ARCHIVE__URL", f"sqlite:///{here}/nowhere/past.db")
    cut = {words: om(*words) for words in (*whole, ("history", "harold"))}
    assert not any("partial" in text for text in whole.values())
    assert {result.exit_code for result in cut.values()} == {0}
    assert "partial: what was archived is not shown" in cut["recall", "harold", "message"].stderr
    assert "partial: what was archived is not shown" in cut["sources", "harold", name].stderr
    assert "have expired" not in cut["sources", "harold", name].stderr
