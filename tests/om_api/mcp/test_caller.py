"""Who asks: a key that is bound to one resource means that one, and no other is answered of."""

import pytest

from om_api.domain.api_keys import ApiKey, Role
from om_api.domain.errors import InvalidInputError
from om_api.mcp.caller import caller_of, local_caller


def key(*resources):
    return ApiKey(id="k", role=Role.READER, resources=resources, hash="", created_at=0)


@pytest.mark.parametrize(
    ("resources", "named", "meant"),
    [
        (("harold",), "", "harold"),
        (("harold", "albert"), "", ""),
        (("*",), "", ""),
        (("*",), "harold", "harold"),
        (("harold", "albert"), "albert", "albert"),
    ],
)
def test_whose_memory_is_meant(resources, named, meant):
    assert caller_of(key(*resources), named).resource == meant


def test_what_is_said_already_are_arguments():
    assert caller_of(key("harold"), "", "t-1").said == {"resource_id": "harold", "thread_id": "t-1"}
    assert caller_of(key("*")).said == {}


def test_a_key_is_asked_for_its_own_resources_alone():
    caller_of(key("harold", "albert")).check("albert")
    with pytest.raises(InvalidInputError, match="bound to harold, albert, not to berta"):
        caller_of(key("harold", "albert")).check("berta")


def test_who_starts_a_server_may_do_everything_unless_it_says_less():
    local, one = local_caller(), local_caller("harold", role=Role.READER)

    local.check("berta")
    assert local.key.role is Role.OPERATOR
    assert one.key.role is Role.READER
    with pytest.raises(InvalidInputError, match="not to berta"):
        one.check("berta")


@pytest.mark.parametrize("place", [("a b", ""), ("", "..")])
def test_what_is_no_id_is_refused_before_anybody_is_asked(place):
    with pytest.raises(InvalidInputError, match="is not an id"):
        caller_of(key("*"), *place)


def test_who_started_a_server_of_its_own_is_shown_what_its_settings_compose():
    mine, bound = local_caller("harold", user="anna@ops"), local_caller("harold")

    assert (mine.may_read("team"), bound.may_read("team"), bound.may_read("harold")) == (True, False, True)
