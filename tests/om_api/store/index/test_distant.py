"""Recall of what was archived: heads of all, segments of what may answer, and nothing forgotten that was only away."""

import pytest
from world import World

from om_api.domain.errors import ArchiveError
from om_api.store.index import distant
from om_workers.work.archiver import Archiver


@pytest.fixture
def house(client, prefix, tmp_path):
    made = World(client, prefix, archive__url=f"sqlite:///{tmp_path}/archive.db", archive__after="0s")
    for text in ("the anchor is up", "the lantern is lit"):
        made.say(text)
        made.om.force_observe("t-1", "harold")
        made.settle()
    made.sweep()
    Archiver(made.services).round(10)
    yield made
    made.om.close()


def _sources(house):
    return [
        key.decode().rpartition(":")[2] for key in house.client.zrange(f"{house.prefix}:{{harold}}:archived", 0, -1)
    ]


def test_heads_are_known_before_anything_is_fetched_and_only_what_may_answer_is(house):
    run, keys = house.services.run, house.services.keys
    marks = run(distant.archived(keys, "harold", _sources(house)))
    heads = run(distant.heads(keys, "harold", marks))

    assert [(head.thread, head.size) for head in heads.values()] == [("t-1", 1), ("t-1", 1)]
    answering = run(distant.answering(keys, "harold", ["anchor"], []))
    assert len(answering) == 1
    assert run(distant.fetched(keys, "harold", {name: marks[name] for name in answering})).keys() == answering


def test_a_client_that_recalled_while_the_archive_was_away_finds_all_when_it_is_back(house):
    endpoint = house.om._connection._endpoint
    archive, endpoint.past = endpoint.past, _Away()
    answer = house.om.recall("anchor", "harold")

    assert not answer.hits
    assert "away" in answer.partial

    endpoint.past = archive
    answer = house.om.recall("anchor", "harold")
    assert [hit.text for hit in answer.hits] == ["the anchor is up"]
    assert not answer.partial


class _Away:
    def __getattr__(self, name):
        def fail(*_, **__):
            raise ArchiveError("the archive is away")

        return fail
