"""Names of keys: those of a resource stand in one slot, no two of them are equal, and what is written can be read back."""

from itertools import combinations

from acl_house import every_key
from redis.crc import key_slot

from om_api.store.memory.keys import Keys

KEYS = Keys("p:om")


def test_all_keys_of_a_resource_are_in_one_slot():
    own = every_key(KEYS, "harold")
    own = {name for name in own if name.startswith("p:om:{harold}")}

    assert len(own) > 15
    assert {key_slot(name.encode()) for name in own} == {key_slot(b"harold")}


def test_no_two_resources_have_a_key_in_common_however_they_are_called():
    """Ids may hold colons, and what other keys are made of."""
    names = ["a", "a:b", "a:messages:t1", "messages", "tokens"]
    owned = [{key for key in every_key(KEYS, name) if f"{{{name}}}" in key} for name in names]

    assert all(len(one) > 15 for one in owned)
    assert [one & other for one, other in combinations(owned, 2) if one & other] == []
