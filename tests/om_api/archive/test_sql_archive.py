"""The archive does what its protocol promises, on SQLite and on Postgres alike."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from archived import AT, generation, messages, observations
from hostile import HOSTILE

from om_api.archive import writing
from om_api.archive.entries import Figures, Head
from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError, SettingsError
from om_api.recall.segment import Segment

DAY = 86_400_000


def write(archive, *entries):
    """Write under the fences of now; the revisions by name."""
    found = archive.write(entries, archive.fences({entry.resource for entry in entries}))
    return {name: revision for (_, name), revision in found.items()}


def test_entries_come_back_as_they_were_written_and_what_is_missing_is_left_out(archive):
    """Bytes that no database takes too."""
    members = ((b"\xff\x00", 1.5), (b'"\\u0000"', 0.1), (b'"\\ud800"', -2.0), (b"", 5e-324), (b'{"a":1} ', 1e300))
    odd = messages("c2")._replace(members=members, segment=bytes(range(256)))
    entries = [messages("c1", *HOSTILE), odd, observations(3, thread="t1"), generation(4)]
    write(archive, *entries)

    found = archive.read("harold", {**{entry.name: 1 for entry in entries}, "source:c9": 1})
    assert found == {entry.name: entry._replace(revision=1) for entry in entries}
    assert archive.read("harold", {}) == archive.read("bob", {"source:c1": 1}) == {}


def test_a_revision_rises_with_the_content_alone_and_each_is_read_by_its_own(archive):
    blue, red = messages("c1", "blue"), messages("c1", "red", "and long")

    assert write(archive, blue) == write(archive, blue) == {"source:c1": 1}
    assert write(archive, red._replace(revision=7), messages("c2")) == {"source:c1": 2, "source:c2": 1}
    assert write(archive, red) == {"source:c1": 2}
    assert archive.names("harold") == {("source:c1", 1), ("source:c1", 2), ("source:c2", 1)}
    for revision, entry in ((1, blue), (2, red)):
        assert archive.read("harold", {"source:c1": revision}) == {"source:c1": entry._replace(revision=revision)}
        assert archive.segments("harold", {"source:c1": revision}) == {"source:c1": entry.segment}
    (found,) = [head for head in archive.heads("harold") if head.name == "source:c1"]
    assert (found.size, found.revision) == (2, 2)
    assert {n: e.revision for n, e in archive.read("harold", {"source:c1": 2, "source:c2": 1}).items()} == {
        "source:c1": 2,
        "source:c2": 1,
    }
    assert write(archive, blue) == {"source:c1": 3}
    assert write(archive, blue._replace(segment=b"other")) == {"source:c1": 4}


def test_equal_content_that_is_written_again_is_kept_for_as_long_as_it_says_now(archive, sql):
    write(archive, messages("c1", "blue", expires_at=10))
    write(archive, messages("c1", "red", expires_at=20))
    sql("UPDATE om_entries SET archived_at = 1000")

    assert write(archive, messages("c1", "red", expires_at=30)) == {"source:c1": 2}
    assert archive.read("harold", {"source:c1": 2})["source:c1"].expires_at == 30
    assert sql("SELECT count(*) FROM om_entries WHERE archived_at > 1000") == [(1,)]
    assert archive.expired(99, 10) == [("harold", "source:c1", 1), ("harold", "source:c1", 2)]
    assert archive.expired(20, 10) == [("harold", "source:c1", 1)]


def test_a_mark_whose_row_is_gone_gets_the_next_above_and_never_one_below(archive):
    """A revision that is gone was replaced: what is above came after it, and what is below was over before it."""
    for text in ("one", "two", "three", "four"):
        write(archive, messages("c1", text))
    archive.discard("harold", {("source:c1", 2)})
    archive.discard("harold", {("source:c1", 4)})

    assert archive.read("harold", {"source:c1": 2})["source:c1"].revision == 3
    assert archive.segments("harold", {"source:c1": 2}) == {"source:c1": messages("c1", "three").segment}
    assert archive.read("harold", {"source:c1": 4}) == archive.segments("harold", {"source:c1": 4}) == {}


def test_more_is_written_read_searched_and_discarded_than_a_statement_takes(archive):
    entries = [messages(f"c{n}", f"word{n}", resource=f"r-{n % 2}") for n in range(1_010)]
    write(archive, *entries)
    write(archive, *entries)
    for resource in ("r-0", "r-1"):
        own = {entry.name: entry._replace(revision=1) for entry in entries if entry.resource == resource}
        assert archive.read(resource, dict.fromkeys(own, 1)) == own
    terms = [f"word{n}" for n in range(70, 3_000)]
    assert archive.search("r-1", terms, []) == {f"source:c{n}" for n in range(71, 1_010, 2)}
    assert archive.discard("r-0", archive.names("r-0")) == 505
    found = archive.figures()
    assert found == Figures(505, 505, 1, found.bytes)
    assert found.bytes > 10_000


def test_a_score_that_is_no_number_names_its_entry_and_nothing_is_written(archive):
    bad = messages("c2")._replace(members=((b"1", float("inf")),))
    with pytest.raises(ArchiveError, match=r"harold: source:c2 cannot be archived: a member's score is inf"):
        write(archive, messages("c1"), bad)

    assert archive.names("harold") == set()


def test_a_body_that_somebody_changed_is_told_by_its_name(archive, sql):
    write(archive, messages("c1"))
    sql("UPDATE om_entries SET body = '[1]'")

    with pytest.raises(ArchiveError, match="harold: source:c1 in the archive: its body is not what was archived"):
        archive.read("harold", {"source:c1": 1})


def test_segments_and_heads_come_without_bodies(archive):
    newer, older = (
        messages("c1", "My passport", "Der Zug ist lang und die Reise auch"),
        messages("c0", "a", at=AT - DAY),
    )
    write(archive, newer, older, generation())
    first, second = archive.heads("harold")

    assert archive.segments("harold", dict.fromkeys(("source:c0", "source:c1", "source:c2"), 1)) == {
        entry.name: entry.segment for entry in (newer, older)
    }
    assert first[:3] == ("source:c0", "t1", 1)
    assert second == Head("source:c1", "t1", 2, 10, ("english", "german"), AT, second.expires_at, 1)


def test_messages_are_found_by_any_of_their_terms(archive):
    write(archive, messages("c1", "my blue passport"), messages("c2", "a red C++ bag"), messages("c3", "東京 o'neil"))
    write(archive, messages("c1", "my blue passport", resource="bob"))

    assert archive.search("harold", ["passport"], []) == {"source:c1"}
    assert archive.search("harold", ["passport", "red", "zebra"], []) == {"source:c1", "source:c2"}
    assert archive.search("harold", ["c++"], []) == {"source:c2"}
    assert archive.search("harold", ["東京"], []) == {"source:c3"}
    assert archive.search("harold", ["passpor", "zebra"], []) == archive.search("harold", [], []) == set()
    assert archive.search("harold", ["*京"], []) == {"source:c1", "source:c2", "source:c3"}
    assert archive.search("nobody", ["passport"], []) == set()


def test_no_term_is_read_as_a_query_and_every_one_of_hostile_texts_is_found(archive):
    entry = messages("c1", *[text for text in HOSTILE if text.isprintable()])
    write(archive, messages("c0", "a blue passport"), entry)
    terms = Segment(entry.segment).terms()
    assert [term for term in terms if "source:c1" not in archive.search("harold", [term], [])] == []
    archive.discard("harold", {("source:c1", 1)})
    for term in ('a"b', "a'b", "a\\b", "a\\'b", "|", "&", "!", "(", ":*", "NOT", "a:b*", "", " ", "\x00"):
        assert archive.search("harold", [term], []) == set(), term
        assert archive.search("harold", [term, "passport"], []) == {"source:c0"}, term


def test_messages_are_found_by_when_they_were_said(archive):
    write(archive, messages("c1", "a", "b", at=AT), messages("c2", "c", at=AT + DAY), generation())

    assert archive.search("harold", [], [(AT + 60_000, AT + 60_001)]) == {"source:c1"}
    assert archive.search("harold", [], [(AT + 60_001, AT + DAY)]) == set()
    assert archive.search("harold", [], [(0, AT), (AT + DAY, AT + DAY + 1)]) == {"source:c2"}
    assert archive.search("harold", ["c"], [(AT, AT + 1)]) == {"source:c1", "source:c2"}


def test_messages_are_found_by_what_any_of_their_revisions_says_until_it_is_discarded(archive, sql):
    write(archive, messages("c1", "passport", at=AT), messages("c1", "bag", resource="bob"))
    write(archive, messages("c1", "zebra", "bag", at=AT + DAY), messages("c3", "quiet", thread=""))

    for term in ("passport", "zebra"):
        assert archive.search("harold", [term], []) == {"source:c1"}, term
    for day in (AT, AT + DAY):
        assert archive.search("harold", [], [(day, day + 1)]) == {"source:c1"} | ({"source:c3"} if day == AT else set())
    for name, thread, holding in (("c1-1", None, {"source:c1"}), ("c1-1", "t1", {"source:c1"}), ("c1-1", "t2", set())):
        assert archive.holding("harold", name, thread) == holding
    assert archive.holding("harold", "c3-0", "t1") == {"source:c3"}
    assert archive.holding("bob", "c1-1", None) == set()
    archive.discard("harold", {("source:c1", 1), ("source:c3", 1)})
    archive.remove("bob")
    assert archive.search("harold", ["passport"], []) == archive.search("bob", ["bag"], []) == set()
    assert archive.search("harold", ["zebra"], []) == {"source:c1"}
    if archive._url.drivername == "sqlite":
        assert sql("SELECT count(*) FROM om_words") == [(1,)]
    write(archive, messages("c4", "passport")._replace(segment=b""))  # words of another version are always found
    assert archive.search("harold", ["giraffe"], []) == archive.holding("harold", "nobody", None) == {"source:c4"}


def test_what_is_removed_is_gone_and_the_fence_rises(archive):
    write(archive, messages("c1"), messages("c2"), generation(), messages("c1", resource="bob"))
    write(archive, messages("c1", "changed"))

    assert archive.remove("harold") == 4
    assert archive.names("harold") == set()
    assert archive.remove("harold") == archive.remove("nobody") == 0
    assert archive.fences(["harold", "bob", "nobody"]) == {"harold": 3, "bob": 0, "nobody": 1}
    assert archive.names("bob") == {("source:c1", 1)}
    before = archive.fences(["bob"])
    archive.fence("bob")  # a fence rises alone, and what is there stays
    assert archive.write([messages("c2", resource="bob")], before) == {}
    assert (archive.names("bob"), archive.fences(["bob"])) == ({("source:c1", 1)}, {"bob": 1})


def test_what_was_removed_since_its_fence_was_read_does_not_come_back(archive):
    fences = archive.fences(["harold", "bob"])
    archive.remove("harold")

    assert archive.write([messages("c1"), messages("c2", resource="bob")], fences) == {("bob", "source:c2"): 1}
    assert archive.names("harold") == set()
    assert write(archive, messages("c1")).keys() == {"source:c1"}


def test_a_removal_waits_for_who_writes_and_takes_what_he_wrote(archive, url, monkeypatch):
    """Time 0: a worker has seen the fence and writes. Time 1: an owner clears. Time 2: the worker commits. Nothing is left."""
    seen, goes_on = threading.Event(), threading.Event()
    kept = writing._kept

    def paused(connection, keys):
        seen.set()
        goes_on.wait(10)
        return kept(connection, keys)

    monkeypatch.setattr(writing, "_kept", paused)
    fences = archive.fences(["harold"])
    with ThreadPoolExecutor(2) as pool:
        written = pool.submit(archive.write, [messages("c1")], fences)
        seen.wait(10)
        removed = pool.submit(archive.remove, "harold")
        with pytest.raises(TimeoutError):
            removed.result(0.3)
        goes_on.set()

        assert written.result(10) == {("harold", "source:c1"): 1}
        assert removed.result(10) == 1
    assert archive.names("harold") == set()


def test_no_revision_is_given_again(archive):
    """In a backup of before, what Redis names by then would else be what was deleted."""
    assert archive.discard("harold", []) == archive.discard("harold", {("source:c9", 1)}) == 0
    for delete in (lambda names: archive.discard("harold", names), lambda _: archive.remove("harold")):
        write(archive, messages("c1")), write(archive, messages("c1", "red")), write(archive, messages("c1", "blue"))
        before = archive.names("harold")
        assert delete(before) == len(before)
        again = write(archive, messages("c1"), messages("c2"))
        assert archive.names("harold") == again.items()
        assert min(again.values()) > max(revision for _, revision in before) >= 3


def test_what_has_expired_comes_in_its_order(archive):
    write(archive, messages("c1", expires_at=30), messages("c2", expires_at=10), messages("c3", expires_at=40))
    write(archive, generation(resource="bob", expires_at=20))

    assert archive.expired(30, 10) == [
        ("harold", "source:c2", 1),
        ("bob", "reflections|4", 1),
        ("harold", "source:c1", 1),
    ]
    assert archive.expired(30, 1) == [("harold", "source:c2", 1)]
    assert archive.expired(9, 10) == []
    assert archive.expired(30, 10, "bob") == [("bob", "reflections|4", 1)]


def test_a_fork_opens_connections_of_its_own(archive):
    write(archive, messages("c1"))
    own = archive._engine()
    if child := os.fork():
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    else:
        works = archive._engine() is not own and write(archive, messages("c2")) == {"source:c2": 1}
        os._exit(0 if works else 1)

    assert archive._engine() is own
    assert archive.names("harold") == {("source:c1", 1), ("source:c2", 1)}


def test_an_address_of_no_archive_says_what_is_permitted_and_no_password():
    for url in (
        "mysql://om:geheim@host/db",
        "sqlite:///:memory:",
        "geheim",
        "",
        "postgresql://om:geheim@host:port/db",
        "sqlite:///a.db?mode=geheim",
    ):
        with pytest.raises(SettingsError, match="permitted: sqlite:///path") as refused:
            open_archive(url)
        assert "geheim" not in str(refused.value), url
