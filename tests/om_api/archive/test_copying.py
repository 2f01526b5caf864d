"""Copying: all of an archive, at its revisions and fences, from one kind of database into the other and back."""

import pytest
from archived import generation, messages, observations

from om_api.archive.copying import copy
from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.nightly)])
def target(request, tmp_path):
    """An empty one."""
    sqlite = f"sqlite:///{tmp_path}/other.db"
    opened = open_archive(sqlite if request.param == "sqlite" else request.getfixturevalue("postgres").empty_database())
    opened.prepare()
    yield opened
    opened.close()


def filled(archive):
    entries = [messages(f"c{n}", f"word{n}", resource=f"r-{n % 5}") for n in range(100)]
    entries += [observations(resource="r-1"), generation(resource="r-2")]
    archive.write(entries, {})
    archive.write([messages("c0", "zebra", resource="r-0")], {})
    archive.discard("r-3", [("source:c3", 1)])
    archive.fence("r-3")
    return archive


def everything(archive):
    """Of each resource its fence, and all rows, each read by its own revision."""
    return {name: (archive.fences([name]), rows(archive, name)) for name in archive.resources("", 100)}


def rows(archive, resource):
    return {row: archive.read(resource, dict([row])) for row in archive.names(resource)}


def test_all_of_it_arrives_with_its_revisions_and_fences(archive, target):
    told = []
    assert copy(filled(archive), target, lambda *numbers: told.append(numbers)) == 102
    assert everything(target) == everything(archive)
    assert target.figures()[:3] == archive.figures()[:3]
    assert {("source:c0", 1), ("source:c0", 2)} <= target.names("r-0")
    assert target.fences(["r-3"]) == archive.fences(["r-3"]) != {"r-3": 0}
    assert target.search("r-0", ["word5"], []) == {"source:c5"}
    assert target.search("r-0", ["zebra"], []) == target.search("r-0", ["word0"], []) == {"source:c0"}
    assert told[-1] == (102, 102)

    archive.write([messages("new", resource="r-4"), messages("c1", "other", resource="r-1")], {})
    assert copy(archive, target) == 2
    assert copy(archive, target) == 0
    assert everything(target) == everything(archive)


def test_a_row_that_stands_in_the_target_is_never_overwritten(archive, target):
    """Nobody can tell which content of one key is the right one, so an archive with a life of its own is no target."""
    filled(archive)
    theirs = messages("c0", "theirs", resource="r-0")
    target.write([theirs], {})
    copy(archive, target)
    found, wanted = everything(target), everything(archive)
    kept = found["r-0"][1].pop(("source:c0", 1))
    wanted["r-0"][1].pop(("source:c0", 1))

    assert kept == {"source:c0": theirs._replace(revision=1)}
    assert found == wanted


def test_what_does_not_arrive_is_told(archive, target, monkeypatch):
    filled(archive)
    monkeypatch.setattr(target, "take_over", lambda *_: None)

    with pytest.raises(
        ArchiveError, match="21 rows of r-0 did not arrive in the target, such as source:c0: copy again"
    ):
        copy(archive, target)
