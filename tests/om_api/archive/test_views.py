"""The views that docs/archive.md describes: what people ask by SQL of their own, on both kinds of database."""

import pytest
from archived import AT, generation, messages, observations
from pages import ROOT, blocks

PAGE = (ROOT / "docs" / "archive.md").read_text("utf-8")


@pytest.fixture
def filled(archive):
    archive.write([messages("c1", "a blue passport", "I'd say: <b>", thread="t1"), observations(3), generation(4)], {})
    archive.write([observations(5, thread="t2"), generation(6, thread="t2")], {})
    return archive


@pytest.fixture
def changed(filled):
    """Each of them again with other content, fewer members of the messages; the old rows stay."""
    filled.write([messages("c1", "a red bag"), _other(observations(3)), _other(generation(4))], {})
    assert {("source:c1", 1), ("source:c1", 2)} <= filled.names("harold")
    return filled


def _other(entry):
    return entry._replace(members=tuple((member.replace(b"blue", b"red"), score) for member, score in entry.members))


def test_a_view_shows_the_highest_revision_of_a_name_only(changed, sql):
    for asked, shown in (
        ("SELECT place, content FROM om_messages", [(0, "a red bag")]),
        ("SELECT text FROM om_observations WHERE memory = ''", [("* 🔴 (09:15) likes red",)]),
        ("SELECT text FROM om_generations WHERE memory = ''", [("likes red",)]),
        ("SELECT count(*) FROM om_members", [(5,)]),
    ):
        assert sql(asked) == shown, asked


def test_messages_observations_and_generations_as_rows(filled, sql):
    text = "* 🔴 (09:15) likes blue"
    assert sql(
        "SELECT resource, thread, observation, place, at, id, role, content FROM om_messages ORDER BY place"
    ) == [
        ("harold", "t1", "c1", 0, AT, "c1-0", "user", "a blue passport"),
        ("harold", "t1", "c1", 1, AT + 60_000, "c1-1", "user", "I'd say: <b>"),
    ]
    columns = "memory, generation, seq, id, thread, priority, text, from_at, to_at, created_at"
    assert sql(f"SELECT {columns} FROM om_observations ORDER BY generation") == [
        ("", 3, 4.0, "o1", "t1", 3, text, AT, AT + 1, AT),
        ("t2", 5, 4.0, "o1", "t1", 3, text, AT, AT + 1, AT),
    ]
    assert sql("SELECT resource, memory, n, origin, text, created_at FROM om_generations ORDER BY n") == [
        ("harold", "", 4, "reflection", "likes blue", AT),
        ("harold", "t2", 6, "reflection", "likes blue", AT),
    ]


def test_a_member_that_cannot_be_read_hides_no_other(archive, sql):
    members = (
        (b"\xff", 1.0),
        (b'{"id":"m1","role":"user","content":"a \\u0000"}', 2.0),
        (b'{"id":"m2","role":"user","content":"\\ud83d\\ude00"}', 3.0),
        (b'{"id":"m3","role":"user","content":"\\ud83d"}', 4.0),
        (b"[1]", 5.0),
        (b"null", 5.5),
        (b'{"id":"m4"}', 6.0),
    )
    archive.write([messages()._replace(members=members)], {})
    found = dict(sql("SELECT place, id FROM om_messages"))

    assert (found[2], found[6]) == ("m2", "m4")
    assert found.keys() == {1, 2, 6}


def test_the_statements_of_the_page_run(filled, archive, sql):
    statements = blocks(PAGE, "sql")
    assert statements
    for statement in statements:
        other = {"-- SQLite": "postgresql", "-- Postgres": "sqlite"}.get(statement.partition("\n")[0])
        for each in [] if other == archive._url.drivername else statement.split(";\n"):
            if each.strip():
                sql(each)
