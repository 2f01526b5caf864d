"""Who asks: a key that is bound to one resource means that one, and no other is answered of."""

import pytest

from om_api.domain.api_keys import ApiKey, Role
from om_api.domain.errors import InvalidInputError
from om_api.mcp.caller import caller_of, local_caller


def key(*resources):
    return ApiKey(id="k", role=Role.READER, resources=resources, hash="", created_at=0)


def test_a_key_means_its_one_resource_and_is_asked_for_its_own_alone():
    two = ("harold", "albert")
    for resources, named, meant in [
        (("harold",), "", "harold"), (two, "", ""), (("*",), "", ""), (two, "albert", "albert"),
    ]:  # fmt: skip
        assert caller_of(key(*resources), named).resource == meant, (resources, named)
    with pytest.raises(InvalidInputError, match="bound to harold, albert, not to berta"):
        caller_of(key(*two)).check("berta")
    for place in (("a b", ""), ("", "..")):
        with pytest.raises(InvalidInputError, match="is not an id"):
            caller_of(key("*"), *place)


def test_who_starts_a_server_may_do_everything_unless_it_says_less():
    local, one = local_caller(user="anna@ops"), local_caller("harold", role=Role.READER)

    local.check("berta")
    assert (local.key.role, one.key.role) == (Role.OPERATOR, Role.READER)
    assert [each.may_read("team") for each in (local_caller("harold", user="anna@ops"), local_caller("harold"))] == [
        True,
        False,
    ]
    with pytest.raises(InvalidInputError, match="not to berta"):
        one.check("berta")
