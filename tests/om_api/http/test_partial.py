"""Where the archive does not answer, what can be read is answered, and `partial` says why there may be more."""

import pytest
from world import SMALL, World

from om_api import load_settings
from om_api.settings import Settings
from om_workers.work.archiver import Archiver

HAROLD = "/v1/resources/harold"


@pytest.fixture
def file(tmp_path):
    """The archive."""
    return tmp_path / "past.db"


@pytest.fixture
def settings(server_url, prefix, file) -> Settings:
    named = {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_ARCHIVE__URL": f"sqlite:///{file}"}
    return load_settings(None, {**SMALL, **named})


@pytest.fixture
def world(client, prefix, file):
    made = World(client, prefix, archive__url=f"sqlite:///{file}", archive__after="0s")
    yield made
    made.om.close()


@pytest.fixture
def paths(old, world):
    """What reads of the past ask for, of a memory whose past was archived."""
    (replaced, *_) = world.om.generations("harold")[-1].observation_ids
    (first, *_) = world.om.sources(replaced, "harold")
    world.sweep()
    assert Archiver(world.services).round(10).archived
    return {
        "recall": f"{HAROLD}/recall?q=about", "around": f"{HAROLD}/messages/m-15/around?before=20",
        "sources": f"{HAROLD}/observations/{replaced}/messages", "replaced": f"{HAROLD}/reflections/1/observations",
        "archived": f"{HAROLD}/messages/{first.id}/around",
    }  # fmt: skip


def test_while_it_does_not_answer_every_answer_that_lacks_something_says_so(paths, ask, file):
    found = {name: ask("GET", path).json() for name, path in paths.items()}
    assert not any("partial" in answer for answer in found.values())
    assert found["sources"]["items"]

    file.unlink()
    file.mkdir()
    answers = {name: ask("GET", path) for name, path in paths.items()}
    gone = answers.pop("archived")
    for name, answer in answers.items():
        assert (answer.status_code, bool(answer.json().get("partial"))) == (200, True), name
    assert answers["recall"].json()["hits"]
    assert (answers["sources"].json()["items"], answers["replaced"].json()["items"]) == ([], [])
    assert (gone.status_code, "it may be archived" in gone.text) == (404, True)
