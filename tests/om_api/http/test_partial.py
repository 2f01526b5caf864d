"""Where the archive does not answer, what can be read is answered, and `partial` says why there may be more."""

import pytest
from served import settings_of
from world import World

from om_workers.work.archiver import Archiver

HAROLD = "/v1/resources/harold"


@pytest.fixture
def file(tmp_path):
    """The archive."""
    return tmp_path / "past.db"


@pytest.fixture
def settings(settings, file):
    return settings_of(settings, archive__url=f"sqlite:///{file}")


@pytest.fixture
def world(client, prefix, file):
    made = World(client, prefix, archive__url=f"sqlite:///{file}", archive__after="0s")
    yield made
    made.om.close()


def test_while_it_does_not_answer_every_answer_that_lacks_something_says_so(full, world, ask, file):
    (replaced, *_) = world.om.generations("harold")[-1].observation_ids
    (first, *_) = world.om.sources(replaced, "harold")
    world.sweep()
    assert Archiver(world.services).round(10).archived
    paths = {
        "recall": "recall?q=about", "around": "messages/a-19/around?before=30",
        "sources": f"observations/{replaced}/messages", "replaced": "reflections/1/observations",
        "archived": f"messages/{first.id}/around",
    }  # fmt: skip
    found = {name: ask("GET", f"{HAROLD}/{path}").json() for name, path in paths.items()}
    assert not any("partial" in answer for answer in found.values())
    assert found["sources"]["items"]

    file.unlink()
    file.mkdir()
    answers = {name: ask("GET", f"{HAROLD}/{path}") for name, path in paths.items()}
    gone = answers.pop("archived")
    for name, answer in answers.items():
        assert (answer.status_code, bool(answer.json().get("partial"))) == (200, True), name
    assert answers["recall"].json()["hits"]
    assert (answers["sources"].json()["items"], answers["replaced"].json()["items"]) == ([], [])
    assert (gone.status_code, "it may be archived" in gone.text) == (404, True)
