"""What befalls the archive of a run, and plain looks across both homes."""

import json
from contextlib import closing, suppress

import archived
import fakeredis
import pytest

from chaos import judging
from chaos.archives import ARCHIVES, Both
from chaos.journal import Journal, Said
from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError

P = "chaos:om"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.nightly)])
def archive(request, tmp_path):
    with ARCHIVES[request.param](tmp_path) as made:
        yield made


def _write(archive, *names):
    """Write as a worker does, which gives up after a while."""
    with closing(open_archive(archive.url, timeout_s=0.5)) as opened:
        return opened.write([archived.messages(name) for name in names], {"harold": 0})


def _names(archive):
    return sorted(name.removeprefix("source:") for _, name, _, _ in archive.rows())


def test_while_it_is_paused_or_away_nothing_is_written_and_nothing_is_gone_after_it(archive):
    _write(archive, "c1")
    for fault, end, state in (("pause", "resume", "paused"), ("kill", "start", "away")):
        archive.do(fault)
        assert archive.state == state
        with pytest.raises(ArchiveError):
            _write(archive, "c2")
        archive.do(end)
        _write(archive, f"c3 {fault}")

    assert (archive.state, _names(archive)) == ("", ["c1", "c3 kill", "c3 pause"])


def test_an_older_copy_lacks_what_came_since_and_what_is_written_there_is_taken_over(archive):
    with closing(open_archive(archive.url)) as worker:
        worker.write([archived.messages("c1")], {"harold": 0})
        archive.do("copy")
        with suppress(ArchiveError):  # Postgres ends connections for a copy, and the next one is made
            worker.fences(["harold"])
        worker.write([archived.messages("c2")], {"harold": 0})
        archive.do("restore")
        assert _names(archive) == ["c1"]
        _write(archive, "c3")
        assert _names(archive) == ["c1", "c3"]
        archive.do("return")

        assert _names(archive) == ["c1", "c2", "c3"]
        assert archive.count() == 3


def _row(name, revision=1, id_="w1-1"):
    said = {"id": id_, "thread_id": "t-1", "content": f"[[{id_}]] é"}
    return "pool-1", name, revision, json.dumps([[7, said]])


def test_a_row_is_read_in_its_place_once_redis_names_it_and_what_is_lacking_or_twice_is_found(tmp_path):
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as store, closing(Journal(tmp_path)) as journal:
        store.zadd(f"{P}:{{pool-1}}:archived", {"source:o-1": 2})
        rows = [_row("source:o-1"), _row("source:o-1", 2, "w1-2"), _row("source:o-2", 1, "w1-3")]
        both = Both(store, P, rows)
        (key,) = both.scan_iter(f"{P}:{{pool-1}}:source:*")
        assert key == f"{P}:{{pool-1}}:source:o-1".encode()
        assert [json.loads(member)["id"] for member in both.zrange(key, 0, -1)] == ["w1-2"]
        assert (both.unnamed, both.lacks) == (2, [])
        assert Both(store, P, rows[:1]).lacks == [f"{P}:{{pool-1}}:source:o-1"]

        name = "reflected:1"
        note = {"id": "o-1", "text": "* [[w1-1]]", "message_ids": ["w1-1"], "model": "local"}
        store.flushall()
        store.zadd(f"{P}:{{pool-1}}:archived", {name: 1})
        store.zadd(f"{P}:{{pool-1}}:{name}", {json.dumps(note | {"id": "o-2"}): 1})
        said = Said("w1-1", "pool-1", "t-1", {"id": "w1-1"})
        journal.tried([said])
        journal.acknowledged([said])
        both = Both(store, P, [("pool-1", name, 1, json.dumps([[1, note]]))])
        assert ("w1-1", "held 2 times") in judging.judge(judging.look(both, P), journal).wrong
        journal.erased.add("w1-1")
        assert ("w1-1", "erased, but it is there") in judging.judge(judging.look(both, P), journal).wrong
