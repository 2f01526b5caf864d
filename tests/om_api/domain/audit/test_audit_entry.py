"""What an entry of the audit trail may be: verbs of a fixed table, short names, and no character that steers whoever reads it."""

import pytest

from om_api.domain.api_keys import ApiKey, Role
from om_api.domain.audit.audit_entry import LONGEST, AuditEntry, only, plain, who_of
from om_api.domain.errors import InvalidInputError


def entry(**said):
    return AuditEntry(**{"did": "restored", "via": "http", "who": "3f1c20a9be77", **said})


@pytest.mark.parametrize("name", ["who", "label", "resource", "thread", "of", "ended"])
def test_no_name_is_longer_than_a_line_or_breaks_it(name):
    hostile = entry(**{name: "a\nb\r\x1b[2J\u202e\u2028\ud800" + "x" * 1_000}).checked()
    kept = getattr(hostile, name)

    assert kept.isprintable()
    assert len(kept) == LONGEST
    assert kept.startswith(r"a\nb\r\u001b[2J\u202e\u2028\ud800xxx")


def test_what_is_checked_twice_is_as_it_was():
    once = entry(of="\n").checked()

    assert once.checked() == once


def test_what_is_no_verb_is_refused_and_the_refusal_names_all_verbs():
    with pytest.raises(InvalidInputError, match="'stole': use any of read, forced"):
        entry(did="stole").checked()


def test_plain_leaves_every_language_as_it_is():
    assert plain("Zoë пишет 你好 ✓") == "Zoë пишет 你好 ✓"


def test_whoever_needs_no_key_is_told_of_as_loopback():
    made = {"role": Role.OPERATOR, "resources": ("*",), "hash": "", "created_at": 0}

    assert who_of(ApiKey(id="", **made)) == ("loopback", "")
    assert who_of(ApiKey(id="3f1c20a9be77", label="shop", **made)) == ("3f1c20a9be77", "shop")


@pytest.mark.parametrize(
    ("resources", "name"), [((), ""), (("harold",), "harold"), (("*",), ""), (("harold", "ada"), "")]
)
def test_what_is_about_several_resources_is_told_to_none_of_them(resources, name):
    assert only(resources) == name
