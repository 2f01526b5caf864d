"""Which entries are wanted."""

import pytest

from om_api.domain.api_keys import ApiKey, Role
from om_api.domain.audit.audit_entry import LONGEST, AuditEntry, only, who_of
from om_api.domain.audit.audit_query import AuditQuery
from om_api.domain.errors import InvalidInputError

ENTRY = AuditEntry(did="paused", via="cli", who="anna@ops", label="shop", resource="harold", at=1_000)


def test_a_query_takes_entries_by_who_whose_what_and_when():
    for asked, taken in [
        ((), True), (("anna@ops",), True), (("shop",), True), (("anna",), False), (("", "harold"), True),
        (("", ["ada", "harold"]), True), (("", "ada"), False), (("", (), "paused"), True),
        (("", (), ["resumed", "restored"]), False), (("", (), (), 1_000), True), (("", (), (), 1_001), False),
        (("shop", "harold", "paused", 1), True), (("shop", "harold", "resumed", 1), False),
    ]:  # fmt: skip
        assert (
            AuditQuery.of(*(*asked, "", "", "", 0)[: len(asked)], *("", (), (), 0)[len(asked) :]).takes(ENTRY) is taken
        )
    for asked in (("", "a b", ()), ("", (), "stole"), ("", (), ["paused", "stole"])):
        with pytest.raises(InvalidInputError):
            AuditQuery.of(*asked, 0)
    with pytest.raises(InvalidInputError):
        AuditQuery.of("", (), (), 2**70)


def entry(**said):
    return AuditEntry(**{"did": "restored", "via": "http", "who": "3f1c20a9be77", **said})


def test_an_entry_is_checked_and_names_who_did_it_to_whom():
    for name in ("who", "label", "resource", "thread", "of", "ended"):
        hostile = entry(**{name: "a\nb\r\x1b[2J\u202e\u2028\ud800" + "x" * 1_000}).checked()
        kept = getattr(hostile, name)
        assert kept.isprintable(), name
        assert len(kept) == LONGEST, name
        assert kept.startswith(r"a\nb\r\u001b[2J\u202e\u2028\ud800xxx"), name
    with pytest.raises(InvalidInputError, match="'stole': use any of read, forced"):
        entry(did="stole").checked()
    made = {"role": Role.OPERATOR, "resources": ("*",), "hash": "", "created_at": 0}
    assert who_of(ApiKey(id="", **made)) == ("loopback", "")
    assert who_of(ApiKey(id="3f1c20a9be77", label="shop", **made)) == ("3f1c20a9be77", "shop")
    for resources, name in (((), ""), (("harold",), "harold"), (("*",), ""), (("harold", "ada"), "")):
        assert only(resources) == name, (resources, name)
