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


# -- writing and reading ------------------------------------------------------------------------------------------------


def test_entries_come_back_as_they_were_written(archive):
    entries = [messages("c1", *HOSTILE), observations(3, thread="t1"), generation(4)]
    write(archive, *entries)

    assert archive.read("harold", {entry.name: 1 for entry in entries}) == {
        entry.name: entry._replace(revision=1) for entry in entries
    }


def test_bytes_that_no_database_takes_come_back_exactly(archive):
    members = ((b"\xff\x00", 1.5), (b'"\\u0000"', 0.1), (b'"\\ud800"', -2.0), (b"", 5e-324), (b'{"a":1} ', 1e300))
    entry = messages()._replace(members=members, segment=bytes(range(256)))
    write(archive, entry)

    assert archive.read("harold", {entry.name: 1})[entry.name] == entry._replace(revision=1)


def test_what_is_missing_is_left_out(archive):
    write(archive, messages("c1"))

    assert archive.read("harold", {"source:c1": 1, "source:c2": 1}).keys() == {"source:c1"}
    assert archive.read("harold", {}) == archive.read("bob", {"source:c1": 1}) == {}


def test_a_revision_rises_with_the_content_alone(archive):
    first, other = messages("c1", "blue"), messages("c1", "red")

    assert write(archive, first) == {"source:c1": 1}
    assert write(archive, first) == {"source:c1": 1}
    assert write(archive, other._replace(revision=7), messages("c2")) == {"source:c1": 2, "source:c2": 1}
    assert write(archive, other) == {"source:c1": 2}
    assert write(archive, first) == {"source:c1": 3}
    assert archive.names("harold") == {("source:c1", 1), ("source:c1", 2), ("source:c1", 3), ("source:c2", 1)}


def test_the_segment_is_content_too(archive):
    write(archive, messages("c1"))

    assert write(archive, messages("c1")._replace(segment=b"other")) == {"source:c1": 2}


def test_equal_content_that_is_written_again_is_kept_for_as_long_as_it_says_now(archive, sql):
    write(archive, messages("c1", expires_at=AT))
    sql("UPDATE om_entries SET archived_at = 1000")

    assert write(archive, messages("c1", expires_at=AT + 1)) == {"source:c1": 1}
    assert archive.read("harold", {"source:c1": 1})["source:c1"].expires_at == AT + 1
    assert sql("SELECT count(*) FROM om_entries WHERE archived_at > 1000") == [(1,)]


def test_equal_content_changes_no_row_but_that_of_the_highest_revision(archive):
    write(archive, messages("c1", "blue", expires_at=10))
    write(archive, messages("c1", "red", expires_at=20))
    write(archive, messages("c1", "red", expires_at=30))

    assert archive.expired(99, 10) == [("harold", "source:c1", 1), ("harold", "source:c1", 2)]
    assert archive.expired(20, 10) == [("harold", "source:c1", 1)]


def test_two_revisions_stand_side_by_side_and_each_is_read_by_its_own(archive):
    blue, red = messages("c1", "blue"), messages("c1", "red", "and long")
    write(archive, blue)
    write(archive, red)

    assert archive.names("harold") == {("source:c1", 1), ("source:c1", 2)}
    assert archive.read("harold", {"source:c1": 1}) == {"source:c1": blue._replace(revision=1)}
    assert archive.read("harold", {"source:c1": 2}) == {"source:c1": red._replace(revision=2)}
    assert archive.segments("harold", {"source:c1": 1}) == {"source:c1": blue.segment}
    assert archive.segments("harold", {"source:c1": 2}) == {"source:c1": red.segment}


def test_a_mark_whose_row_is_gone_gets_the_next_above_and_never_one_below(archive):
    """A revision that is gone was replaced: what is above came after it, and what is below was over before it."""
    for text in ("one", "two", "three", "four"):
        write(archive, messages("c1", text))
    archive.discard("harold", {("source:c1", 2)})
    archive.discard("harold", {("source:c1", 4)})

    assert archive.read("harold", {"source:c1": 2})["source:c1"].revision == 3
    assert archive.segments("harold", {"source:c1": 2}) == {"source:c1": messages("c1", "three").segment}
    assert archive.read("harold", {"source:c1": 4}) == archive.segments("harold", {"source:c1": 4}) == {}


def test_each_name_is_read_by_its_own_mark(archive):
    write(archive, messages("c1", "blue"), messages("c2", "bag"))
    write(archive, messages("c1", "red"), messages("c2", "case"))
    found = archive.read("harold", {"source:c1": 1, "source:c2": 2})

    assert {name: entry.revision for name, entry in found.items()} == {"source:c1": 1, "source:c2": 2}


def test_many_entries_are_written_and_read_at_once(archive):
    entries = [messages(f"c{n}", f"word{n}", resource=f"r-{n % 3}") for n in range(1_300)]
    write(archive, *entries)
    write(archive, *entries)

    for resource in ("r-0", "r-1", "r-2"):
        own = {entry.name: entry._replace(revision=1) for entry in entries if entry.resource == resource}
        assert archive.read(resource, dict.fromkeys(own, 1)) == own


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


def test_a_head_is_of_the_highest_revision(archive):
    write(archive, messages("c1", "blue"))
    write(archive, messages("c1", "red", "bag"))
    (found,) = archive.heads("harold")

    assert (found.name, found.size, found.revision) == ("source:c1", 2, 2)


# -- searching ----------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "term", ['a"b', "a'b", "a\\b", "a\\'b", "|", "&", "!", "(", ":*", "NOT", "a:b*", "", " ", "\x00"]
)
def test_no_term_is_read_as_a_query(archive, term):
    write(archive, messages("c1", "a blue passport"))

    assert archive.search("harold", [term], []) == set()
    assert archive.search("harold", [term, "passport"], []) == {"source:c1"}


def test_every_term_of_hostile_texts_is_found(archive):
    texts = [text for text in HOSTILE if text.isprintable()]
    entry = messages("c1", *texts)
    write(archive, entry, messages("c2", "passport"))
    terms = Segment(entry.segment).terms()

    assert [term for term in terms if "source:c1" not in archive.search("harold", [term], [])] == []


def test_more_terms_than_a_statement_takes(archive):
    write(archive, messages("c1", "word77"), messages("c2", "passport"))

    assert archive.search("harold", [f"word{n}" for n in range(3_000)], []) == {"source:c1"}


def test_messages_are_found_by_when_they_were_said(archive):
    write(archive, messages("c1", "a", "b", at=AT), messages("c2", "c", at=AT + DAY), generation())

    assert archive.search("harold", [], [(AT + 60_000, AT + 60_001)]) == {"source:c1"}
    assert archive.search("harold", [], [(AT + 60_001, AT + DAY)]) == set()
    assert archive.search("harold", [], [(0, AT), (AT + DAY, AT + DAY + 1)]) == {"source:c2"}
    assert archive.search("harold", ["c"], [(AT, AT + 1)]) == {"source:c1", "source:c2"}


def test_words_of_another_version_are_always_found(archive):
    write(archive, messages("c1", "passport")._replace(segment=b""), messages("c2", "red"), generation())

    assert archive.search("harold", ["zebra"], []) == {"source:c1"}
    assert archive.holding("harold", "nobody", None) == {"source:c1"}


def test_messages_are_found_by_the_id_of_one(archive):
    write(archive, messages("c1", "a", "b"), messages("c2", "a", thread="t2"), messages("c3", thread=""))

    assert archive.holding("harold", "c1-1", None) == archive.holding("harold", "c1-1", "t1") == {"source:c1"}
    assert archive.holding("harold", "c3-0", "t1") == {"source:c3"}
    assert archive.holding("harold", "c1-1", "t2") == archive.holding("bob", "c1-1", None) == set()


def test_messages_are_found_by_what_any_of_their_revisions_says(archive):
    write(archive, messages("c1", "passport", at=AT))
    write(archive, messages("c1", "zebra", "bag", at=AT + DAY))

    for term in ("passport", "zebra"):
        assert archive.search("harold", [term], []) == {"source:c1"}
    for day in (AT, AT + DAY):
        assert archive.search("harold", [], [(day, day + 1)]) == {"source:c1"}
    assert archive.holding("harold", "c1-1", None) == {"source:c1"}
    assert archive.search("harold", ["suitcase"], []) == set()


def test_what_was_discarded_or_removed_is_not_found(archive, sql):
    write(archive, messages("c1", "passport"), messages("c2", "bag"), messages("c1", "bag", resource="bob"))
    write(archive, messages("c1", "zebra"))
    archive.discard("harold", {("source:c1", 1), ("source:c2", 1)})
    archive.remove("bob")

    assert archive.search("harold", ["passport", "bag"], []) == archive.search("bob", ["bag"], []) == set()
    assert archive.search("harold", ["zebra"], []) == {"source:c1"}
    if archive_is_sqlite(archive):
        assert sql("SELECT count(*) FROM om_words") == [(1,)]


def archive_is_sqlite(archive):
    return archive._url.drivername == "sqlite"


# -- removing -----------------------------------------------------------------------------------------------------------


def test_what_is_removed_is_gone_and_the_fence_rises(archive):
    write(archive, messages("c1"), messages("c2"), generation(), messages("c1", resource="bob"))
    write(archive, messages("c1", "changed"))

    assert archive.remove("harold") == 4
    assert archive.names("harold") == set()
    assert archive.remove("harold") == archive.remove("nobody") == 0
    assert archive.fences(["harold", "bob", "nobody"]) == {"harold": 3, "bob": 0, "nobody": 1}
    assert archive.names("bob") == {("source:c1", 1)}


def test_a_fence_rises_alone_and_what_is_there_stays(archive):
    write(archive, messages("c1"))
    before = archive.fences(["harold"])
    archive.fence("harold")
    archive.fence("nobody")

    assert archive.fences(["harold", "nobody"]) == {"harold": 1, "nobody": 1}
    assert archive.write([messages("c1"), messages("c2")], before) == {}
    assert archive.names("harold") == {("source:c1", 1)}


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


def test_of_a_crowd_of_writers_and_removers_nothing_removed_comes_back(archive):
    """Whoever writes under the fence of before a removal writes nothing."""
    rounds, entries = 40, [messages(f"c{n}") for n in range(3)]

    def writes(_):
        fences = archive.fences(["harold"])
        return fences["harold"], archive.write(entries, fences)

    def removes(_):
        archive.remove("harold")

    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit((writes, removes)[n % 2], n) for n in range(rounds)]
        results = [each.result(30) for each in done]
    last = archive.fences(["harold"])["harold"]
    late = [fence for fence, written in (each for each in results if each) if written and fence == last]

    assert last >= rounds // 2
    assert bool(archive.names("harold")) == bool(late)


def test_what_nobody_names_is_discarded_at_its_revision(archive):
    write(archive, messages("c1"), messages("c2"), messages("c3"))
    write(archive, messages("c2", "red"))

    assert archive.discard("harold", {("source:c1", 1), ("source:c2", 1), ("source:c3", 2), ("source:c9", 1)}) == 2
    assert archive.names("harold") == {("source:c2", 2), ("source:c3", 1)}
    assert archive.discard("harold", []) == 0
    assert archive.fences(["harold"]) == {"harold": 2}


@pytest.mark.parametrize("deleted", ["discarded", "removed"])
def test_no_revision_is_given_again(archive, deleted):
    """In a backup of before, what Redis names by then would else be what was deleted."""
    write(archive, messages("c1")), write(archive, messages("c1", "red")), write(archive, messages("c1", "blue"))
    before = archive.names("harold")
    archive.discard("harold", before) if deleted == "discarded" else archive.remove("harold")
    again = write(archive, messages("c1"), messages("c2"))

    assert archive.names("harold") == again.items()
    assert min(again.values()) > max(revision for _, revision in before) == 3


def test_more_rows_are_discarded_than_a_statement_takes(archive):
    write(archive, *(messages(f"c{n}") for n in range(1_100)))

    assert archive.discard("harold", archive.names("harold")) == 1_100


# -- all of it ----------------------------------------------------------------------------------------------------------


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


def test_resources_come_in_the_order_of_their_bytes(archive):
    write(archive, *(messages("c1", resource=name) for name in ("b", "a-b", "B", "a:b", "a")), generation(resource="a"))

    assert archive.resources("", 10) == ["B", "a", "a-b", "a:b", "b"]
    assert archive.resources("a", 2) == ["a-b", "a:b"]


def test_figures_count_all_there_is(archive):
    assert archive.figures()[:3] == (0, 0, 0)

    write(archive, messages("c1", "a", "b"), messages("c2"), generation(), observations(resource="bob"))
    found = archive.figures()

    assert found == Figures(4, 3, 2, found.bytes)
    assert found.bytes > 10_000


# -- processes ----------------------------------------------------------------------------------------------------------


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


def test_one_that_was_closed_opens_again(archive):
    write(archive, messages("c1"))
    archive.close()
    archive.close()

    assert archive.names("harold") == {("source:c1", 1)}


def test_many_threads_at_once(archive):
    with ThreadPoolExecutor(12) as pool:
        done = [pool.submit(write, archive, messages(f"c{n}")) for n in range(60)]
        for each in done:
            each.result(30)

    assert len(archive.names("harold")) == 60


@pytest.mark.parametrize(
    "url",
    [
        "mysql://om:geheim@host/db",
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql://",
        "geheim",
        "",
        "postgresql://om:geheim@host:port/db",
        "sqlite:///a.db?mode=geheim",
    ],
)
def test_an_address_of_no_archive_says_what_is_permitted_and_no_password(url):
    with pytest.raises(SettingsError, match="permitted: sqlite:///path") as refused:
        open_archive(url)

    assert "geheim" not in str(refused.value)
