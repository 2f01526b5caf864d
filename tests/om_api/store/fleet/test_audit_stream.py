"""The audit trail in the store: what is appended, what it is bounded by, and what is read in which order."""

import pytest

from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.audit.audit_query import AuditQuery
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.store.fleet import audit_stream
from om_api.store.fleet.audit_stream import BEGINNING, REFUSALS, AuditLimits

LIMITS = AuditLimits(100_000, 400 * 86_400)
ALL = AuditQuery()
DAY_MS = 86_400_000


def add(store, limits=LIMITS, **said):
    entry = AuditEntry(**{"did": "paused", "via": "http", "who": "3f1c20a9be77", "resource": "harold", **said})
    return store.run(audit_stream.add(store.keys, entry, limits))


def page(store, before="", query=ALL, count=1_000):
    return store.run(audit_stream.older(store.keys, before, query, count))


def named(found):
    return [entry.of for entry in found.entries]


def test_an_entry_is_read_as_it_was_told_with_its_id_and_the_servers_time(store):
    with pytest.raises(InvalidInputError):
        add(store, did="stole")
    assert not store.client.exists(store.keys.audit)
    said = {"label": "shop", "thread": "t-1", "of": "3", "ended": "restored", "status": 200}
    name = add(store, AuditLimits(100, 3_600), did="restored", **said)

    (read,) = page(store).entries
    assert (read.id, read.at) == (name, int(name.partition("-")[0]))
    assert {**said, "outcome": "done"} == {field: getattr(read, field) for field in (*said, "outcome")}
    assert (read.did, read.via, read.who, read.resource) == ("restored", "http", "3f1c20a9be77", "harold")
    assert 3_500 < store.client.ttl(store.keys.audit) <= 3_600


def test_pages_come_newest_first_and_end(store):
    for n in range(5):
        add(store, of=str(n))
    first = page(store, count=2)
    second = page(store, first.before, count=2)
    last = page(store, second.before, count=2)

    assert [named(first), named(second), named(last)] == [["4", "3"], ["2", "1"], ["0"]]
    assert last.before == ""
    assert first.after == first.entries[0].id


def test_what_is_older_than_the_retention_or_more_than_the_limit_goes_with_the_next_entry(store):
    now = int(add(store).partition("-")[0])
    store.client.delete(store.keys.audit)
    for days in (402, 401, 399, 1):
        at = f"{now - days * DAY_MS}-0"
        store.client.xadd(store.keys.audit, {"did": "paused", "via": "cli", "who": "w", "of": str(days)}, id=at)
    add(store, of="now")

    assert named(page(store)) == ["now", "1", "399"]
    for n in range(450):
        add(store, AuditLimits(100, LIMITS.retention_s), of=str(n))
    left = named(page(store))
    assert (100 <= len(left) < 350, left[0]) == (True, "449")


def test_whoever_is_refused_for_ever_hides_nobodys_deeds(store):
    add(store, did="erased", of="a deed")
    told = [add(store, did="refused", outcome="refused", of=str(n)) for n in range(REFUSALS + 20)]
    another = add(store, did="refused", outcome="refused", who="another")

    assert [bool(name) for name in told] == [True] * REFUSALS + [False] * 20
    assert another
    assert len(page(store).entries) == REFUSALS + 2


def test_an_entry_of_another_hand_hides_no_other_and_is_read_as_plain_text(store):
    add(store, of="first")
    for entry in ({b"\xff": b"\xff"}, {"did": "stole", "via": "http"}, {"did": "paused", "via": "smoke"}):
        store.client.xadd(store.keys.audit, {"who": "w", **entry})
    add(store, of="last")
    assert named(page(store)) == ["last", "first"]
    store.client.xadd(store.keys.audit, {"did": "paused", "via": "http", "who": "w\nroot\x1b[2J", "of": "x" * 9_999})
    read, *_ = page(store).entries
    assert read.who == r"w\nroot\u001b[2J"
    assert len(read.of) == 200


def test_what_comes_behind_an_id_comes_oldest_first(store):
    names = [add(store, of=str(n), resource=name) for n, name in enumerate(("harold", "ada", "harold"))]
    found = store.run(audit_stream.newer(store.keys, BEGINNING, AuditQuery("", ("harold",))))
    rest = store.run(audit_stream.newer(store.keys, names[1], ALL))

    assert (named(found), found.after) == (["0", "2"], names[2])
    assert named(rest) == ["2"]
    assert store.run(audit_stream.newer(store.keys, names[2], ALL)).after == names[2]


def test_an_entry_whose_reply_is_lost_is_not_added_twice(store):
    """Nobody knows whether it is there: it is said, and never sent again."""
    steps = audit_stream.add(store.keys, AuditEntry(did="paused", via="http", who="w"), LIMITS)
    assert next(steps).once is True
    with pytest.raises(StoreError, match="lost"):
        steps.throw(StoreError("the reply was lost", stored=None))
