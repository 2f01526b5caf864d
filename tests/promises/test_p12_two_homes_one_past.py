"""P12: what was archived is read as if it still stood in Redis, once; what is removed is in neither home."""

import json

import msgspec
import pytest
from world import World, contents

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.store.archiving import archivable
from om_api.store.driver.steps import FromArchive
from om_workers.work.archiver import Archiver

QUERIES = ("anchor", '"turn 7 of the voyage"', "voyage -anchor", "thread:t-2 harbour", "role:user storm", "turn 31",
    "harbour storm anchor lantern", "what was said last week about the harbour", "渡",
    "nothing of this was ever said xyzzy")  # fmt: skip
WORDS = ("anchor", "harbour", "storm", "lantern", "渡る舟", "compass", "Grüße", "rope")


@pytest.fixture(params=["resource", "thread"])
def house(request, client, prefix, archive_url):
    made = World(client, prefix, scope=request.param, archive__url=archive_url, archive__after="0s",
        observation_threshold="100000")  # fmt: skip
    yield made
    made.om.close()
    made.services.connection.close()


@pytest.fixture
def past(house):
    """A memory of two threads, some generations of it, observations in force, and what is raw."""
    n = 0
    for _ in range(3):
        for thread in ("t-1", "t-2"):
            texts = [f"turn {n + k} of the voyage: {WORDS[(n + k) % len(WORDS)]} <tag> \x01 é" for k in range(5)]
            house.say(*texts, thread=thread)
            n += 5
            house.observe_now(thread)
        if n < 30:
            for thread in ("t-1", "t-2"):
                house.om.force_reflect("harold", thread)
            house.settle()
    house.say("raw: the anchor is up", thread="t-1")
    return house


def test_what_is_unreadable_of_one_resource_is_archived_of_no_other(client, prefix, archive_url, monkeypatch):
    """One agent's records, keys and marks stop neither the archiver nor the sweep, doctor or verify for others."""
    house = World(client, prefix, archive__url=archive_url, archive__after="0s")
    index, deep = (
        house.services.keys.archivable,
        b'{"n":1,"extracted":{"t":{"x":{"value":%s}}}}' % (b"[" * 985 + b"]" * 985),
    )
    alice = f"{prefix}:{{alice}}"
    for name in ("alice", "bob"):
        house.say("turn", resource=name)
        house.observe_now(resource=name)
    (source,) = (key.decode() for key in client.scan_iter(f"{alice}:source:*"))

    def spoil(what):
        if what == "generation":
            client.hset(f"{alice}:record", "generation", 1)
            client.zadd(f"{alice}:reflections", {deep: 1})
        elif what == "source":
            client.delete(f"{alice}:reflections", source)
            client.hset(source, "a", "b")
            client.expire(source, 60)
        elif what == "number":  # of a generation: nobody counts up to it
            client.hset(f"{alice}:record", "generation", "9" * 400)
            client.zadd(f"{alice}:reflections", {b'{"n":1,"text":""}': 1})
        elif what == "archived":
            client.zadd(f"{alice}:archived", {b"\xff": 1})
        else:
            client.zadd(index, dict.fromkeys((b"\xff%d" % n for n in range(120)), "-inf"))

    for what in ("number", "generation", "source", "archived", "names"):
        spoil(what)
        house.say(what, resource="bob")
        house.observe_now(resource="bob")
        client.zadd(index, {"alice": 0, "bob": 1})
        assert house.services.run(archivable.backlog(house.services.keys)).due >= 2
        assert Archiver(house.services).round(10).archived >= 1, what
        assert client.zscore(index, "alice") > 1, what
    assert client.zcard(index) == 2
    assert {breach.where for breach in house.om.verify()} <= {
        "alice",
        *(key.decode() for key in client.keys(f"{alice}*")),
    }
    house.om.close()
    house.services.connection.close()


class Moment(int):
    """When something expires (Unix ms): a lifetime is told from the moment at which it is asked, never the same twice."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and abs(int(self) - int(other)) < 100

    __hash__ = int.__hash__


def archive(house) -> int:
    house.sweep()
    return Archiver(house.services).round(10).archived


def answers(house):
    """What every reader says of harold, but for the times at which it says so."""
    om = house.om
    observations = {each.id for era in om.history("harold") for each in era.replaced} | {
        each.id for each in om.observations("harold")
    }
    recalled = [om.recall(query, "harold", around=2, limit=50) for query in QUERIES]
    noted = [om.recall("voyage", "harold", kinds=("observation", "generation"), limit=50)]
    hits = [hit.id for answer in recalled for hit in answer.hits if hit.kind == "message"]
    exported = [json.loads(line) for line in b"".join(om.export_memory("harold")).splitlines()]
    expires = [line.pop("expires_at") for line in exported if "expires_at" in line]
    for line in exported:
        line.pop("exported_at", None), line.pop("sha256", None)
    return {"sources": {name: om.sources(name, "harold") for name in sorted(observations)},
        "history": om.history("harold"), "generations": om.generations("harold"), "recalled": [*recalled, *noted],
        "browsed": [om.browse(name, "harold", before=3, after=3) for name in sorted(set(hits))],
        "contexts": [om.get_context(thread, "harold").blocks for thread in ("t-1", "t-2")], "exported": exported,
        "expires": [Moment(at) for at in expires], "stats": msgspec.structs.replace(om.stats("harold"), lag=0),
        "breaches": om.verify()}  # fmt: skip


def test_every_reader_answers_as_before(past):
    before = answers(past)
    assert archive(past) > 6
    after = answers(past)
    assert all(answer.hits for answer in before["recalled"][:-2])
    assert after == before
    assert not list(past.client.scan_iter(f"{past.prefix}:*:source:*"))
    assert not list(past.client.scan_iter(f"{past.prefix}:*:reflected:*"))


def test_what_is_erased_or_cleared_is_in_neither_home(past):
    archive(past)
    told = past.om.erase("harold", matching="turn 7 of the voyage")
    assert [each.id for each in told.messages]
    assert not past.om.recall('"turn 7 of the voyage"', "harold").hits
    assert b"turn 7 of the voyage" not in b"".join(past.om.export_memory("harold"))
    assert past.om.recall('"turn 8 of the voyage"', "harold").hits
    assert past.om.verify() == []
    assert past.om.clear("harold").outcome is Outcome.CLEARED
    assert b"voyage" not in b"".join(past.om.export_memory("harold"))
    assert past.services.run(FromArchive(lambda archive: archive.names("harold"))) == set()


def test_what_was_archived_of_a_conversation_that_changed_its_id_is_the_threads(house):
    """It comes back, is made the thread's, and goes again; where each thread has a memory of its own nothing is changed."""
    said = {name for thread in ("t-1", "t-2") for name in house.say(f"the voyage of {thread}", thread=thread)}
    for asked in (house.om.force_observe, house.om.force_reflect):
        for thread in ("t-1", "t-2"):
            asked(thread_id=thread, resource_id="harold")
        house.settle()
    assert archive(house) > 0
    if house.settings.memory.scope == "thread":
        before = contents(house.client, f"{house.prefix}:{{*")
        with pytest.raises(InvalidInputError, match="t-2 of harold has a memory of its own"):
            house.om.alias_thread("t-2", "t-1", "harold")
        assert contents(house.client, f"{house.prefix}:{{*") == before
        return
    house.om.alias_thread("t-2", "t-1", "harold")
    house.settle()
    for _ in range(2):
        assert {hit.id for hit in house.om.recall("voyage", "harold", thread_id="t-2").hits} == said
        assert {each.thread_id for era in house.om.history("harold") for each in era.replaced} == {"t-1"}
        assert house.om.verify() == []
        archive(house)
