"""Which entries are wanted."""

import pytest

from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.audit.audit_query import AuditQuery
from om_api.domain.errors import InvalidInputError

ENTRY = AuditEntry(did="paused", via="cli", who="anna@ops", label="shop", resource="harold", at=1_000)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ((), True),
        (("anna@ops",), True),
        (("shop",), True),
        (("anna",), False),
        (("", "harold"), True),
        (("", ["ada", "harold"]), True),
        (("", "ada"), False),
        (("", (), "paused"), True),
        (("", (), ["resumed", "restored"]), False),
        (("", (), (), 1_000), True),
        (("", (), (), 1_001), False),
        (("shop", "harold", "paused", 1), True),
        (("shop", "harold", "resumed", 1), False),
    ],
)
def test_an_entry_is_taken_by_who_whose_what_and_when(asked, taken):
    assert AuditQuery.of(*(*asked, "", "", "", 0)[: len(asked)], *("", (), (), 0)[len(asked) :]).takes(ENTRY) is taken


@pytest.mark.parametrize("asked", [("", "a b", ()), ("", (), "stole"), ("", (), ["paused", "stole"])])
def test_what_is_no_id_and_no_verb_is_refused(asked):
    with pytest.raises(InvalidInputError):
        AuditQuery.of(*asked, 0)


def test_a_time_beyond_all_ids_is_refused():
    with pytest.raises(InvalidInputError):
        AuditQuery.of("", (), (), 2**70)
