"""What a key is by its name, and a resource at one instant: everything that is there or named by what is there."""

import pytest
from acl_house import every_key
from scene import HAROLD, filled

from om_api.domain.values import Scope
from om_api.store.audit import resource_dump
from om_api.store.audit.resource_dump import named
from om_api.store.memory.keys import Keys, queued


def test_every_name_that_we_give_is_explained():
    keys = Keys("p:om")
    names = every_key(keys, "harold")

    assert [name for name in sorted(names) if named(keys, name) is None] == []
    assert {named(keys, name).resource for name in names} == {None, "harold"}
    assert named(keys, queued(keys.due_observe)).kind.name == "queued"


def test_a_name_says_whose_key_it_is_and_what_of():
    keys = Keys("p:om")
    of = keys.of("harold")
    told = [
        named(keys, key) for key in (of.chunk("c1"), of.reflected(Scope("harold", "t1"), 7), keys.spent("2026-11-21"))
    ]

    assert [(what.kind.name, what.resource, what.id, what.thread) for what in told] == [
        ("chunk", "harold", "c1", None),
        ("reflected", "harold", "7", "t1"),
        ("spent", None, "", None),
    ]


@pytest.mark.parametrize(
    "rest", ["other", "{harold}:other", "{a/b}:tokens", "{harold}:chunk:", "due:sleep", "{harold}"]
)
def test_a_name_that_we_do_not_give_is_none_of_ours(rest):
    assert named(Keys("p:om"), f"p:om:{rest}") is None


def test_every_key_of_a_filled_memory_is_of_the_type_and_the_lifetime_that_its_name_says(store):
    filled(store)
    for key in sorted(store.client.scan_iter(f"{store.keys.prefix}*")):
        kind = named(store.keys, key.decode()).kind

        assert kind.type in {"any", store.client.type(key).decode()}, key
        assert kind.expires in {None, store.client.ttl(key) >= 0}, key


def test_what_is_named_by_what_is_read_is_read_too(store):
    filled(store)
    names = [key.decode() for key in store.client.scan_iter(f"{store.keys.prefix}*")]
    whole, found = (store.run(resource_dump.read(store.keys, "harold", known)) for known in (names, []))

    assert found.settled
    same = {"now": 0, "threads": {}, "sources": {}, "segments": {}}
    assert found._replace(**same) == whole._replace(**same, of=found.of)
    assert found.segments.keys() == whole.segments.keys() == {"c4", "o1", "o2", "o3"}
    assert sorted(found.chunks) == ["c4", "c5"]
    assert sorted(found.source) == ["o1", "o2", "o3"]
    assert list(found.reflected) == [(1, None)]
    assert found.messages == 6 + 5 + 3  # behind observations, in chunks, raw


def test_what_is_to_be_left_out_is_not_read(store):
    filled(store)
    of = store.keys.of("harold")
    found = store.run(resource_dump.read(store.keys, "harold", [], without=[of.sealed("c5"), of.chunks(HAROLD)]))

    assert found.settled
    assert (found.parts[None].chunks, found.chunks, found.sealed) == ([], {}, {})
