"""The security guide claims nothing that no test holds, and says of Redis users what is granted."""

import re
from typing import get_args

import pytest
from pages import ROOT

from om_api import load_settings
from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import DID, LONGEST, AuditEntry, Ending, Via
from om_api.store.fleet import acl
from om_api.store.fleet.audit_stream import REFUSALS
from om_api.store.memory.keys import Keys

PAGE = (ROOT / "docs" / "security.md").read_text()
NAMED = set(re.findall(r"`(test_\w+)`", PAGE))


def test_every_claim_names_a_test_that_there_is():
    files = [*ROOT.glob("tests/**/test_*.py")]
    known = {name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)}

    assert NAMED - known == set()
    assert len(NAMED) > 40


@pytest.mark.parametrize("section", re.split(r"^## ", PAGE, flags=re.MULTILINE)[2:-1])
def test_every_part_that_claims_something_has_a_test_behind_it(section):
    assert re.search(r"`test_\w+`", section), section.splitlines()[0]


def test_what_no_agent_may_is_not_granted():
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `KEYS`")]
    refused = {word.lower().replace(" ", "|") for word in re.findall(r"`([A-Z ]+)`", row)}
    for role in acl.ROLES:
        granted = {word.strip("(+") for word in acl.agent(Keys(), "harold", role).rules}
        assert not granted & refused


def test_the_trail_is_told_as_it_is():
    trail = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (section,) = [part for part in trail if part.startswith("The audit trail")]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE))
    named = {
        name for row in re.findall(r"^\| (`[^|]+`) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    kept = load_settings(environ={}).memory.audit

    assert {verb: rows[verb] for verb in DID} == DID
    assert named == {*DID, *AuditEntry.__struct_fields__}
    assert f"({kept.keep:,})" in section
    assert f"({kept.retention // 86_400:g} days)" in section
    assert f"{REFUSALS} an hour" in section
    assert f"cut at {LONGEST} characters" in section
    assert all(f"`{word}`" in section for word in (*get_args(Via), *get_args(Ending)))


def test_the_numbers_are_those_of_the_code():
    assert f"less than {acl.LEAST_PASSWORD} characters" in PAGE
    assert acl.agent(Keys(), "harold", Role.WRITER).name in PAGE
    assert load_settings(environ={}).memory.ttl_days
