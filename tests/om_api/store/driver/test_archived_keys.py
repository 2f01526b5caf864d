"""Keys that were archived are read as if they stood in Redis, by whatever command asks for them."""

import pytest

from om_api.archive.entries import Entry
from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError
from om_api.store.driver.archived_keys import filled
from om_api.store.driver.connection import Connection
from om_api.store.driver.replies import command, scored
from om_api.store.driver.steps import Leniently

FOREVER = 10**14
MEMBERS = ((b'{"id":"m1"}', 1.0), (b'{"id":"m2"}', 2.0), (b'{"id":"m3"}', 3.5))


@pytest.fixture
def archive(tmp_path):
    made = open_archive(f"sqlite:///{tmp_path}/archive.db")
    made.prepare()
    yield made
    made.close()


@pytest.fixture
def of(store, archive):
    of = store.keys.of("harold")
    entries = [
        Entry("harold", "source:c1", "messages", "t1", 1, FOREVER, MEMBERS, b""),
        Entry("harold", "reflections|1", "generation", "", 1, FOREVER, ((b'{"n":1}', 1.0),)),
    ]
    archive.write(entries, {"harold": 0})
    store.client.zadd(of.archived, {"source:c1": 1, "reflections|1": 1})
    store.client.zadd(f"{of.base}:reflections", {b'{"n":2}': 2})
    return of


@pytest.fixture
def ask(store, archive):
    return lambda *words: Connection(store.client, archive).run(command(lambda reply: reply, *words))


def test_an_archive_of_an_older_backup_is_an_error_or_a_part(of, store, archive, ask):
    """It has revision 1, or nothing, of what Redis says is in revision 2."""
    store.client.zadd(of.archived, {"source:c1": 2})

    with pytest.raises(ArchiveError, match="source:c1 of harold"):
        ask("ZRANGE", of.source("c1"), 0, -1)

    def leniently():
        missed = yield from Leniently()
        found = yield from command(lambda reply: reply, "ZRANGE", of.source("c1"), 0, -1)
        return found, missed

    found, missed = Connection(store.client, archive).run(leniently())
    assert found == []
    assert "older backup" in missed[0]


class _Later:
    """Redis and the archive, asked once more after a caller has read."""

    def __init__(self, store, archive):
        self._store, self._archive = store, archive

    def redis(self, batch):
        yield from ()
        return [self._store.client.execute_command(*words) for words in batch.commands]

    def archive(self, step):
        yield from ()
        return step.ask(self._archive)


@pytest.mark.parametrize("scores", [[], ["WITHSCORES"]])
@pytest.mark.parametrize("meanwhile", ["it came back", "it was cleared", "nothing"])
def test_generations_are_those_of_the_instant_at_which_the_caller_read(meanwhile, scores, of, store, archive):
    """Time 0: a caller reads the record and generation 3, and earlier ones are archived. Time 1: one of them comes back, and a
    fourth is made; or all is cleared. Time 2: what may have been archived is filled in."""
    key = f"{of.base}:reflections"
    archive.write([Entry("harold", "reflections|2", "generation", "", 1, FOREVER, ((b'{"n":2}', 2.0),))], {"harold": 0})
    store.client.delete(key)
    store.client.zadd(key, {b'{"n":3}': 3})
    store.client.zadd(of.archived, {"reflections|2": 1})
    asked = command(lambda reply: reply, "ZRANGE", key, 0, -1, *scores)
    replies = [store.client.execute_command(*asked.commands[0])]
    if meanwhile == "it came back":
        store.client.zadd(key, {b'{"n":1}': 1, b'{"n":4}': 4})
        store.client.zrem(of.archived, "reflections|1")
    elif meanwhile == "it was cleared":
        store.client.delete(key, of.archived)

    with pytest.raises(StopIteration) as ended:
        next(filled(_Later(store, archive), asked, replies, None))
    answered = ended.value.value[0]
    numbers = [3] if meanwhile == "it was cleared" else [1, 2, 3]
    members = [member for member, _ in scored(answered)] if scores else answered
    assert members == [b'{"n":%d}' % n for n in numbers]


def test_archived_keys_are_answered_as_redis_would_answer_them(of, store, archive, ask):
    source, reflections = of.source("c1"), f"{of.base}:reflections"
    for first, last, found in ((0, -1, [0, 1, 2]), (1, 1, [1]), (-2, -1, [1, 2]), (2, 9, [2]), (5, 9, [])):
        assert ask("ZRANGE", source, first, last) == [MEMBERS[place][0] for place in found], (first, last)
    assert ask("ZRANGE", source, 0, -1, "WITHSCORES") == list(MEMBERS)
    assert (ask("ZCARD", source), ask("EXISTS", source)) == (3, 1)
    assert ask("PTTL", source) > 10**12
    assert (ask("ZRANGE", of.source("c2"), 0, -1), ask("PTTL", of.source("c2"))) == ([], -2)
    assert ask("ZRANGE", reflections, 0, -1) == [b'{"n":1}', b'{"n":2}']
    assert ask("ZRANGE", reflections, -1, -1) == [b'{"n":2}']

    archive.write([Entry("harold", "source:c3", "messages", "t1", 1, 5, MEMBERS, b"")], {"harold": 0})  # it is over
    store.client.zadd(of.archived, {"source:c3": 1})
    assert (ask("ZRANGE", of.source("c3"), 0, -1), ask("EXISTS", of.source("c3"))) == ([], 0)
    with pytest.raises(ArchiveError, match=r"archive\.url"):
        Connection(store.client).run(command(lambda reply: reply, "ZRANGE", source, 0, -1))
