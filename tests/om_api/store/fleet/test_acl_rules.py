"""Who may what at the store, as rules: for whom they are made, and what no name can do to them."""

from __future__ import annotations

import re

import pytest

from om_api import InvalidInputError
from om_api.domain.api_keys import Role
from om_api.domain.values import ID_PATTERN
from om_api.settings.storage_settings import RedisSettings
from om_api.store.fleet import acl_rules
from om_api.store.memory.keys import Keys

GLOB = "*?[]\\^"


def test_no_id_and_no_prefix_holds_what_a_pattern_or_the_command_would_take_for_something_else():
    (pattern,) = [each.pattern for each in RedisSettings.model_fields["prefix"].metadata if hasattr(each, "pattern")]
    for sign in f"{GLOB} (){{}}\n|/~%":
        assert not ID_PATTERN.fullmatch(sign)
        assert not re.fullmatch(pattern, sign)


@pytest.mark.parametrize("resource", ["", "*", "har*", "a b", "harold:*) (~*", "..", "a/b"])
def test_what_is_no_id_is_no_users_name(resource):
    with pytest.raises(InvalidInputError):
        acl_rules.agent(Keys(), resource, Role.WRITER)


def test_no_two_users_have_one_name():
    """Ids and prefixes may hold colons: it is the slash, which neither may hold, that keeps them apart."""
    known = [("a", "b:c"), ("a:b", "c"), ("a", "workers"), ("a", "writer"), ("a:workers", "x"), ("a", "default")]
    names = [
        acl_rules.agent(Keys(prefix), resource, role).name for prefix, resource in known for role in acl_rules.ROLES
    ]
    names += [acl_rules.workers(Keys(prefix)).name for prefix in ("a", "a:b", "a:workers")]

    assert len(names) == len(set(names))
    assert not {"default", "a", "b"} & set(names)


def test_no_agents_user_is_an_operator():
    with pytest.raises(InvalidInputError, match="reader or writer"):
        acl_rules.agent(Keys(), "harold", Role.OPERATOR)


def test_a_reader_is_granted_no_command_that_writes_and_no_key_to_write():
    rules = acl_rules.agent(Keys(), "harold", Role.READER).rules

    assert not {f"+{name}" for name in acl_rules._WRITE} & set(rules)
    assert [rule for rule in rules if "~" in rule and not rule.startswith(("%R~", "(+evalsha "))] == [rules[-1]]
    assert "%R~cortex:om:spent" in rules[-1]


def test_a_password_is_kept_as_its_hash_and_a_short_one_not_at_all():
    assert acl_rules.kept("a" * 16) == "#0c0beacef8877bbf2416eb00f2b5dc96354e26dd1df5517320459b1236860f8c"
    with pytest.raises(InvalidInputError, match="15 characters; permitted: 16"):
        acl_rules.kept("a" * 15)
    assert acl_rules.kept(acl_rules.new_password()) != acl_rules.kept(acl_rules.new_password())
