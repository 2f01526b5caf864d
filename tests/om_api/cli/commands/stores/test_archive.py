"""`om archive`: how the archive is, a copy of it that can be gone on with, and rows of which nobody else knows."""

import json

import pytest
from world import World

from om_api.archive.opening import open_archive
from om_api.store.archiving import archivable
from om_workers.work.archiver import Archiver


@pytest.fixture
def url(here, monkeypatch):
    """The configured archive's address."""
    address = f"sqlite:///{here}/past.db"
    monkeypatch.setenv("OM_ARCHIVE__URL", address)
    return address


@pytest.fixture
def archived(client, prefix, url):
    """Harold's memory, whose past is archived."""
    house = World(client, prefix, archive__url=url, archive__after="0s")
    house.say(*[f"message {n}" for n in range(12)])
    house.settle()
    house.sweep()
    assert Archiver(house.services).round(10).archived
    yield house
    house.om.close()


@pytest.fixture
def own(archived, url):
    """The archive itself."""
    opened = open_archive(url)
    yield opened
    opened.close()


def told(om):
    """The audit trail's last word."""
    last = json.loads(om("audit", "--json").stdout.splitlines()[-1])
    return last["did"], last.get("of", "")


def test_without_an_archive_it_says_how_to_have_one(om):
    for words in (["status"], ["upgrade"], ["discard", "harold", "--yes"], ["copy", "sqlite:///other.db"]):
        result = om("archive", *words)

        assert result.exit_code == 1, words
        assert "set archive.url (OM_ARCHIVE__URL)" in result.stderr


def test_the_status_tells_what_is_archived_and_that_nothing_waits(archived, om, om_json, url, own):
    found = om_json("archive", "status")

    assert (found["url"], found["answers"], found["refusal"], found["failing_since"]) == (url, True, "", None)
    assert {name: found[name] for name in ("entries", "messages", "resources")} == {
        name: count for name, count in own.figures()._asdict().items() if name != "bytes"
    }
    assert found["messages"] > 0
    assert (found["due"], found["behind_ms"]) == (0, 0)
    assert "of this version" in om("archive", "status").stdout


def test_the_status_says_since_when_and_why_it_fails(world, om, url):
    world.services.run(archivable.failed(world.services.keys, "the disk is full"))
    told, shown = om("archive", "status", "--json"), om("archive", "status")
    found = json.loads(told.stdout)

    assert found["failing_since"] > 1_600_000_000_000
    assert (found["why"], found["answers"], found["entries"]) == ("the disk is full", False, None)
    assert "the disk is full" in shown.stdout
    assert "om doctor says what to do" in shown.stderr
    assert told.exit_code == shown.exit_code == 3


def test_an_upgrade_lays_out_what_is_empty_and_may_be_repeated(om, om_json, url):
    for _ in range(2):
        assert om("archive", "upgrade").stdout == "rest\n"

    assert om_json("archive", "status")["answers"]
    assert told(om) == ("archive_upgraded", url)


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


def test_a_memory_reads_the_same_from_the_copy(archived, om, own, here, client, prefix):
    other = f"sqlite:///{here}/other.db"
    names = [each.id for each in archived.om.observations("harold")]
    before = [archived.om.sources(name, "harold") for name in names]
    om("archive", "copy", other)
    own.remove("harold")
    moved = World(client, prefix, archive__url=other)

    assert [moved.om.sources(name, "harold") for name in names] == before
    assert any(before)


def test_a_password_on_the_command_line_is_shown_nowhere_and_advised_against(om, url):
    result = om("archive", "copy", "postgresql://om:hunter2@127.0.0.1:1/archive")

    assert result.exit_code == 3
    assert "hunter2" not in result.output
    assert "OM_ARCHIVE__URL" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["copy", "sqlite:///a.db", "sqlite:///a.db"], "the same archive"),
        (["copy", "a", "b", "c"], "FROM and TO"),
        (["copy", "mysql://somewhere/db"], "sqlite:///"),
    ],
)
def test_a_copy_that_makes_no_sense_is_refused(om, url, words, says):
    result = om("archive", *words)

    assert result.exit_code == 2
    assert says in result.stderr


def test_what_a_killed_clear_left_is_discarded(archived, om, om_json, own):
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


def test_where_both_agree_nothing_is_discarded(archived, om, own):
    result = om("archive", "discard", "harold", "--yes")

    assert result.exit_code == 1
    assert "nothing to give up" in result.stderr
    assert own.names("harold")


def test_what_the_archive_lost_is_given_up_and_the_rest_can_be_cleared_again(archived, om, own):
    """An archive of an older backup: until its owner gives up what it lacks, nothing there can be changed."""
    own.discard("harold", [max(own.names("harold"))])
    assert om("clear", "harold", "t-1", "--yes").exit_code == 3
    done = om("archive", "discard", "harold", "--yes")

    assert done.exit_code == 0
    assert om("clear", "harold", "--yes").exit_code == 0
    assert archived.om.verify() == []
    assert own.names("harold") == set()


def test_a_memory_of_which_redis_knows_the_archived_part_alone_is_not_discarded(archived, om, own):
    keys = archived.services.keys.of("harold")
    for key in archived.client.scan_iter(f"{archived.prefix}:{{harold}}:*"):
        if key.decode() != keys.archived:
            archived.client.delete(key)

    assert om("archive", "discard", "harold", "--yes").exit_code == 1
    assert own.names("harold")


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
