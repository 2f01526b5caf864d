"""The audit trail over HTTP: who sees whose, page by page."""

import pytest
from refusals import problem

from om_api.domain.audit.audit_entry import AuditEntry

AUDIT = "/v1/audit"


@pytest.fixture
def add(world):
    def tell(*verbs, **said):
        for verb in verbs:
            entry = {"via": "cli", "who": "anna@ops", "resource": "harold", **said}
            world.om.add_audit(AuditEntry(did=verb, **entry))

    return tell


def test_pages_come_newest_first_and_end(ask, add, walk):
    add("paused", "resumed", "cleared", "imported", "restored")
    first = ask("GET", AUDIT, params={"limit": 2}).json()

    assert [each["did"] for each in first["items"]] == ["restored", "imported"]
    assert [each["did"] for each in walk(AUDIT, limit=2)] == ["restored", "imported", "cleared", "resumed", "paused"]
    assert set(first["items"][0]) == {"id", "at", "did", "via", "who", "resource"}


@pytest.mark.parametrize(
    ("bound", "query", "seen"),
    [
        (["harold"], {}, ["harold"]),
        (["ada", "harold"], {}, ["ada", "harold"]),
        (["*"], {}, ["", "ada", "albert", "harold"]),
        (["*"], {"resource": ["albert", "ada"]}, ["ada", "albert"]),
        (["ada", "harold"], {"resource": "ada"}, ["ada"]),
    ],
)
def test_a_key_sees_the_entries_of_its_resources_and_of_nobody_else(using, add, bound, query, seen):
    for resource in ("harold", "albert", "ada", ""):
        add("cleared", resource=resource)
    found = using("operator", *bound)("GET", AUDIT, params=query).json()

    assert [each.get("resource", "") for each in found["items"]] == seen


def test_a_key_is_refused_the_entries_of_others(using, ask):
    problem(ask("GET", AUDIT, params={"resource": "albert"}), 403)
    problem(using("writer", "harold")("GET", AUDIT), 403)


def test_entries_are_picked_by_who_and_what_and_when(ask, add):
    add("paused", "resumed")
    add("paused", who="3f1c20a9be77", label="shop")
    picked = [
        ask("GET", AUDIT, params=query).json()["items"]
        for query in (
            {"who": "shop"},
            {"did": ["resumed"]},
            {"since": 2**50},
            {"who": "3f1c20a9be77", "did": "resumed"},
        )
    ]

    assert [len(each) for each in picked] == [1, 1, 0, 0]


@pytest.mark.parametrize("query", [{"did": "stole"}, {"since": -1}, {"since": 2**80}, {"cursor": "eA"}, {"limit": 0}])
def test_what_cannot_be_asked_is_refused(ask, query):
    problem(ask("GET", AUDIT, params=query), 422)
