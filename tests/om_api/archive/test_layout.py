"""How an archive is laid out and copied."""

import contextlib
import json
import math
import subprocess
import sys
from pathlib import Path

import archived
import psycopg
import pytest
from archived import AT, generation, messages, observations
from forged_segments import FORGED, forged
from hostile import HOSTILE

from om_api.archive import databases
from om_api.archive.body import from_body, to_body
from om_api.archive.bounded_connection import BinaryCursor, BoundedConnection
from om_api.archive.copying import copy
from om_api.archive.opening import open_archive
from om_api.archive.words import WHOLE, indexed, of_message, of_resource, of_terms
from om_api.domain.errors import ArchiveError
from om_api.recall.analysis import analyse
from om_api.recall.segment import Findable, encode

PREPARE = """
import sys
from om_api.archive.opening import open_archive
archive = open_archive(sys.argv[1], 20.0)
print("ready", flush=True)
sys.stdin.readline()
archive.prepare()
archive.check()
archive.close()
"""


@pytest.mark.nightly
def test_several_processes_lay_it_out_at_once(url):
    command = [sys.executable, "-W", "error", "-c", PREPARE, url]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for each in started:
        assert each.stdout.readline() == "ready\n"
    for each in started:
        each.stdin.write("go\n")
        each.stdin.flush()

    assert [(each.communicate(timeout=60)[1], each.returncode) for each in started] == [("", 0)] * 4


def test_what_was_not_laid_out_says_so_until_it_is(url):
    archive = open_archive(url)
    if url.startswith("sqlite"):
        with pytest.raises(ArchiveError, match="its file cannot be opened: bring it back"):
            archive.check()
        Path(url.removeprefix("sqlite:///")).touch()
    with pytest.raises(ArchiveError, match="it has no archive's tables: run `om archive upgrade`"):
        archive.write([messages()], {})
    archive.upgrade()

    assert archive.write([messages()], {}) == {("harold", "source:c1"): 1}
    archive.close()


def test_one_of_another_version_says_what_to_upgrade(archive, url, sql, monkeypatch):
    sql("UPDATE om_version SET version_num = '9999'")
    other = open_archive(url)
    for asked in (other.check, other.prepare, other.upgrade, lambda: other.names("harold")):
        with pytest.raises(ArchiveError, match=r"its schema is 9999, this process knows 0001: upgrade this process$"):
            asked()
    monkeypatch.setattr("om_api.archive.layout.VERSIONS", ("0000", "0001"))
    sql("UPDATE om_version SET version_num = '0000'")
    for asked in (other.check, other.prepare, lambda: other.names("harold")):
        with pytest.raises(ArchiveError, match="its schema is 0000, this process needs 0001: run `om archive upgrade`"):
            asked()
    other.close()


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


def test_an_address_is_shown_without_user_password_and_options():
    for url, shown in {
        "sqlite:////var/lib/om/archive.db": "in /var/lib/om/archive.db",
        "postgresql://om:geheim@db.example:5433/om?sslmode=require": "at db.example:5433/om",
        "postgresql://om:ge%40heim@db/om": "at db:5432/om",
        "postgresql:///om?host=/run/postgresql": "at /run/postgresql:5432/om",
    }.items():
        assert databases.shown(databases.address(url)) == shown


def test_what_is_written_to_a_file_that_was_taken_away_is_an_error_and_another_in_its_place_is_read_at_once(tmp_path):
    """Breaks when a connection that was open before goes on: what leaves Redis then is gone with it."""
    with contextlib.closing(open_archive(f"sqlite:///{tmp_path}/other.db")) as other:
        other.prepare()
        other.write([archived.messages("c2")], {"harold": 0})
    with contextlib.closing(open_archive(f"sqlite:///{tmp_path}/archive.db")) as archive:
        archive.prepare()
        archive.write([archived.messages("c1")], {"harold": 0})
        for left in tmp_path.glob("archive.db*"):
            left.unlink()

        with pytest.raises(ArchiveError, match="bring it back"):
            archive.write([archived.messages("c2")], {"harold": 0})
        with pytest.raises(ArchiveError, match="bring it back"):
            archive.read("harold", {"source:c1": 1})
        (tmp_path / "other.db").rename(tmp_path / "archive.db")
        assert archive.names("harold") == {("source:c2", 1)}


LIGHT = """
import sys, om_api, om_api.client
from om_api.archive import body, entries, opening, protocol, words
print(sorted({"sqlalchemy", "alembic", "psycopg"} & sys.modules.keys()))
"""
OPEN = "from om_api.archive.opening import open_archive; open_archive('sqlite:///nowhere/archive.db')"


@pytest.mark.nightly
def test_nothing_of_sql_is_loaded_before_an_archive_is_opened():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "[]\n"
    for package in ("sqlalchemy", "alembic", "psycopg"):
        code = f"import sys; sys.modules['{package}'] = None; " + OPEN
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert done.stderr.endswith(
            f"MissingExtraError: {package} is not installed: pip install 'cortex-om[archive]' brings it\n"
        )


@pytest.fixture
def connection(postgres):
    made = BoundedConnection.connect(postgres.url, autocommit=True, cursor_factory=BinaryCursor)
    yield made
    made.close()


@pytest.mark.nightly
def test_what_is_in_time_is_answered_and_bytes_come_as_they_are(connection):
    connection.answers_within(10)

    assert connection.execute("SELECT pg_sleep(0.3), '\\xff00'::bytea, 'a', 1").fetchone()[1:] == (b"\xff\x00", "a", 1)
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 1 / 0")
    assert not connection.closed


def test_members_and_scores_come_back_exactly():
    deep = b"[" * 90_000 + b"]" * 90_000
    members = [(b"null", 0.0), (b'null,"eA=="', -0.0), (b"1],[2,3", 5e-324), (b"", 2.0**53), (b" 1", -(2.0**53))]
    members += [(b'"\\ud800"', 1.5), (b'"\\u0000"', 1e308), (b'"\xff"', -1.0), (b"\x00", 0.1), (b"1" * 5_000, 1e22)]
    members += [(b"[" * 900 + b"]" * 900, 1.0), (deep, 1.0), (b'{"a":"' + b"[" * 300 + b'"}', 1.0)]
    members += [(json.dumps({"content": text}).encode(), float(n)) for n, text in enumerate(HOSTILE)]
    body = to_body(members)
    found = from_body(body)

    assert found == tuple(members)
    assert [math.copysign(1, score) for _, score in found] == [math.copysign(1, score) for _, score in members]
    assert len(json.loads(body)) == len(members)
    assert "\x00" not in body


def test_json_stands_as_it_was_written_and_other_bytes_or_what_databases_cannot_nest_in_base64():
    members = [(b'{"id": "a",  "n": 1.0}', 1_700_000_000_000.0), (b"\xff", 0.5)]

    assert to_body(members) == '[[1700000000000,{"id": "a",  "n": 1.0}],[0.5,null,"/w=="]]'
    deep, wide = b"[" * 201 + b"]" * 201, b"[" + b",".join([b"[]"] * 500) + b"]"
    assert json.loads(to_body([(deep, 1.0)]))[0][1] is None
    assert json.loads(to_body([(wide, 1.0)]))[0][1] == [[]] * 500


def test_what_cannot_be_a_body_is_refused():
    for score in (math.inf, -math.inf, math.nan):
        with pytest.raises(ArchiveError, match="no finite number"):
            to_body([(b"1", score)])
    for body in ("", "[", "{}", "[1]", '[[1,null,"*"]]', '[["x",1]]'):
        with pytest.raises(ArchiveError, match="restore the archive from a backup"):
            from_body(body)
            pytest.fail(f"{body} is taken for one")


def test_messages_are_known_by_their_segment():
    entry = messages("c1", "My passport is blue", "Der Zug ist lang und die Reise auch")
    found = indexed(entry)

    assert (found.size, found.languages) == (2, ("english", "german"))
    assert (found.first_at, found.last_at) == (AT, AT + 60_000)
    assert found.length == analyse("My passport is blue").length + analyse("Der Zug ist lang und die Reise auch").length
    assert {of_resource("harold"), WHOLE, of_message("c1-0"), of_message("c1-1"), "blue", "zug"} <= {
        *found.words.split(" ")
    }


def test_words_that_cannot_be_read_are_not_said_to_be_whole():
    entry = messages("c1", "a blue passport", "a red one")
    for what, said in FORGED.items():
        if what != "no message":  # which a segment may have
            found = indexed(entry._replace(segment=forged(entry.segment, **said)))
            assert (found.words, found.size) == (of_resource("harold"), 2), what
            assert (found.first_at, found.last_at) == (AT, AT + 60_000), what
    many = encode("t1", [Findable("m1", "user", AT, " ".join(f"word{n}of{n}" for n in range(40_000)))])
    for segment in (b"", b"omr", b"omr\x01\x01\x00aaaa", many):  # none, broken, too many words
        assert indexed(entry._replace(segment=segment)).words == of_resource("harold"), segment[:20]
    assert indexed(generation()).words == ""


def test_terms_are_their_own_words_but_where_a_database_would_part_them():
    own = ["passport", "c++", "東京", "o'neil", 'a"b', "a\\b", "é", "v1.2"]
    assert list(of_terms(own)) == own
    for term in ("", "a b", "a\x00b", "\ud800", "x" * 200, "a\u00a0b", "a\nb"):
        (word,) = of_terms([term])
        assert word.startswith("*t"), term
        assert [word] == list(of_terms([term])), term
